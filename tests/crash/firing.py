"""Plays two days of schedules with SIGKILL at every point, each in a forked process, and reports what did not hold.

python -m tests.crash.firing FOLDER FIRST LAST [--twice SEED] [--fault NAME]

A child sets a reminder, a daily task, one that fails to begin and a webhook, lets their times come, calls the webhook,
and waits until all is quiet; the next child opens the same file and does the same again, with its clock back at the
start, as a sender that had no answer does.
"""

from functools import partial
from pathlib import Path
from typing import Any

from agents import trigger
from agents.letter import Kind
from agents.ports import ReadTx, WriteTx
from agents.states import RequestKind
from agents.trigger import New, Trigger
from agents.trigger_event import Delivery
from agents.wall import Occurrence, next_occurrence
from tests.agents import invariants
from tests.agents.kit import World
from tests.agents.script import ScriptedModel, say, want
from tests.agents.triggers.clock import moment
from tests.crash.kills import Faults, Killer, arguments, report
from tests.crash.stage import asked

SCRIPT = [say("", want("note", what="a"), want("look", what="b")), say("Done.")]
CALLS = ("one", "two")
TIMES = ("2026-11-30 09:00", "2026-11-30 09:01", "2026-11-30 09:06", "2026-12-01 09:00")


def _forget(tx: ReadTx, item: Trigger, after: int) -> Occurrence | None:
    return next_occurrence(item.rule, item.tz, after)


def _again(tx: WriteTx, item: Trigger) -> None:
    """Forgets the times that were taken, as a start without the rows would."""
    tx.run("agents.triggers.forget_fires", trigger=item.id, before=2**60)


FAULTS: Faults = {"forgets-times": lambda: _plant()}
"""A fault planted to see that the sweep notices it."""


def _plant() -> None:
    create = trigger.create

    def forgetful(tx: WriteTx, now: int, new: New) -> Trigger:
        item = create(tx, now, new)
        _again(tx, item)
        if (due := _forget(tx, item, now)) is not None:
            trigger.move(tx, now, item, "active", due)
        return item

    trigger.create = forgetful


async def play(home: Path, killer: Killer | None) -> World:
    """Set the schedules, and let their times come. The world is left open."""
    w = World(home, ScriptedModel({"": SCRIPT}))
    w.clock.at = moment("2026-11-30 08:00")
    w.probe = killer
    await w.open()
    await _quiet(w)
    for new in (
        _new("remind", "remind", "2026-11-30T09:00"),
        _new("daily", "run", "0 9 * * *"),
        _new("nobody", "run", "2026-11-30T09:00", agent="nobody"),
        _new("hook", "run", "webhook deploy", overlap="queue"),
    ):
        await w.db.write(partial(trigger.create, now=w.clock.now(), new=new))
    for key in CALLS:
        await w.db.write(partial(_call, w=w, key=key))
    await _quiet(w)
    for when in TIMES:
        w.clock.at = moment(when)
        await w.runtime.tick()
        await _quiet(w)
    return w


async def _quiet(w: World) -> None:
    """Nothing runs: only then the clock may leap, or a run would seem to have worked for hours.

    A step that was under way at both kills is not tried a third time but asked about; the user says that it is done.
    """
    async for found in asked(w):
        for request in found:
            assert request.kind is RequestKind.UNKNOWN
            await w.decide(request, "done")


def _new(key: str, act: str, spec: str, agent: str = "assistant", overlap: str = "skip") -> New:
    return New(1, agent, f"thread-{key}", act, spec, "UTC", key, f"do {key}", key, overlap=overlap)


def _call(tx: WriteTx, w: World, key: str) -> None:
    """Two calls are one after the other, and the second waits for the run of the first."""
    item = trigger.named(tx, 1, "webhook", "deploy")
    assert item is not None
    taken = w.runtime.automations.deliver(tx, item, Delivery(key, f"hash of {key}", "a webhook", "red"))
    assert taken.is_kept, taken


def check(w: World) -> list[str]:
    """Every time was had once, whatever happened in between."""
    wrong: list[str] = []

    def same(what: str, found: Any, wanted: Any) -> None:
        if found != wanted:
            wrong.append(f"{what}: {found}, not {wanted}")

    same("reminders", len(w.mails(Kind.REMINDER)), 1)
    same("runs", len(w.rows("SELECT 1 FROM runs")), 4)
    same("results", len(w.mails(Kind.RESULT)), 4)
    same("failures", len(w.mails(Kind.FAILURE)), 1)
    fires = w.rows("SELECT t.key AS name, f.key, f.state FROM fires AS f JOIN triggers AS t ON t.id = f.trigger")
    same(
        "times",
        sorted((row["name"], row["key"], row["state"]) for row in fires),
        [
            ("daily", "2026-11-30T09:00", "fired"),
            ("daily", "2026-12-01T09:00", "fired"),
            ("hook", "key.one", "fired"),
            ("hook", "key.two", "fired"),
            ("nobody", "2026-11-30T09:00", "failed"),
            ("remind", "2026-11-30T09:00", "fired"),
        ],
    )
    states = {row["key"]: row["state"] for row in w.rows("SELECT key, state FROM triggers")}
    same("states", states, {"remind": "done", "daily": "active", "nobody": "failed", "hook": "active"})
    same("messages", sorted(mail.state for mail in w.mails(Kind.AUTOMATION)), ["active", "active", "failed"])
    return wrong + invariants.broken(w, ended=True)


async def part(home: Path, killer: Killer | None) -> list[str]:
    w = await play(home, killer)
    wrong = check(w)
    await w.close()
    return wrong


if __name__ == "__main__":
    report(arguments(FAULTS).parse_args(), part, FAULTS, within=30)
