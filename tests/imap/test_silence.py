"""How long a client may say nothing (RFC 3501 section 5.4)."""

import asyncio
from pathlib import Path

from bridge.imap.base import BASE
from bridge.imap.command import Command, Done, nothing
from bridge.imap.dialect import Extension, merge
from bridge.imap.ext import inprogress
from bridge.imap.session import Session
from bridge.imap.states import LOGGED_IN
from tests.imap.harness import open_house

HALF_AN_HOUR = 30 * 60


async def test_a_silent_session_is_kept_for_half_an_hour_and_then_logged_out(tmp_path: Path) -> None:
    # req 5.4-timer
    # req rfc9051/7.1.5-autologout
    # req 7.1.5-autologout
    async with open_house(tmp_path) as house:
        now = [1000.0]
        house.service.clock = lambda: now[0]
        client = await house.login(select="INBOX")
        now[0] += HALF_AN_HOUR - 1
        house.service.sweep()
        await client.settle()
        assert not client.closed
        assert not client.inbox
        assert (await client.command("NOOP")).ok
        now[0] += HALF_AN_HOUR - 1
        house.service.sweep()
        assert (await client.command("NOOP")).ok
        now[0] += HALF_AN_HOUR
        house.service.sweep()
        assert await client.closing() == [b"* BYE Logged out after a long silence"]


async def test_a_command_that_takes_long_is_told_to_be_in_progress(tmp_path: Path) -> None:
    """RFC 9585: every ten seconds, with the tag, and only while the command is under way."""
    go_on = asyncio.Event()

    async def wait(session: Session, _: None) -> Done:
        await go_on.wait()
        return Done("waited")

    waits = Extension("X-WAIT", commands=(Command(b"XWAIT", LOGGED_IN, nothing, wait),))
    dialect = merge([BASE, inprogress.EXTENSION, waits])
    async with open_house(tmp_path, dialect=dialect) as house:
        now = [1000.0]
        house.service.clock = lambda: now[0]
        client = await house.login()
        client.send(b'a"b NOOP\r\n')
        assert (await client.line()).startswith(b"* BAD")
        client.send(b"w1 XWAIT\r\n")
        await client.settle()
        now[0] += 5
        house.service.sweep()
        assert not client.inbox
        now[0] += 6
        house.service.sweep()
        assert await client.line() == b'* OK [INPROGRESS ("w1" NIL NIL)] Still working\r\n'
        go_on.set()
        assert await client.line() == b"w1 OK waited\r\n"
        now[0] += 60
        house.service.sweep()
        await client.settle()
        assert not client.inbox
