"""Deciding from outside, end to end: a request leaves by the relay, a signed answer comes back by real IMAP."""

import email
import email.policy
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from bridge.app import App
from bridge.post.identity import Proof, Terms, prove
from bridge.signing import dns_record
from config.paths import open_folder
from config.settings import Listen, Settings
from mailstore import accounts, mailboxes, messages
from mailstore.model import Role
from tests.post.desk import AGENT, NOTES
from tests.post.outside import PASSWORD, REAL, House, house, key_of, outside_of, reply_to

SEND = "Summarise the attached notes and send the summary to maya@example.org"


async def asked(at: House) -> email.message.EmailMessage:
    """A request that went out to the real address."""
    await at.person.write(AGENT, "Notes from Tuesday", SEND, files={"notes.txt": NOTES})
    return await at.letter()


@asynccontextmanager
async def provider(home: Path) -> AsyncIterator[App]:
    """The user's mail provider: another Postroom, of which only IMAP is used."""
    listen = Listen(hosts=("127.0.0.1",), imap=0, imaps=0, smtp=0, smtps=0, web=0)
    settings = replace(Settings(home), listen=listen, user="ada", domain="example.com", require_tls=False)
    app = await App.open(settings, open_folder(home))
    try:
        made = await app.store.write(lambda tx: accounts.create(tx, "ada", REAL, ()))
        await app.auth.add_given(made.id, "watch", PASSWORD)
        await app.start()
        yield app
    finally:
        await app.close()


async def delivered(app: App, raw: bytes) -> None:
    """Mail comes into the provider's INBOX."""
    prepared = app.store.prepare(raw)

    def put(tx):  # type: ignore[no-untyped-def]  # a WriteTx
        (owner,) = accounts.all(tx)
        messages.append(tx, mailboxes.by_role(tx, owner.id, Role.INBOX), prepared)

    await app.store.write(put)


async def answer_in(at: House) -> str:
    """The one answer of the program to what came from outside."""
    number = 2
    while (mail := await at.letter(number))["Subject"].startswith(("Approve?", "Reminder")):
        number += 1
    return str(mail.get_content())


async def test_a_request_goes_out_with_a_token_of_its_own_and_is_signed(tmp_path: Path) -> None:
    async with house(tmp_path / "home") as at:
        out = await asked(at)
        at_home = await at.person.mail("Approve?")
        assert out["From"].addresses[0].addr_spec == "post@example.net"
        token = out["Reply-To"].addresses[0].addr_spec.partition("+")[2].partition("@")[0]
        assert len(token) == 26
        assert token not in str(at_home.message["Reply-To"])
        assert at_home.message["Subject"] == out["Subject"]
        shown = [line for line in at_home.text.splitlines() if line.startswith("| ")]
        body = out.get_body(("plain",))
        assert body is not None
        assert [line for line in str(body.get_content()).splitlines() if line.startswith("| ")] == shown
        raw = at.desk.sink.messages[0].data
        name, value = dns_record(tmp_path / "home", "postroom", "example.net")
        terms = Terms(("post@example.net",), 24, at.desk.app.clock.now())
        proof = prove(raw, terms, lambda asked_, _: value.encode() if asked_ == name.encode() else None)
        assert isinstance(proof, Proof), proof


async def test_a_signed_answer_found_by_imap_releases_it_once_and_is_answered(tmp_path: Path) -> None:
    async with provider(tmp_path / "far") as far:
        assert far.ports is not None
        async with house(tmp_path / "home", watched=outside_of(far.ports.imap)) as at:
            await at.watching()
            out = await asked(at)
            await delivered(far, key_of("example.com").sign(reply_to(out, "approve")))
            answer = await at.letter(2)
            assert "was approved" in answer.get_content()
            await at.person.mail("Re: Notes from Tuesday")
            await at.desk.settled()
            assert at.released == [("maya@example.org",)]
            (decided,) = at.trail("approval.approved")
            assert decided.facts["by"] == REAL
            assert decided.facts["line"] == "approve"
            (proven,) = at.trail("outside.proven")
            assert proven.facts["domain"] == "example.com"
            assert at.person.mails("Action") == []


async def test_only_mail_that_comes_after_the_first_look_counts_and_a_restart_misses_none(tmp_path: Path) -> None:
    async with provider(tmp_path / "far") as far:
        assert far.ports is not None
        watched = outside_of(far.ports.imap)
        await delivered(far, b"From: x@example.com\r\nSubject: old\r\n\r\nold\r\n")
        async with house(tmp_path / "home", watched=watched) as at:
            await at.watching()
            out = await asked(at)
        answer = key_of("example.com").sign(reply_to(out, "reject: not now"))
        await delivered(far, answer)
        async with house(tmp_path / "home", watched=watched) as at:
            told = await at.letter(1)
            assert "was refused" in told.get_content()
            assert at.released == []


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("reject: wrong person", "was refused"),
        ("edit\nSubject: Shorter", "was changed"),
        ("use her work address", "was answered"),
        ("approve?", "still waits"),
        ("yes", "still waits"),
        ("always approve", "still waits"),
        ("", "had no text of its own"),
        ("stop", "the task was stopped"),
    ],
)
async def test_every_answer_has_one_clear_answer(tmp_path: Path, text: str, state: str) -> None:
    async with house(tmp_path / "home") as at:
        out = await asked(at)
        await at.arrives(key_of("example.com").sign(reply_to(out, text)))
        told = await answer_in(at)
        assert state in told
        assert at.released == []
