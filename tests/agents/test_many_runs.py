"""Many runs: those that wait are rows and nothing else, those that are queued get their turn whoever was first."""

import asyncio
import contextlib
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path

from agents.letter import Kind
from agents.llm import ModelReply, ModelRequest
from agents.runtime import CATCH_UP
from config.settings import Limits
from tests.agents.kit import World, world
from tests.agents.script import FREE, say, want


async def test_waiting_runs_are_rows_and_no_tasks(tmp_path: Path, count: Callable[[int, int], int]) -> None:
    many = count(150, 10_000)
    async with world(tmp_path, [say("Done.")]) as w:
        await w.runtime.stop(grace=0)
        letters = [w.letter(thread=f"thread-{number}") for number in range(many)]
        await w.db.write(lambda tx: [w.runtime.receive(tx, letter) for letter in letters])
        await w.db.close()
        with contextlib.closing(sqlite3.connect(tmp_path / "postroom.db")) as file:
            file.execute("UPDATE runs SET state = 'waiting_user'")
            file.commit()
        before = len(asyncio.all_tasks())
        await w.open()
        await w.until(lambda: not w.rows("SELECT 1 FROM runs WHERE activity_at < updated") or None)
        await w.runtime.tick()
        assert len(asyncio.all_tasks()) - before <= 2
        assert w.rows("SELECT count(*) AS n FROM runs WHERE state = 'waiting_user'") == [{"n": many}]
        assert w.runtime._touched == {}


async def test_activity_of_before_is_caught_up_in_parts(tmp_path: Path) -> None:
    many = 2 * CATCH_UP + 3
    limits = Limits(open_approvals=1000)
    async with world(tmp_path, [say("", want("fire", what="a"))], limits=limits) as w:
        for number in range(many):
            await w.send(thread=f"thread-{number}")
        await w.until(lambda: len(w.rows("SELECT 1 FROM runs WHERE state = 'waiting_approval'")) == many or None)
        await w.restart()
        await w.until(lambda: not w.rows("SELECT 1 FROM runs WHERE activity_at < updated") or None)
        assert len({mail.run for mail in w.mails(Kind.ACTIVITY)}) == many


async def test_queued_runs_are_served_in_turns_four_at_a_time(tmp_path: Path, count: Callable[[int, int], int]) -> None:
    """One agent's letters all came first; the other one's are served beside them all the same."""
    many = count(40, 1_000)
    order: list[str] = []
    busy: list[int] = [0, 0]

    async def speak(request: ModelRequest) -> ModelReply:
        order.append("other" if "other@" in request.system else "assistant")
        busy[0] += 1
        busy[1] = max(busy)
        await asyncio.sleep(0)
        busy[0] -= 1
        return say("Done.")

    w = await World(tmp_path, _Speaking(speak)).open(start=False)
    try:
        letters = [
            w.letter(thread=f"thread-{number}", agent="assistant" if number < many * 3 // 4 else "other")
            for number in range(many)
        ]
        await w.db.write(lambda tx: [w.runtime.receive(tx, letter) for letter in letters])
        await w.runtime.start()
        w.bound = 120.0
        await w.until(lambda: len(w.rows("SELECT 1 FROM runs WHERE state = 'done'")) == many or None)
        first = order[: many // 2]
        assert len(order) == many
        assert busy[1] <= 4
        assert abs(first.count("other") - len(first) / 2) <= 3
    finally:
        await w.close()


class _Speaking:
    """A model that is one function."""

    label, demo, endpoint, window = "speaking", False, None, 100_000

    def __init__(self, speak: Callable[[ModelRequest], Awaitable[ModelReply]]) -> None:
        self.price = FREE
        self._speak = speak

    async def complete(self, request: ModelRequest) -> ModelReply:
        return await self._speak(request)


async def test_activity_is_written_at_most_once_in_two_seconds_and_never_unread(tmp_path: Path) -> None:
    async with world(tmp_path, [say("", want("fire", what="a")), say("Done.")]) as w:
        got = await w.send()
        request = await w.request()
        for _ in range(50):
            w.runtime._touch(str(got.run))
        [handle] = w.runtime._touched.values()
        assert handle.when() - asyncio.get_running_loop().time() <= 2.0
        await w.decide(request, "reject")
        await w.ended(got.run)
        shown = w.mails(Kind.ACTIVITY)
        assert len({mail.activity.replaces for mail in shown if mail.activity}) == 1
        assert not any(mail.unread for mail in shown)
        assert shown[-1].files[0].name == "transcript.md"
