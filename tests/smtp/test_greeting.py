"""What the server says of itself, before and after TLS."""

import pytest

from tests.smtp.support import ME, Running, Wire, auth_plain


def offers(reply: str) -> set[str]:
    return {line[4:] for line in reply.split("\n")}


async def test_the_greeting_names_no_version(server: Running) -> None:
    for tls in (False, True):
        wire = await Wire.connect(server, tls=tls)
        greeting = await wire.reply()
        assert greeting == "220 bridge.test ESMTP Postroom"
        await wire.close()


async def test_auth_04_no_auth_is_offered_in_clear(server: Running) -> None:
    wire = await Wire.connect(server)
    await wire.reply()
    offered = offers(await wire.ask("EHLO me"))
    assert "STARTTLS" in offered
    assert not any(offer.startswith("AUTH") for offer in offered)
    assert (await wire.ask(auth_plain())).startswith("538 5.7.11")
    assert (await wire.ask("AUTH LOGIN")).startswith("538 5.7.11")
    assert (await wire.ask(f"MAIL FROM:<{ME}>")).startswith("530 5.7.0")
    await wire.close()


async def test_both_mechanisms_on_both_roads_to_tls(server: Running) -> None:
    implicit = await Wire.connect(server, tls=True)
    await implicit.reply()
    upgraded = await Wire.connect(server)
    await upgraded.reply()
    await upgraded.ask("EHLO me")
    assert (await upgraded.ask("STARTTLS")).startswith("220")
    await upgraded.starttls(server)
    for wire in (implicit, upgraded):
        offered = offers(await wire.ask("EHLO me"))
        assert "AUTH PLAIN LOGIN" in offered
        assert "STARTTLS" not in offered
        await wire.close()


async def test_smtp_09_smtp_14_only_what_is_done_is_announced(server: Running) -> None:
    wire = await Wire.connect(server, tls=True)
    await wire.reply()
    offered = offers(await wire.ask("EHLO me"))
    size = f"SIZE {50 * 1024 * 1024}"
    assert offered == {
        "bridge.test",
        size,
        "8BITMIME",
        "SMTPUTF8",
        "PIPELINING",
        "ENHANCEDSTATUSCODES",
        "AUTH PLAIN LOGIN",
        "HELP",
    }
    assert "CHUNKING" not in offered
    await wire.close()


@pytest.mark.parametrize("name", ["[127.0.0.1]", "[IPv6:::1]", "x_y", "ehlo.thunderbird.net", "mäx", "localhost"])
async def test_smtp_10_any_name_may_greet(server: Running, name: str) -> None:
    wire = await Wire.connect(server)
    await wire.reply()
    assert (await wire.ask(f"EHLO {name}")).startswith("250")
    assert (await wire.ask(f"HELO {name}")).startswith("250")
    await wire.close()


@pytest.mark.parametrize("line", ["EHLO", "EHLO  ", "HELO", "HELO \t", "EHLO a b", "EHLO " + "x" * 300, "EHLO \x01"])
async def test_smtp_10_no_name_is_501(server: Running, line: str) -> None:
    wire = await Wire.connect(server)
    await wire.reply()
    assert (await wire.ask(line)).startswith("501 5.5.4")
    await wire.close()


async def test_every_reply_after_the_greeting_has_a_status_code(server: Running) -> None:
    wire = await Wire.logged_in(server)
    for line in (
        "NOOP",
        "RSET",
        "HELP",
        "VRFY x",
        "EXPN x",
        "FOO",
        "RCPT TO:<x@y>",
        "DATA",
        "STARTTLS",
        "MAIL",
        "QUIT x",
    ):
        code, status = (await wire.ask(line)).split(" ")[:2]
        assert status.count(".") == 2, line
        assert status[0] == code[0], line
    await wire.close()


async def test_with_require_tls_off_login_is_offered_in_clear(tmp_path: object) -> None:
    from pathlib import Path

    from tests.smtp.support import running

    async with running(Path(str(tmp_path)), require_tls=False) as server:
        wire = await Wire.connect(server)
        await wire.reply()
        assert {"AUTH PLAIN LOGIN", "STARTTLS"} <= offers(await wire.ask("EHLO me"))
        assert (await wire.ask(auth_plain())).startswith("235")
        assert (await wire.mail()).startswith("250")
        await wire.close()


async def test_quit_says_goodbye(server: Running) -> None:
    wire = await Wire.connect(server)
    await wire.reply()
    assert (await wire.ask("QUIT")).startswith("221 2.0.0")
    assert await wire.closed()
    await wire.close()
