"""AUTH: who gets in, and what the others are told."""

import asyncio

import pytest

from bridge.net.limits import LoginLimited
from tests.smtp.support import ME, PASSWORD, Running, Wire, auth_plain, b64


async def greeted(server: Running) -> Wire:
    wire = await Wire.connect(server, tls=True)
    await wire.reply()
    await wire.ask("EHLO me")
    return wire


@pytest.mark.parametrize("login", ["alice", ME, "ALICE", "Alice@Bridge.Test"])
async def test_login_as_name_or_full_address(server: Running, login: str) -> None:
    wire = await greeted(server)
    assert (await wire.ask(auth_plain(login))).startswith("235 2.7.0")
    assert (await wire.mail()).startswith("250")
    assert server.postbox.kept[0][0].address == ME
    assert server.postbox.kept[0][0].device == "test"
    await wire.close()


async def test_auth_01_plain_in_two_steps_and_with_authzid(server: Running) -> None:
    wire = await greeted(server)
    assert await wire.ask("AUTH PLAIN") == "334 "
    assert (await wire.ask(b64(f"\0alice\0{PASSWORD}"))).startswith("235")
    await wire.close()
    wire = await greeted(server)
    assert (await wire.ask("auth plain " + b64(f"alice\0alice\0{PASSWORD}"))).startswith("235")
    await wire.close()
    wire = await greeted(server)
    assert (await wire.ask("AUTH PLAIN " + b64(f"bob\0alice\0{PASSWORD}"))).startswith("501")
    await wire.close()


async def test_auth_01_star_cancels(server: Running) -> None:
    wire = await greeted(server)
    await wire.ask("AUTH PLAIN")
    assert (await wire.ask("*")).startswith("501 5.7.0")
    assert (await wire.ask(auth_plain())).startswith("235")
    await wire.close()


async def test_login_in_three_steps_or_two(server: Running) -> None:
    wire = await greeted(server)
    assert await wire.ask("AUTH LOGIN") == "334 " + b64("Username:")
    assert await wire.ask(b64("alice")) == "334 " + b64("Password:")
    assert (await wire.ask(b64(PASSWORD))).startswith("235")
    await wire.close()
    wire = await greeted(server)
    assert await wire.ask("AUTH LOGIN " + b64("alice")) == "334 " + b64("Password:")
    assert (await wire.ask(b64(PASSWORD))).startswith("235")
    await wire.close()


@pytest.mark.parametrize(
    ("login", "password"), [("alice", "wrong"), ("nobody", PASSWORD), ("alice@evil.test", PASSWORD)]
)
async def test_auth_05_wrong_is_535_whoever_it_was(server: Running, login: str, password: str) -> None:
    wire = await greeted(server)
    assert await wire.ask(auth_plain(login, password)) == "535 5.7.8 Wrong user name or password"
    assert (await wire.ask(auth_plain())).startswith("235")
    await wire.close()


async def test_guessing_ends_the_connection_but_not_the_user(server: Running) -> None:
    wire = await greeted(server)
    for _ in range(5):
        assert (await wire.ask(auth_plain(password="wrong"))).startswith("535")
    assert (await wire.reply()).startswith("421")
    assert await wire.closed()
    await wire.close()
    good = await greeted(server)
    assert (await good.ask(auth_plain())).startswith("235")
    await good.close()


async def test_auth_05_a_limit_is_454_and_not_wrong_password(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    async def limited(login: str, password: str, *, peer: str) -> None:
        raise LoginLimited(42.0)

    monkeypatch.setattr(server.auth, "check", limited)
    wire = await greeted(server)
    assert await wire.ask(auth_plain()) == "454 4.7.0 Too many login attempts, try again in 42 seconds"
    assert (await wire.ask("NOOP")).startswith("250")
    await wire.close()


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("AUTH", "501"),
        ("AUTH PLAIN a b", "501"),
        ("AUTH CRAM-MD5", "504 5.5.4"),
        ("AUTH XOAUTH2 abc", "504 5.5.4"),
        ("AUTH PLAIN %%%", "501 5.5.2"),
        ("AUTH PLAIN " + b64("no nul"), "501 5.5.2"),
        ("AUTH PLAIN =", "501 5.5.2"),
        ("AUTH PLAIN " + "A" * 12000, "501 5.5.2"),
        ("AUTH PLAIN " + "A" * 20000, "500 5.5.2"),
        ("AUTH PLAIN " + "A" * 200000, "500 5.5.2"),
    ],
)
async def test_what_is_no_login_keeps_the_conversation_in_step(server: Running, line: str, code: str) -> None:
    wire = await greeted(server)
    assert (await wire.ask(line)).startswith(code)
    assert (await wire.ask(auth_plain())).startswith("235")
    await wire.close()


async def test_an_endless_answer_is_read_to_its_end(server: Running) -> None:
    wire = await greeted(server)
    await wire.ask("AUTH PLAIN")
    assert (await wire.ask("A" * 300_000)).startswith("501 5.5.2")
    assert (await wire.ask(auth_plain())).startswith("235")
    await wire.close()


async def test_smtp_18_auth_twice_and_auth_within_a_mail_are_503(server: Running) -> None:
    wire = await Wire.logged_in(server)
    assert (await wire.ask(auth_plain())).startswith("503 5.5.1")
    await wire.close()


async def test_auth_before_ehlo_is_503(server: Running) -> None:
    wire = await Wire.connect(server, tls=True)
    await wire.reply()
    assert (await wire.ask(auth_plain())).startswith("503")
    await wire.ask("HELO me")
    assert (await wire.ask(auth_plain())).startswith("503")
    await wire.close()


async def test_nothing_is_taken_without_login(server: Running) -> None:
    wire = await greeted(server)
    for line in (f"MAIL FROM:<{ME}>", f"RCPT TO:<{ME}>", "DATA", "VRFY alice"):
        assert (await wire.ask(line)).startswith("530 5.7.0"), line
    await wire.close()


async def test_the_log_holds_no_password_and_no_address(server: Running, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG", logger="bridge")
    wire = await Wire.logged_in(server)
    await wire.mail()
    await wire.ask("AUTH PLAIN " + b64("\0alice\0sesame"))
    await wire.close()
    for secret in (PASSWORD, b64(f"\0alice\0{PASSWORD}"), "sesame", ME, "body"):
        assert secret not in caplog.text


async def test_a_client_that_leaves_during_the_check_hurts_nobody(server: Running) -> None:
    wire = await greeted(server)
    await wire.send(auth_plain(password="wrong"))
    wire.writer.transport.abort()
    await asyncio.sleep(0)
    other = await greeted(server)
    assert (await other.ask(auth_plain())).startswith("235")
    await other.close()
