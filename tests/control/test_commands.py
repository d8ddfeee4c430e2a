"""The commands, through the socket, over a real store."""

import importlib
import inspect
import json
from typing import Any

import pytest

from bridge.app import App
from bridge.control import protocol
from bridge.control.commands import COMMANDS
from bridge.control.protocol import ControlError
from bridge.post.acting import Arrival
from mailstore import accounts, mailboxes, messages
from mailstore.model import Role, Uid
from tests.control.conftest import Ask

MAIL = b"To: assistant@postroom.internal\r\nSubject: Hello\r\nMessage-ID: <one@x>\r\n\r\nPlease list my mail.\r\n"


async def refused(asked: Any) -> ControlError:
    with pytest.raises(ControlError) as caught:
        await asked
    return caught.value


def test_every_entry_names_a_function_that_fits() -> None:
    for name, entry in COMMANDS.items():
        function = getattr(importlib.import_module(f"bridge.control.{entry.module}"), entry.function)
        assert inspect.iscoroutinefunction(function), name
        assert len(inspect.signature(function).parameters) == 2 + entry.takes_payload, name
        assert function.__doc__, name


async def test_an_account_is_made_with_its_mailboxes_and_a_password_that_opens(app: App, ask: Ask) -> None:
    made = await ask("account.add", name="ada")
    assert made["address"] == "ada@postroom.internal"
    identity = await app.auth.check("ada", made["password"], peer="127.0.0.1")
    assert identity is not None
    assert (identity.address, identity.device) == ("ada@postroom.internal", "first")
    names = app.store.read(lambda tx: [box.name for box in mailboxes.all(tx, identity.account)])
    assert {"INBOX", "Action", "Activity", "Agents/Assistant"} <= set(names)
    listed = await ask("accounts")
    assert listed == {"accounts": [{"name": "ada", "address": "ada@postroom.internal", "passwords": 1}]}


async def test_a_given_password_is_never_told_back(app: App, ask: Ask) -> None:
    made = await ask("account.add", name="ada", password="correct horse")
    assert "password" not in made
    assert await app.auth.check("ada@postroom.internal", "correct horse", peer="127.0.0.1") is not None


@pytest.mark.parametrize(
    "name", ["", "a b", "ä", "a@b", "-a", "a/b", "x" * 65, "action", "help", "assistant", "postmaster"]
)
async def test_names_that_cannot_be_accounts_are_refused(ask: Ask, name: str) -> None:
    error = await refused(ask("account.add", name=name))
    assert error.kind in (protocol.BAD_REQUEST, protocol.REFUSED)
    assert error.fix
    assert (await ask("accounts"))["accounts"] == []


async def test_a_bad_password_leaves_no_account_behind(ask: Ask) -> None:
    assert (await refused(ask("account.add", name="ada", password="x" * 5000))).kind == protocol.REFUSED
    assert (await refused(ask("account.add", name="ada", label="\x07"))).kind == protocol.REFUSED
    assert (await ask("accounts"))["accounts"] == []


async def test_a_second_account_of_the_name_is_refused_unless_it_may_be_there(app: App, ask: Ask) -> None:
    await ask("account.add", name="ada", password="one")
    assert (await refused(ask("account.add", name="Ada", password="two"))).kind == protocol.REFUSED
    await ask("account.add", name="ada", password="three", ensure=True)
    assert await app.auth.check("ada", "one", peer="127.0.0.1") is None
    assert await app.auth.check("ada", "three", peer="127.0.0.1") is not None
    assert len((await ask("accounts"))["accounts"]) == 1


async def test_an_account_goes_only_when_its_name_is_repeated(app: App, ask: Ask) -> None:
    await ask("account.add", name="ada", password="one")
    await ask("account.add", name="bob", password="two")
    assert (await refused(ask("account.remove", name="ada", confirm="bob"))).kind == protocol.REFUSED
    assert (await ask("account.remove", name="ada", confirm="ada"))["name"] == "ada"
    assert [each["name"] for each in (await ask("accounts"))["accounts"]] == ["bob"]
    assert await app.auth.check("ada", "one", peer="127.0.0.1") is None
    assert await app.auth.check("bob", "two", peer="127.0.0.1") is not None
    assert (await refused(ask("account.remove", name="ada", confirm="ada"))).kind == protocol.NOT_FOUND


async def test_with_an_account_its_work_goes_too(app: App, ask: Ask) -> None:
    await ask("account.add", name="ada", password="one")
    await ask("account.add", name="bob", password="two")
    await ask("send", MAIL, account="ada", to=["assistant@postroom.internal"])
    await ask("send", MAIL.replace(b"one@x", b"two@x"), account="bob", to=["assistant@postroom.internal"])
    for row in app.store.read(lambda tx: tx.all("bridge.arrivals.queued", limit=10)):
        recipients = tuple(json.loads(row["recipients"]))
        arrival = (row["account"], row["email"], False, recipients, row["key"], row["via"], row["at"])
        await app.intake.act(Arrival(row["id"], *arrival))
    assert (await ask("status"))["runs"] == {"queued": 2}
    await ask("account.remove", name="ada", confirm="ada")
    assert (await ask("status"))["runs"] == {"queued": 1}
    assert await ask("check") == {"faults": []}


async def test_passwords_of_devices(app: App, ask: Ask) -> None:
    await ask("account.add", name="ada", password="one")
    phone = await ask("password.add", label="phone")
    assert (await refused(ask("password.add", label="phone"))).kind == protocol.REFUSED
    again = await ask("password.add", label="phone", replace=True)
    assert await app.auth.check("ada", phone["password"], peer="127.0.0.1") is None
    assert await app.auth.check("ada", again["password"], peer="127.0.0.1") is not None
    listed = (await ask("passwords"))["passwords"]
    assert [(each["label"], each["generated"]) for each in listed] == [("first", False), ("phone", True)]
    assert again["password"] not in str(listed)
    await ask("password.revoke", label="phone")
    assert await app.auth.check("ada", again["password"], peer="127.0.0.1") is None
    assert (await refused(ask("password.revoke", label="phone"))).kind == protocol.NOT_FOUND


async def test_with_several_accounts_one_has_to_be_named(ask: Ask) -> None:
    assert (await refused(ask("inbox"))).kind == protocol.NOT_FOUND
    await ask("account.add", name="ada", password="one")
    assert (await ask("inbox"))["account"] == "ada@postroom.internal"
    await ask("account.add", name="bob", password="two")
    assert "several accounts" in (await refused(ask("inbox"))).message
    assert (await ask("inbox", account="bob@postroom.internal"))["account"] == "bob@postroom.internal"
    await ask("account.add", name="you", password="three")
    assert (await ask("inbox"))["account"] == "you@postroom.internal"


async def test_a_sent_mail_is_kept_and_filed_like_a_submitted_one(app: App, ask: Ask) -> None:
    await ask("account.add", name="ada", password="one")
    told = await ask("send", MAIL, to=["assistant@postroom.internal"])
    again = await ask("send", MAIL, to=["assistant@postroom.internal"])
    assert told["reference"] == again["reference"]

    def filed(tx: Any) -> tuple[int, bytes, int]:
        account = accounts.all(tx)[0].id
        sent = mailboxes.by_role(tx, account, Role.SENT)
        row = messages.fetch(tx, sent, [Uid(1)], header=True)[0]
        return mailboxes.status(tx, sent).messages, row.header or b"", tx.value("bridge.arrivals.waiting")

    count, header, waiting = app.store.read(filed)
    assert (count, waiting) == (1, 1)
    assert b"From: ada@postroom.internal\r\n" in header


@pytest.mark.parametrize("to", ["nobody@postroom.internal", "maya@example.org"])
async def test_a_recipient_that_smtp_would_refuse_is_refused_here(ask: Ask, to: str) -> None:
    await ask("account.add", name="ada", password="one")
    error = await refused(ask("send", MAIL, to=[to]))
    assert error.kind == protocol.REFUSED
    assert to in error.message


async def test_an_empty_mail_and_a_mail_to_nobody_are_refused(ask: Ask) -> None:
    await ask("account.add", name="ada", password="one")
    assert (await refused(ask("send", MAIL, to=[]))).kind == protocol.BAD_REQUEST
    assert (await refused(ask("send", b"", to=["assistant@postroom.internal"]))).kind == protocol.BAD_REQUEST


async def test_the_inbox_lists_mail_newest_first_and_unread(ask: Ask) -> None:
    await ask("account.add", name="ada", password="one")
    for number in (1, 2, 3):
        mail = f"To: ada@postroom.internal\r\nSubject: =?utf-8?q?n=C3=BAmero_{number}?=\r\n\r\nx\r\n".encode()
        await ask("send", mail, to=["ada@postroom.internal"])
    (box,) = (await ask("inbox", mailboxes=["INBOX"], count=2))["mailboxes"]
    assert (box["messages"], box["unseen"]) == (3, 3)
    assert [each["subject"] for each in box["mails"]] == ["número 3", "número 2"]
    assert [each["seen"] for each in box["mails"]] == [False, False]
    assert (await refused(ask("inbox", mailboxes=["Nowhere"]))).kind == protocol.REFUSED


async def test_the_store_is_checked(ask: Ask) -> None:
    assert await ask("check") == {"faults": []}


async def test_a_code_of_nobody_names_no_request(ask: Ask) -> None:
    await ask("account.add", name="ada", password="one")
    error = await refused(ask("request", code="[a-7f3k]"))
    assert (error.kind, "[A-7F3K]" in error.message) == (protocol.NOT_FOUND, True)
    decided = await ask("decide", id="none", revision=1, verdict="approve")
    assert decided["outcome"] == "refused"
    assert (await refused(ask("decide", id="none", revision=1, verdict="perhaps"))).kind == protocol.BAD_REQUEST
