"""Limits of a connection: how many, how long, how much idle talk."""

import asyncio
from dataclasses import replace
from pathlib import Path

from bridge.net.limits import ConnectionLimits
from tests.smtp.support import Running, Wire, running


async def test_idle_talk_has_an_end(server: Running) -> None:
    wire = await Wire.connect(server)
    await wire.reply()
    codes = {(await wire.ask("NOOP"))[:3] for _ in range(100)}
    assert codes == {"250"}
    assert (await wire.ask("NOOP")).startswith("421 4.7.0")
    assert await wire.closed()
    await wire.close()


async def test_nonsense_has_an_end(server: Running) -> None:
    wire = await Wire.connect(server)
    await wire.reply()
    replies = [await wire.ask(f"GET /{n} HTTP/1.1") for n in range(5)]
    assert [reply[:3] for reply in replies] == ["500"] * 4 + ["502"]
    assert await wire.closed()
    await wire.close()


async def test_too_many_connections_are_told_so(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        shared = server.service._shared
        server.service._shared = replace(shared, connections=ConnectionLimits(total=2, per_peer=2))
        first, second = await Wire.connect(server), await Wire.connect(server)
        await first.reply()
        await second.reply()
        third = await Wire.connect(server)
        assert (await third.reply()).startswith("421 4.7.0 too many connections")
        assert await third.closed()
        await first.ask("QUIT")
        await first.close()
        await server.connections(1)
        fourth = await Wire.connect(server)
        assert (await fourth.reply()).startswith("220")
        for wire in (second, third, fourth):
            await wire.close()


async def test_silence_has_an_end_and_it_is_said(server: Running) -> None:
    wire = await Wire.connect(server)
    await wire.reply()
    connection = next(iter(server.service._shared.open))
    connection._timeout_cb()  # type: ignore[attr-defined]  # what the timer calls; the time itself is not waited for
    assert (await wire.reply()).startswith("421 4.4.2")
    assert await wire.closed()
    await wire.close()


async def test_before_login_the_patience_is_shorter(server: Running) -> None:
    wire = await Wire.connect(server, tls=True)
    await wire.reply()
    connection = next(iter(server.service._shared.open))
    before = connection._timeout_duration  # type: ignore[attr-defined]  # no other way to see it
    await wire.close()
    logged_in = await Wire.logged_in(server)
    after = max(c._timeout_duration for c in server.service._shared.open)  # type: ignore[attr-defined]  # as above
    assert before == 60
    assert after == 300
    await logged_in.close()


async def test_each_connection_has_limits_of_its_own(server: Running) -> None:
    """aiosmtpd keeps the sizes of commands in one table for all connections; a new one must not reset the others."""
    wire = await Wire.connect(server, tls=True)
    await wire.reply()
    await wire.ask("EHLO me")
    other = await Wire.connect(server, tls=True)
    await other.reply()
    assert (await wire.ask("AUTH PLAIN " + "A" * 4000)).startswith("501")  # read, as AUTH may be long after EHLO
    await wire.close()
    await other.close()


async def test_three_hundred_clients_at_once(server: Running) -> None:
    async def one() -> str:
        wire = await Wire.connect(server)
        greeting = await wire.reply()
        await wire.ask("QUIT")
        await wire.close()
        return greeting[:3]

    assert await asyncio.gather(*(one() for _ in range(300))) == ["220"] * 300
