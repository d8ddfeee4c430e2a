"""Hands that take runs: stopped at any moment, disturbed by a full disk, and never left holding one."""

import asyncio
from pathlib import Path

import pytest

from agents import loop, worker
from agents.letter import Kind
from tests.agents.kit import world
from tests.agents.script import say, want


async def test_a_stop_that_comes_while_a_run_is_being_leased_ends_it(tmp_path: Path) -> None:
    async with world(tmp_path, [say("Done.")]) as w:
        runner = w.runtime._worker._runner
        claim = runner.claim

        async def slow(run: str) -> bool:
            got = await claim(run)
            await w.word("stop")
            await asyncio.Event().wait()
            return got

        runner.claim = slow  # type: ignore[method-assign]  # a lease that takes its time
        got = await w.send()
        assert await w.ended(got.run) == "cancelled"


@pytest.mark.parametrize("where", ["model", "tool"])
async def test_a_full_disk_stops_nothing_for_good(
    tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What could not be written down is looked at again later, as after a crash: the read is done once more."""
    monkeypatch.setattr(worker, "PATIENCE", 0.01)
    async with world(tmp_path, [say("", want("look", what="a")), say("Done.")]) as w:
        complete = w.model.complete

        async def full(request: object) -> object:
            w.db.full = where == "model"
            return await complete(request)  # type: ignore[arg-type]  # the request is passed on as it came

        w.model.complete = full  # type: ignore[method-assign, assignment]  # the disk fills up while it speaks
        w.effects.hold["look"] = asyncio.Event()
        got = await w.send()
        if where == "tool":
            await w.until(lambda: w.effects.seen or None)
            w.db.full = True
        w.effects.hold["look"].set()
        await w.until(lambda: "could not be brought to a row" in caplog.text or None)
        assert w.state(got.run) == "running"
        w.model.complete = complete  # type: ignore[method-assign]  # and there is room again
        w.db.full = False
        assert await w.ended(got.run) == "done"
        assert len(w.mails(Kind.RESULT)) == 1
    caplog.clear()


async def test_after_the_last_stop_nothing_is_taken_in_hand(tmp_path: Path) -> None:
    async with world(tmp_path, [say("Done.")]) as w:
        await w.runtime.stop()
        got = await w.send()
        await w.runtime.idle()
        assert w.state(got.run) == "queued"


async def test_a_lease_is_taken_once(tmp_path: Path) -> None:
    async with world(tmp_path, [say("", want("look", what="a")), say("Done.")]) as w:
        w.effects.hold["look"] = asyncio.Event()
        got = await w.send()
        await w.until(lambda: w.effects.seen or None)
        runner = w.runtime._worker._runner
        assert not await runner.claim(str(got.run))
        w.effects.hold["look"].set()
        await w.ended(got.run)
        assert not await runner.claim(str(got.run))


@pytest.mark.parametrize("where", ["model", "tool"])
async def test_what_came_of_an_effect_is_kept_where_what_follows_meets_a_fault(
    tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is written down together with what follows, but is not lost with it: what was done is known to be done."""

    def broken(seen: object) -> None:
        raise ZeroDivisionError

    async with world(tmp_path, [say("", want("look", what="a")), say("Done.")]) as w:
        complete = w.model.complete

        async def then_broken(request: object) -> object:
            monkeypatch.setattr(loop, "decide", broken)
            return await complete(request)  # type: ignore[arg-type]  # the request is passed on as it came

        if where == "model":
            w.model.complete = then_broken  # type: ignore[method-assign, assignment]  # the fault comes with its reply
        w.effects.hold["look"] = asyncio.Event()
        got = await w.send()
        if where == "tool":
            await w.until(lambda: w.effects.seen or None)
            monkeypatch.setattr(loop, "decide", broken)
        w.effects.hold["look"].set()
        assert await w.ended(got.run) == "failed"
        assert [row["state"] for row in w.rows("SELECT state FROM model_calls")] == ["done"]
        assert [call["state"] for call in w.calls(got.run)] == ["cancelled" if where == "model" else "done"]
        assert len(w.mails(Kind.FAILURE)) == 1
