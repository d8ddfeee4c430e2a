"""Servers as child processes: they work, die, hang, say nothing, flood, answer too much, and are not left behind."""

import asyncio
import logging
import time
from pathlib import Path

import pytest
import uvloop

from agents.mcp.file import ServerConfig
from agents.mcp.outcome import Lost, Refused, Unreached
from agents.mcp.servers import try_out
from agents.mcp.state import Pace, State
from tests.agents.mcp.kit import QUICK, is_alive, lines, owned, pids, stdio


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "effects"


async def test_a_server_that_works(log: Path) -> None:
    async with owned(stdio(log)) as server:
        assert await server.text("add", a=2, b=3) == "5"
        listed = server.listings.all[0]
        assert {"add", "wipe", "die"} <= listed.keys()
        assert listed["add"].annotations == {"readOnlyHint": True}
        assert listed["add"].schema["required"] == ["a", "b"]
        status = server.owner.status()
        assert (status.state, status.error, status.starts, status.transport) == (State.CONNECTED, "", 1, "stdio")
        assert status.about.startswith("tiny 0.1, protocol 20")
    [pid] = pids(log)
    assert not is_alive(pid)


def test_a_server_under_the_loop_of_the_real_program(log: Path) -> None:
    async def use() -> None:
        async with owned(stdio(log)) as server:
            assert await server.text("add", a=2, b=3) == "5"
            with pytest.raises(Lost, match="it ended with exit code 3"):
                await server.call("die", what="once")
            assert await server.text("add", a=2, b=3) == "5"

    uvloop.run(use())
    assert [pid for pid in pids(log) if is_alive(pid)] == []


async def test_many_calls_at_once(log: Path) -> None:
    async with owned(stdio(log)) as server:
        await server.text("pid")
        began = time.monotonic()
        assert await asyncio.gather(*(server.text("slow", steps=20) for _ in range(8))) == ["done"] * 8
        assert time.monotonic() - began < 14  # one takes two seconds by the clock, eight in line sixteen


async def test_a_server_that_dies_in_a_call_loses_the_call_and_comes_back(log: Path) -> None:
    async with owned(stdio(log)) as server:
        with pytest.raises(Lost, match="it ended with exit code 3"):
            await server.call("die", what="once")
        assert int(await server.text("pid")) == pids(log)[1]
        assert (lines(log), server.owner.status().starts) == (["die once"], 2)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Session not found", Unreached),
        ("Session terminated", Unreached),
        ("Session terminated before the request completed", Lost),
        ("the booking session ran out", Lost),
        ("no seats are left", Refused),
    ],
)
async def test_what_a_server_says_of_its_session_does_not_make_a_call_undone(
    log: Path, said: str, meant: type[Exception]
) -> None:
    """Only what is said at the door means that nothing was asked; other words may come after the act."""
    async with owned(stdio(log)) as server:
        with pytest.raises(meant):
            await server.call("quits", said=said)
        assert await server.text("add", a=1, b=1) == "2"
        assert lines(log) == ["quits"]


async def test_a_server_that_dies_takes_the_other_calls_along_but_not_their_callers(log: Path) -> None:
    async with owned(stdio(log)) as server:
        await server.text("pid")
        slow = asyncio.create_task(server.call("slow", steps=100))
        with pytest.raises(Lost):
            await server.call("die", what="now")
        with pytest.raises(Lost, match="exit code 3"):
            await slow
        assert not slow.cancelled()


async def test_a_call_that_is_cut_off_is_cancelled_at_the_server(log: Path) -> None:
    async with owned(stdio(log)) as server:
        before = await server.text("pid")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await server.owner.call("slow", {"steps": 100}, "k", False, lambda: None)
        assert await server.text("pid") == before
        assert lines(log)[-1].startswith("slow interrupted by Cancelled")


async def test_a_server_that_hangs_is_killed_after_a_call_is_cut_off(log: Path) -> None:
    pace = Pace(start=20, leave=5, check=0.5, first=0.05, most=0.2)
    async with owned(stdio(log), pace=pace) as server:
        await server.text("pid")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await server.owner.call("hang", {"what": "x"}, "k", False, lambda: None)
        assert int(await server.text("pid")) == pids(log)[1]
        assert not is_alive(pids(log)[0])


async def test_a_server_that_is_silent_at_the_start_is_given_up_in_time(log: Path) -> None:
    pace = Pace(start=0.5, leave=5, first=0.05, most=0.1)
    async with owned(stdio(log, "--start", "silent"), pace=pace) as server:
        with pytest.raises(Unreached, match=r"it did not answer within 0\.5 seconds"):
            await server.call("pid")
    assert [pid for pid in pids(log) if is_alive(pid)] == []


async def test_a_server_that_ends_at_the_start_says_why(log: Path) -> None:
    async with owned(stdio(log, "--start", "exit")) as server:
        with pytest.raises(Unreached, match="it ended with exit code 7"):
            await server.call("pid")
        assert server.owner.status().lines[-1] == "cannot find my settings"


async def test_attempts_come_at_longer_and_longer_pauses(log: Path) -> None:
    pace = Pace(start=20, leave=5, first=0.05, most=60.0)
    async with owned(stdio(log, "--start", "exit"), pace=pace) as server:
        for _ in range(2):
            with pytest.raises(Unreached):
                await server.call("pid")
        # Nobody asks now: the third attempt comes after 0.2 s, the fourth after 0.4 s, the fifth after 0.8 s.
        await asyncio.wait({server.task}, timeout=1.0)
        assert server.owner.status().starts <= 5


async def test_a_program_that_is_not_there() -> None:
    async with owned(ServerConfig("tiny", "no-such-program-here")) as server:
        with pytest.raises(Unreached, match="there is no program no-such-program-here"):
            await server.call("pid")


async def test_a_greeting_on_standard_output_is_counted_and_forgiven(log: Path) -> None:
    async with owned(stdio(log, "--start", "banner")) as server:
        assert await server.text("add", a=1, b=1) == "2"
        assert server.owner.status().garbage == 1


@pytest.mark.parametrize(
    ("start", "why"),
    [("garbage", "it wrote too many lines that are no message"), ("line", "it wrote a line of more than 4,194,304")],
)
async def test_a_server_that_floods_its_output_is_killed_and_not_logged(
    log: Path, start: str, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with owned(stdio(log, "--start", start)) as server:
        with pytest.raises(Unreached, match=why):
            await server.call("pid")
    assert sum(len(record.getMessage()) for record in caplog.records) < 20_000
    assert "no message" not in "".join(str(record.exc_info) for record in caplog.records)
    assert [pid for pid in pids(log) if is_alive(pid)] == []


async def test_a_flood_in_a_call_ends_the_call(log: Path) -> None:
    async with owned(stdio(log)) as server:
        with pytest.raises(Lost, match="too many lines that are no message"):
            await server.call("flood", lines=100)
        assert await server.text("add", a=1, b=1) == "2"


async def test_an_answer_of_32_megabytes_is_cut_off_while_it_is_read(log: Path) -> None:
    async with owned(stdio(log)) as server:
        assert len(await server.text("huge", megabytes=1)) == 1024 * 1024
        began = time.process_time()
        with pytest.raises(Lost, match="a line of more than 4,194,304 bytes"):
            await server.call("huge", megabytes=32)
        assert time.process_time() - began < 10
        assert int(await server.text("pid")) == pids(log)[1]
        assert not is_alive(pids(log)[0])


async def test_a_large_answer_takes_time_that_grows_with_its_size_only(log: Path) -> None:
    async with owned(stdio(log), limit=64 * 1024 * 1024) as server:
        await server.text("pid")
        began = time.process_time()
        assert len(await server.text("huge", megabytes=16)) == 16 * 1024 * 1024
        assert time.process_time() - began < 6


async def test_standard_error_is_kept_to_fifty_lines_without_secrets(log: Path) -> None:
    async with owned(stdio(log, env={"TOKEN": "tok-canary-12345"})) as server:
        await server.text("chatter", lines=500)
        await server.text("secret")
        await server.text("pid")
        told = server.owner.status().lines
        assert (len(told), told[-1]) == (50, "my token is [redacted]")


async def test_a_list_of_tools_that_changes_is_listed_again(log: Path) -> None:
    async with owned(stdio(log)) as server:
        await server.text("pid")
        await server.text("grow")
        assert "grown" in await server.listings.until(lambda listing: "grown" in listing)


async def test_the_list_is_looked_at_before_an_effect(log: Path) -> None:
    async with owned(stdio(log)) as server:
        await server.text("pid")
        before = len(server.listings.all)
        await server.call("wipe", fresh=True, path="/x")
        assert (len(server.listings.all), lines(log)) == (before + 1, ["wipe /x"])


async def test_progress_is_shown_while_a_call_is_under_way(log: Path) -> None:
    async with owned(stdio(log)) as server:
        await server.text("pid")
        seen: list[str] = []
        call = asyncio.create_task(server.call("slow", steps=4))
        while not call.done():
            await asyncio.wait({call}, timeout=0.05)
            seen += [busy.progress for busy in server.owner.status().busy]
        assert any(told.endswith(f"of 4, step {number}") for told in seen for number in range(4))
        assert server.owner.status().busy == ()


async def test_a_question_of_the_server_parks_the_call(log: Path) -> None:
    async with owned(stdio(log)) as server:
        wanted = await server.wanted("asks")
        [question] = wanted.questions.values()
        assert question["message"] == "Really delete everything?"
        assert server.owner.status().busy == ()


async def test_trying_a_server_out(log: Path) -> None:
    told = await try_out(stdio(log), 1024 * 1024, QUICK)
    assert (told["works"], told["why"], "add" in told["tools"]) == (True, "", True)
    broken = await try_out(stdio(log, "--start", "exit"), 1024 * 1024, QUICK)
    assert (broken["works"], broken["why"]) == (False, "it ended with exit code 7")
    assert broken["lines"] == ["cannot find my settings"]
    assert [pid for pid in pids(log) if is_alive(pid)] == []
