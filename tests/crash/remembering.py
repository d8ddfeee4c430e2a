"""Plays notes and granted folders with SIGKILL at every point, each in a forked process, and reports what did not hold.

python -m tests.crash.remembering FOLDER FIRST LAST [--step N] [--twice SEED] [--fault NAME]

A child turns memory on, has an agent keep a note, forget another, and write a file that is approved; the next child
opens the same file and goes on with the same.
"""

import os
from pathlib import Path
from typing import Any

from agents import ids, notes
from agents.folders import grants, walk
from agents.folders.grants import Wish
from agents.letter import Kind
from agents.notes import New, Note
from agents.offer import Offer
from agents.ports import WriteTx
from agents.toolbox import Toolbox
from agents.tools import forget, read_result, recall, remember, write_file
from tests.agents import invariants
from tests.agents.kit import World
from tests.agents.script import ScriptedModel, say, want
from tests.crash.kills import Faults, Killer, arguments, report
from tests.crash.stage import approve, asked

OLD = "an older note"


def script(code: str) -> list[Any]:
    return [
        say("", want("remember", text="Tea, no milk."), want("forget", note=code)),
        say("", want("write_file", path="notes/plan.md", text="# Plan\n")),
        say("Done."),
    ]


def _plant_twice() -> None:
    def keep(tx: WriteTx, now: int, new: New) -> Note:
        return real(tx, now, New(new.account, new.agent, f"{new.text} {now}{os.urandom(4).hex()}", os.urandom(8).hex()))

    real, notes.keep = notes.keep, keep


def _plant_append() -> None:
    def write(root: Path, names: Any, data: bytes, **_: Any) -> None:
        with root.joinpath(*names).open("ab") as file:
            file.write(data)

    walk.write = write


FAULTS: Faults = {"keeps-twice": _plant_twice, "appends": _plant_append}
"""Faults planted to see that the sweep notices them."""


async def play(home: Path, killer: Killer | None) -> World:
    """Do it all, or go on with it. The world is left open."""
    w = World(home, ScriptedModel({}))
    w.probe = killer
    await w.open(start=False)
    made = write_file.make(Offer(db=w.db))
    assert made is not None
    box = Toolbox.of(
        made,
        remember.Remember(remember.SPEC),
        forget.Forget(forget.SPEC),
        recall.Recall(recall.SPEC),
        read_result.ReadResult(read_result.SPEC),
    )
    object.__setattr__(w.runtime._office, "toolbox", box)
    (home / "granted").mkdir(exist_ok=True)
    code = await w.db.write(lambda tx: _prepare(tx, w, home))
    w.model._scripts = {"": script(code)}  # type: ignore[attr-defined]  # the scripted model; the name is known only now
    await w.runtime.start()
    await w.send()
    async for found in asked(w):
        for request in found:
            verdict, text = approve(request)
            await w.decide(request, verdict, text=text)
    return w


def _prepare(tx: WriteTx, w: World, home: Path) -> str:
    """What stands before the task: in one transaction, so that it is there whole or not at all."""
    w.runtime.memory.turn(tx, 1, True, "ada", "test")
    if grants.of_account(tx, 1):
        return _old_code(tx)
    grants.grant(tx, w.clock.now(), Wish(1, str(home / "granted"), "notes", writes=True), home / "data")
    return notes.keep(tx, w.clock.now(), New(1, "assistant", OLD, "before")).code


def _old_code(tx: WriteTx) -> str:
    rows = tx.all("agents.audit.of_account", account=1, limit=1000)
    first = next(row["subject"] for row in reversed(rows) if row["what"] == "note.kept")
    return ids.short_code("N", first)


def check(w: World, home: Path) -> list[str]:
    """Each effect was had once, whatever happened in between."""
    wrong: list[str] = []

    def same(what: str, found: Any, wanted: Any) -> None:
        if found != wanted:
            wrong.append(f"{what}: {found}, not {wanted}")

    kept = w.rows("SELECT text FROM notes")
    same("notes", [row["text"] for row in kept], ["Tea, no milk."])
    same("messages of notes", len(w.mails(Kind.MEMORY)), 1)
    same("results", len(w.mails(Kind.RESULT)), 1)
    folder = home / "granted"
    same("files", {path.name: path.read_text() for path in folder.iterdir()}, {"plan.md": "# Plan\n"})
    forgotten = w.rows("SELECT count(*) AS n FROM audit WHERE what = 'note.forgotten'")
    same("forgotten", forgotten[0]["n"], 1)
    return wrong + invariants.broken(w, ended=True)


async def part(home: Path, killer: Killer | None) -> list[str]:
    w = await play(home, killer)
    wrong = check(w, home)
    await w.close()
    return wrong


if __name__ == "__main__":
    report(arguments(FAULTS).parse_args(), part, FAULTS, within=30)
