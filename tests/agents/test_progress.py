"""How far things have come: told in Activity while they are under way, seldom, and never in the way of the thing."""

import asyncio
from pathlib import Path

import pytest

from agents import progress
from agents.llm import ModelReply, ModelRequest
from agents.office import Office
from agents.tool import Risk, ToolCall, ToolContext, ToolResult
from agents.toolbox import Toolbox
from tests.agents.kit import Doing, World, world
from tests.agents.script import say, want


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every note is written, as if ten seconds lay between any two."""
    init = progress.Telling.__init__

    def eager(self: progress.Telling, db: object, office: Office, run: str, seconds: float) -> None:
        init(self, db, office, run, 0.0)  # type: ignore[arg-type]  # passed on as it came

    monkeypatch.setattr(progress.Telling, "__init__", eager)


def shown(w: World, run: str | None) -> str:
    """What Activity would say of a run now."""
    from agents import activity, store

    def look(tx: object) -> str:
        found = store.get_run(tx, str(run))  # type: ignore[arg-type]  # a ReadTx
        return "\n".join(line.text for line in activity._view(tx, w.runtime._office, found).lines)  # type: ignore[arg-type]  # the same

    return w.db.read(look)


async def test_an_answer_under_way_is_told_and_forgotten_when_it_is_there(tmp_path: Path) -> None:
    half, go = asyncio.Event(), asyncio.Event()

    async def slow(request: ModelRequest) -> ModelReply:
        request.progress(1234)
        half.set()
        await go.wait()
        return say("Done.")

    async with world(tmp_path, [say("Done.")]) as w:
        w.model.complete = slow  # type: ignore[method-assign]  # a model that streams
        got = await w.send()
        await w.until(lambda: w.rows("SELECT 1 FROM model_calls WHERE progress <> ''") or None)
        assert "scripted is answering: 1,234 characters so far" in shown(w, got.run)
        go.set()
        await w.ended(got.run)
        assert "is answering" not in shown(w, got.run)


async def test_a_call_under_way_tells_how_far_it_is(tmp_path: Path) -> None:
    go = asyncio.Event()

    class Slow(Doing):
        async def run(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
            ctx.progress("3 of 10 files")
            await go.wait()
            return ToolResult("all")

    async with world(tmp_path, [say("", want("look", what="a")), say("Done.")]) as w:
        w.tools = Toolbox.of(Slow(w.effects, "look", Risk.READ))
        await w.restart()
        got = await w.send()
        await w.until(lambda: w.rows("SELECT 1 FROM tool_calls WHERE progress <> ''") or None)
        assert "(under way, 3 of 10 files)" in shown(w, got.run)
        go.set()
        await w.ended(got.run)
        assert "3 of 10" not in shown(w, got.run)


async def test_notes_are_few_however_often_something_is_heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    async with world(tmp_path, [say("Done.")]) as w:
        written: list[int] = []
        telling = progress.Telling(w.db, w.runtime._office, "run", 10.0)
        for number in range(1000):
            telling.hear(lambda tx, number=number: written.append(number))  # type: ignore[misc]  # the loop's own value
        await telling.end()
        assert written == []
        telling._last -= 10.0
        for number in range(1000):
            telling.hear(lambda tx, number=number: written.append(number))  # type: ignore[misc]  # the same
        await telling.end()
        assert written == [0]
