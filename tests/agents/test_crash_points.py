"""Every point at which a process could die while models stand in for others and long tasks are summed up.

After each commit the folder is copied as a dead process would leave it; a new runtime takes up each copy, and must end
the task with every effect had once, every call settled, and a valid history.
"""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from agents import compact
from agents.llm import ModelError, ModelFault, ModelReply, ModelRequest
from agents.tool import Risk, ToolCall, ToolContext, ToolResult
from agents.toolbox import Toolbox
from tests.agents.invariants import broken
from tests.agents.kit import Doing, World, toolbox
from tests.agents.script import ScriptedModel, Turn, say, want

LONG = "The river is wide. " * 300


class Copying:
    """A probe that keeps what a process killed right after a commit would leave."""

    def __init__(self, home: Path, to: Path) -> None:
        self._home = home
        self._to = to
        self.copies: list[Path] = []

    def point(self, name: str) -> None:
        if name.startswith("commit.after"):
            copy = self._to / f"{len(self.copies):03}"
            shutil.copytree(self._home, copy)
            self.copies.append(copy)


def reading(request: ModelRequest) -> ModelReply:
    """Reads twelve long texts and notes one thing in the middle; says what it has by what the history tells."""
    if request.system == compact.SYSTEM:
        return say("SUMMARY")
    told = "\n".join(message.text for message in request.messages)
    done = sum(f"({number})" in told or f'"{number}"' in told for number in range(12))
    reads = [number for number in range(12) if f"read gave {number}" in told]
    step = (max(reads) + 1) if reads else done
    if step == 5 and "Note: done" not in told and "noted x" not in told:
        return say("", want("note", what="x"))
    return say("", want("read", what=str(step))) if step < 12 else say("Done.")


SCENARIOS: Mapping[str, Mapping[str, Sequence[Turn]]] = {
    "stand-in": {
        "one": [ModelError(ModelFault.AUTH, "401")],
        "two": [say("", want("look", what="a")), say("", want("note", what="x")), say("Done.")],
    },
    "stand-in twice": {
        "one": [ModelError(ModelFault.GONE, "404")],
        "two": [say("", want("look", what="a")), ModelError(ModelFault.QUOTA, "no credit")],
        "three": [say("", want("look", what="a")), say("", want("note", what="x")), say("Done.")],
    },
    "summing up": {"one": [reading]},
}


def made(home: Path, scenario: str) -> World:
    scripts = SCENARIOS[scenario]
    window = 12_000 if scenario == "summing up" else 100_000
    models = {tag: ScriptedModel({"": turns}, label=tag, window=window) for tag, turns in scripts.items()}
    first, *others = scripts
    w = World(home, models[first])
    w.bound = 30.0
    agent = replace(w.settings.agents["assistant"], fallbacks=tuple(others))
    w.settings = replace(w.settings, agents={**w.settings.agents, "assistant": agent})
    w.others = {tag: models[tag] for tag in others}

    class Read(Doing):
        async def run(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
            return ToolResult(f"read gave {call.args['what']}\n{LONG}")

    read = Read(w.effects, "read", Risk.READ)
    w.tools = Toolbox([lambda: {**toolbox(w.effects).all()[0], "read": read}.values()])
    return w


@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_a_death_after_any_commit_is_taken_up(
    tmp_path: Path, scenario: str, count: Callable[[int, int], int]
) -> None:
    home, copies = tmp_path / "home", tmp_path / "copies"
    home.mkdir()
    copies.mkdir()
    w = made(home, scenario)
    probe = Copying(home, copies)
    w.probe = probe
    await w.open()
    got = await w.send("Find the rivers.")
    assert await w.ended(got.run) == "done"
    await w.runtime.idle()
    await w.close()
    assert len(probe.copies) > 8
    for copy in probe.copies[1 :: count(3 if scenario != "summing up" else 7, 1)]:
        again = made(copy, scenario)
        await again.open()
        rows = again.rows("SELECT id FROM runs")
        if rows:
            assert await again.ended(rows[0]["id"]) == "done", copy.name
            await again.runtime.idle()
            assert broken(again, ended=True) == [], copy.name
            notes = again.rows("SELECT state FROM tool_calls WHERE tool = 'note'")
            assert [row["state"] for row in notes] == ["done"], copy.name
        await again.close()
