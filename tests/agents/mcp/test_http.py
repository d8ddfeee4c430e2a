"""Servers behind a port: they work, die in a call, come back, hang, answer too much, and want their headers."""

import asyncio
import time
from pathlib import Path

import pytest

from agents.mcp.file import ServerConfig
from agents.mcp.outcome import Lost, Unreached
from agents.mcp.state import Pace, State
from tests.agents.mcp.kit import lines, owned, service


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "effects"


async def test_a_service_that_works(log: Path) -> None:
    async with service(log) as there, owned(there.config) as server:
        assert await server.text("add", a=2, b=3) == "5"
        status = server.owner.status()
        assert (status.state, status.transport, status.where) == (State.CONNECTED, "http", f"127.0.0.1:{there.port}")
        assert await server.text("slow", steps=2) == "done"
        assert [one["message"] for one in (await server.wanted("asks")).questions.values()] == [
            "Really delete everything?"
        ]


async def test_a_service_that_is_not_there(log: Path) -> None:
    async with service(log) as there:
        config = there.config
    async with owned(config) as server:
        with pytest.raises(Unreached, match="it cannot be reached"):
            await server.call("pid")


async def test_a_service_that_dies_in_a_call_and_comes_back(log: Path) -> None:
    async with service(log) as there, owned(there.config) as server:
        await server.text("pid")
        slow = asyncio.create_task(server.call("slow", steps=100))
        while not lines(log):
            await asyncio.wait({slow}, timeout=0.05)
        await there.kill()
        with pytest.raises(Lost):
            await slow
        with pytest.raises(Unreached):
            await server.call("pid")
        await there.start()
        assert await server.text("add", a=1, b=1) == "2"


async def test_a_service_that_died_unseen_is_noticed_before_an_effect(log: Path) -> None:
    async with service(log) as there, owned(there.config) as server:
        await server.text("pid")
        await there.kill()
        await there.start()
        await server.call("wipe", fresh=True, path="/x")
        assert lines(log) == ["wipe /x"]


async def test_a_service_that_hangs_ends_the_call_and_not_the_owner(log: Path) -> None:
    pace = Pace(start=2, leave=1, check=0.5, first=0.05, most=0.2)
    async with service(log) as there, owned(there.config, pace=pace) as server:
        await server.text("pid")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await server.owner.call("hang", {"what": "x"}, "k", False, lambda: None)
        with pytest.raises(Unreached, match="it did not answer"):
            await server.call("pid", fresh=True)
        await there.kill()
        await there.start()
        assert await server.text("add", a=1, b=1) == "2"


async def test_an_answer_of_32_megabytes_is_cut_off_while_it_is_read(log: Path) -> None:
    async with service(log) as there, owned(there.config) as server:
        assert len(await server.text("huge", megabytes=1)) == 1024 * 1024
        began = time.process_time()
        with pytest.raises(Lost):
            await server.call("huge", megabytes=32)
        assert time.process_time() - began < 10
        assert await server.text("add", a=1, b=1) == "2"


async def test_a_list_of_tools_that_changes_is_listed_again(log: Path) -> None:
    async with service(log) as there, owned(there.config) as server:
        await server.text("pid")
        await server.text("grow")
        assert "grown" in await server.listings.until(lambda listing: "grown" in listing)


async def test_headers_are_sent_and_never_shown() -> None:
    heard: list[bytes] = []
    asked = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        await writer.drain()
        writer.close()
        asked.set()

    listener = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    config = ServerConfig("locked", url=f"http://127.0.0.1:{port}/mcp", headers={"Authorization": "Bearer canary-99"})
    async with listener, owned(config) as server:
        with pytest.raises(Unreached) as caught:
            await server.call("pid")
        assert b"authorization: bearer canary-99" in heard[0].lower()
        assert "canary" not in f"{caught.value}{server.owner.status()}{config}"
