"""MAIL, RCPT and DATA: who may send what to whom."""

from dataclasses import replace
from pathlib import Path

import pytest

from config.settings import Smtp
from tests.smtp.support import DOMAIN, ME, MESSAGE, Running, Wire, running


async def test_a_mail_is_kept_with_its_envelope(server: Running) -> None:
    wire = await Wire.logged_in(server)
    assert await wire.mail() == "250 2.0.0 Accepted as mail-1"
    identity, envelope = server.postbox.kept[0]
    assert identity.account == server.account.id
    assert envelope.mail_from == ME
    assert envelope.recipients == (f"assistant@{DOMAIN}",)
    assert envelope.raw == MESSAGE
    assert envelope.client.peer == "127.0.0.1"
    assert envelope.client.hello == "client.test"
    assert envelope.client.secure
    await wire.close()


async def test_smtp_02_spaces_after_the_colon(server: Running) -> None:
    wire = await Wire.logged_in(server)
    assert (await wire.ask(f"MAIL FROM: <{ME}> SIZE=10")).startswith("250 2.1.0")
    assert (await wire.ask(f"RCPT TO: <assistant@{DOMAIN}>")).startswith("250 2.1.5")
    await wire.close()


async def test_smtp_04_size_is_refused_at_mail_and_after_data(tmp_path: Path) -> None:
    async with running(tmp_path, smtp=Smtp(max_size=100_000)) as server:
        wire = await Wire.logged_in(server)
        assert (await wire.ask(f"MAIL FROM:<{ME}> SIZE=999999999")).startswith("552 5.3.4")
        assert (await wire.ask(f"MAIL FROM:<{ME}> SIZE=99999999999999999999999")).startswith("552 5.3.4")
        assert (await wire.ask(f"MAIL FROM:<{ME}> SIZE=x")).startswith("501")
        exact = MESSAGE + b"x" * (100_000 - len(MESSAGE) - 2) + b"\r\n"
        assert (await wire.mail(exact)).startswith("250")
        assert (await wire.mail(b"x" + exact)).startswith("552 5.3.4")
        assert (await wire.mail(exact * 5)).startswith("552 5.3.4")
        assert (await wire.mail()).startswith("250")
        assert [len(envelope.raw) for _, envelope in server.postbox.kept] == [100_000, len(MESSAGE)]
        await wire.close()


@pytest.mark.parametrize(
    "sender",
    ["bob@bridge.test", "assistant@bridge.test", "alice@evil.test", "alice", "alice@bridge.test.evil.example"],
)
async def test_smtp_13_mail_from_must_be_the_login(server: Running, sender: str) -> None:
    wire = await Wire.logged_in(server)
    reply = await wire.ask(f"MAIL FROM:<{sender}>")
    assert reply.startswith("550 5.7.1")
    assert ME in reply
    assert server.postbox.turned == [(ME, f"You are logged in as {ME}; send from that address")]
    await wire.close()


async def test_smtp_13_case_does_not_matter(server: Running) -> None:
    wire = await Wire.logged_in(server)
    assert (await wire.ask("MAIL FROM:<Alice@Bridge.Test>")).startswith("250")
    await wire.ask(f"RCPT TO:<assistant@{DOMAIN}>")
    await wire.ask("DATA")
    assert (await wire.ask(b"From: ALICE@bridge.TEST\r\n\r\nx\r\n.\r\n")).startswith("250")
    await wire.close()


async def test_the_null_sender_is_machine_mail_and_refused(server: Running) -> None:
    wire = await Wire.logged_in(server)
    assert (await wire.ask("MAIL FROM:<>")).startswith("550 5.7.1")
    await wire.close()


@pytest.mark.parametrize(
    "extra", ["SIZE=10", "BODY=8BITMIME", "BODY=7BIT", "SMTPUTF8", "AUTH=<>", "body=8bitmime size=5"]
)
async def test_smtp_09_known_parameters(server: Running, extra: str) -> None:
    wire = await Wire.logged_in(server)
    assert (await wire.ask(f"MAIL FROM:<{ME}> {extra}")).startswith("250")
    await wire.close()


@pytest.mark.parametrize(
    ("extra", "code"),
    [("RET=FULL", "555"), ("BODY=BINARYMIME", "501"), ("SMTPUTF8=1", "555"), ("=x", "501"), ("MT-PRIORITY=3", "555")],
)
async def test_unknown_parameters_are_refused(server: Running, extra: str, code: str) -> None:
    wire = await Wire.logged_in(server)
    assert (await wire.ask(f"MAIL FROM:<{ME}> {extra}")).startswith(code)
    await wire.close()


async def test_smtp_11_an_unknown_recipient_is_named_with_those_that_exist(server: Running) -> None:
    wire = await Wire.logged_in(server)
    await wire.ask(f"MAIL FROM:<{ME}>")
    assert (await wire.ask(f"RCPT TO:<assistant@{DOMAIN}>")).startswith("250")
    refusal = await wire.ask(f"RCPT TO:<nobody@{DOMAIN}>")
    assert refusal.startswith("550 5.1.1")
    assert f"nobody@{DOMAIN}" in refusal
    assert f"assistant@{DOMAIN}" in refusal
    assert (await wire.ask(f"RCPT TO:<research@{DOMAIN}>")).startswith("250")
    assert (await wire.ask("DATA")).startswith("354")
    assert (await wire.ask(MESSAGE + b".\r\n")).startswith("250")
    assert server.postbox.kept[0][1].recipients == (f"assistant@{DOMAIN}", f"research@{DOMAIN}")
    await wire.close()


async def test_smtp_11_all_refused_means_no_data(server: Running) -> None:
    wire = await Wire.logged_in(server)
    assert (await wire.ask("DATA")).startswith("503")
    await wire.ask(f"MAIL FROM:<{ME}>")
    assert (await wire.ask("DATA")).startswith("503")
    assert (await wire.ask("RCPT TO:<maya@example.org>")).startswith("550 5.7.1")
    assert (await wire.ask("DATA")).startswith("554 5.5.1")
    await wire.close()


async def test_smtp_12_a_recipient_in_no_header_is_a_recipient(server: Running) -> None:
    wire = await Wire.logged_in(server)
    await wire.envelope([f"assistant@{DOMAIN}", f"research@{DOMAIN}"])
    await wire.ask("DATA")
    raw = MESSAGE.replace(b"Subject", b"Bcc: someone@else.example\r\nSubject")
    await wire.ask(raw + b".\r\n")
    assert server.postbox.kept[0][1].recipients == (f"assistant@{DOMAIN}", f"research@{DOMAIN}")
    assert server.postbox.raw == raw
    await wire.close()


async def test_a_recipient_twice_is_once(server: Running) -> None:
    wire = await Wire.logged_in(server)
    await wire.envelope([f"assistant@{DOMAIN}", f"ASSISTANT@{DOMAIN}"])
    await wire.ask("DATA")
    await wire.ask(MESSAGE + b".\r\n")
    assert server.postbox.kept[0][1].recipients == (f"assistant@{DOMAIN}",)
    await wire.close()


async def test_too_many_recipients_are_452(tmp_path: Path) -> None:
    async with running(tmp_path, smtp=Smtp(max_recipients=3)) as server:
        wire = await Wire.logged_in(server)
        await wire.ask(f"MAIL FROM:<{ME}>")
        codes = [(await wire.ask(f"RCPT TO:<many{n}@{DOMAIN}>"))[:9] for n in range(4)]
        assert codes == ["250 2.1.5"] * 3 + ["452 4.5.3"]
        await wire.ask("DATA")
        assert (await wire.ask(MESSAGE + b".\r\n")).startswith("250")
        assert len(server.postbox.kept[0][1].recipients) == 3
        await wire.close()


@pytest.mark.parametrize("path", ["TO:<>", "TO:", "<a@b>", "TO:<a b@c>", "TO:<a@b", "FROM:<a@b>"])
async def test_malformed_recipients_are_501(server: Running, path: str) -> None:
    wire = await Wire.logged_in(server)
    await wire.ask(f"MAIL FROM:<{ME}>")
    assert (await wire.ask(f"RCPT {path}")).startswith("501 5.1.3")
    await wire.close()


@pytest.mark.parametrize(
    "header",
    [
        b"Subject: no from\r\n",
        b"From: bob@evil.example\r\n",
        b"From: alice@bridge.test\r\nFrom: alice@bridge.test\r\n",
        b"From: alice@bridge.test, bob@evil.example\r\n",
        b'From: "alice@bridge.test" <bob@evil.example>\r\n',
    ],
)
async def test_smtp_13_a_from_that_is_not_the_users_is_refused(server: Running, header: bytes) -> None:
    wire = await Wire.logged_in(server)
    assert (await wire.mail(header + b"\r\nhi\r\n")).startswith("550 5.7.1")
    assert server.postbox.kept == []
    assert [who for who, why in server.postbox.turned if "From header" in why] == [ME]
    assert (await wire.mail()).startswith("250")
    await wire.close()


async def test_a_refusal_of_the_keeper_is_told(server: Running) -> None:
    from bridge.submissions import Refused

    server.postbox.answer = lambda envelope: Refused(452, "4.3.1", "no room\r\n250 forged")
    wire = await Wire.logged_in(server)
    assert await wire.mail() == "452 4.3.1 no room 250 forged"
    server.postbox.answer = lambda envelope: None
    assert (await wire.mail()).startswith("250")
    await wire.close()


async def test_nothing_is_added_to_the_mail(server: Running) -> None:
    """The Sent copy has to be the client's bytes: no Received, no Return-Path, no Message-ID from here."""
    raw = b"From: alice@bridge.test\r\nX-Odd:   spaces \r\n\tfolded\r\n\r\n"
    wire = await Wire.logged_in(server)
    await wire.mail(raw)
    assert server.postbox.raw == raw
    await wire.close()


async def test_each_login_has_its_own_address(server: Running) -> None:
    from mailstore import accounts

    other = await server.store.write(lambda tx: accounts.create(tx, "bob", f"bob@{DOMAIN}", []))
    await server.auth.add_given(other.id, "phone", "bob's own")
    wire = await Wire.connect(server, tls=True)
    await wire.reply()
    await wire.ask("EHLO me")
    from tests.smtp.support import auth_plain

    assert (await wire.ask(auth_plain("bob", "bob's own"))).startswith("235")
    assert (await wire.ask(f"MAIL FROM:<{ME}>")).startswith("550")
    assert (await wire.ask(f"MAIL FROM:<bob@{DOMAIN}>")).startswith("250")
    assert replace(other) == other
    await wire.close()
