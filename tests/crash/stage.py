"""Plays one scenario with SIGKILL at every point, each in a forked process, and reports what did not hold.

python -m tests.crash.stage SCENARIO FOLDER FIRST LAST [--twice SEED] [--fault NAME]

A child plays the user until the run has ended or the probe kills it; the next child opens the same file, goes on
playing, and checks the invariants.
"""

import json
import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from agents import approvals, compact, recovery, sender, store
from agents.letter import Kind
from agents.llm import ModelError, ModelFault, ModelReply, ModelRequest, ResultMessage
from agents.office import Office
from agents.ports import Approver, WriteTx
from agents.requests import RequestInfo
from agents.seconds import Seat
from agents.states import OutboxState, RequestKind
from agents.tool import Risk, ToolCall, ToolContext, ToolResult
from config.settings import Approvals
from tests.agents import invariants
from tests.agents.kit import Doing, World, toolbox
from tests.agents.script import ScriptedModel, Turn, say, want
from tests.crash.kills import Faults, Killer, arguments, report

MAIL = {"to": ["maya@example.org"], "subject": "Hello", "text": "Hi."}
DELEGATE = want("delegate", skill="summariser", task="Sum it up.")


@dataclass(frozen=True)
class Scenario:
    """What the models say, what the user answers to each request, and how often each effect happens at most. With `two`
    everything needs a second person, who answers the same, and first. `settles` is SQL that gives a row when what the
    scenario is about has happened.
    """

    scripts: Mapping[str, list[Turn]]
    answer: Callable[[RequestInfo], tuple[str, str]]
    effects: Mapping[str, int]
    ends: str = "done"
    word: str = ""
    stand_ins: Mapping[str, list[Turn]] = field(default_factory=dict)
    window: int = 100_000
    settles: str = ""
    two: bool = False


def approve(request: RequestInfo) -> tuple[str, str]:
    return ("done", "") if request.kind is RequestKind.UNKNOWN else ("approve", "")


def reject(request: RequestInfo) -> tuple[str, str]:
    return ("skip", "") if request.kind is RequestKind.UNKNOWN else ("reject", "not now")


def again(request: RequestInfo) -> tuple[str, str]:
    return "approve", ""


def half(request: RequestInfo) -> tuple[str, str]:
    """Of two people the second says yes, and the owner no."""
    if request.seat is Seat.SECOND:
        return "approve", ""
    return reject(request)


def answer(request: RequestInfo) -> tuple[str, str]:
    return ("answer", "the second") if request.kind is RequestKind.QUESTION else approve(request)


def _reading(request: ModelRequest) -> ModelReply:
    """Has something done, reads six long texts, and answers; the history tells what it has had, summed up or not."""
    told = "\n".join(message.text for message in request.messages)
    if request.system == compact.SYSTEM:
        seen = [number for number in range(6) if f"text {number}:" in told]
        return say("SUMMARY of " + " ".join(f"text {number}:" for number in seen))
    fired = any(isinstance(message, ResultMessage) and message.name == "fire" for message in request.messages)
    if not fired and "SUMMARY" not in told:
        return say("", want("fire", what="a"))
    had = [number for number in range(6) if f"text {number}:" in told]
    return say("", want("long", what=str(max(had, default=-1) + 1))) if len(had) < 6 else say("Done.")


class _Long(Doing):
    """A tool with a long result."""

    async def run(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        return ToolResult(f"text {call.args['what']}: " + "The river is wide. " * 300)


STAND_IN: list[Turn] = [say("", want("look", what="a")), say("", want("fire", what="b")), say("Done.")]

SCENARIOS: Mapping[str, Scenario] = {
    "stand-in": Scenario(
        {"": [ModelError(ModelFault.AUTH, "401")]},
        approve,
        {"fire": 1},
        stand_ins={
            "two": [say("", want("look", what="a")), ModelError(ModelFault.QUOTA, "no credit")],
            "three": STAND_IN,
        },
        settles="SELECT 1 FROM runs WHERE fallback = 2",
    ),
    "sum": Scenario(
        {"": [_reading]}, approve, {"fire": 1}, window=8_000, settles="SELECT 1 FROM steps WHERE kind = 'compact'"
    ),
    "send": Scenario({"": [say("", want("send_mail", **MAIL)), say("Done: sent.")]}, approve, {"mail": 1}),
    "reject": Scenario({"": [say("", want("fire", what="a")), say("Not done.")]}, reject, {"fire": 0}),
    "ask": Scenario({"": [say("", want("ask_user", question="Which?")), say("Done.")]}, answer, {}),
    "delegate": Scenario(
        {
            "Assistant": [say("", DELEGATE), say("Done.")],
            "Summariser": [say("", want("fire", what="a")), say("Short.")],
        },
        approve,
        {"fire": 1},
    ),
    "parallel": Scenario(
        {
            "": [
                say("", want("look", what="a"), want("fire", what="b"), want("note", what="c"), want("look", what="d")),
                say("Done."),
            ]
        },
        approve,
        {"fire": 1},
    ),
    "unknown": Scenario({"": [say("", want("fire", what="a")), say("Done.")]}, again, {"fire": 99}),
    "stop": Scenario(
        {"": [say("", want("look", what="a"), want("fire", what="b")), say("Done.")]},
        approve,
        {"fire": 0},
        "cancelled",
        "stop",
    ),
    "two": Scenario({"": [say("", want("send_mail", **MAIL)), say("Done: sent.")]}, approve, {"mail": 1}, two=True),
    "two-delegate": Scenario(
        {
            "Assistant": [say("", DELEGATE), say("Done.")],
            "Summariser": [say("", want("fire", what="a"), want("fire", what="b")), say("Short.")],
        },
        approve,
        {"fire:a": 1, "fire:b": 1},
        two=True,
    ),
    "two-unknown": Scenario({"": [say("", want("fire", what="a")), say("Done.")]}, again, {"fire": 99}, two=True),
    "two-no": Scenario({"": [say("", want("fire", what="a")), say("Not done.")]}, half, {"fire": 0}, two=True),
}
TWO: Approvals = Approvals(two=("send_mail", "fire"), second=("bo",))
SEATS = {Seat.SECOND: "bo@postroom.internal", Seat.OWNER: "you@postroom.internal"}


def _always_again(tx: WriteTx, office: Office, run: store.Run, call: store.Call) -> None:
    tx.run("agents.calls.again", call=call.id)


def _always_resend(tx: WriteTx, office: Office, row: sqlite3.Row, why: str) -> None:
    sender.phase(tx, office, row["key"], OutboxState.DATA_SENT, OutboxState.QUEUED)


def _never_take_over(tx: WriteTx, office: Office, run: store.Run) -> None:
    tx.run("agents.runs.recover", run=run.id, now=office.now())


def _one_is_enough(case: approvals._Case, item: store.Item) -> bool:
    return True


FAULTS: Faults = {
    "one-is-enough": lambda: setattr(approvals, "_vote", _one_is_enough),
    "repeats-effects": lambda: setattr(recovery, "_take_over_call", _always_again),
    "resends-mail": lambda: setattr(sender, "uncertain", _always_resend),
    "forgets-calls": lambda: setattr(recovery, "take_over", _never_take_over),
}
"""Faults planted to see that the sweep notices them."""


async def play(home: Path, scenario: Scenario, killer: Killer | None) -> World:
    """Be the user until everything has ended. The world is left open."""
    model = ScriptedModel(scenario.scripts, endpoint="model.example.net", window=scenario.window)
    w = World(home, model, approvals=TWO if scenario.two else None)
    w.mail.second = Approver(SEATS[Seat.SECOND], SEATS[Seat.OWNER], 2, "2") if scenario.two else None
    w.probe = killer
    w.effects.log = home / "effects.log"
    w.tools = toolbox(w.effects, _Long(w.effects, "long", Risk.READ))
    w.others = {tag: ScriptedModel({"": turns}, label=tag) for tag, turns in scenario.stand_ins.items()}
    agent = replace(w.settings.agents["assistant"], fallbacks=tuple(scenario.stand_ins))
    w.settings = replace(w.settings, agents={**w.settings.agents, "assistant": agent})
    await w.open()
    await w.send()
    await w.until(lambda: w.rows("SELECT 1 FROM runs"))
    (home / "accepted").touch()
    async for found in asked(w):
        if scenario.word:
            await w.word(scenario.word)
        for request in found if not scenario.word else []:
            for seat in SEATS if scenario.two else (Seat.OWNER,):
                verdict, text = scenario.answer(replace(request, seat=seat))
                await w.decide(request, verdict, text=text, seat=seat, by=SEATS[seat])
    return w


async def asked(w: World) -> AsyncIterator[Sequence[RequestInfo]]:
    """What is open, each time that the user is asked something, until no run goes on or waits."""
    while True:
        await w.until(lambda: wants_user(w) or all_ended(w))
        found = w.db.read(lambda tx: w.runtime.waiting(tx, 1))
        if not found:
            return
        yield found


def wants_user(w: World) -> bool | None:
    """Whether a request is open; a condition for `World.until`."""
    return bool(w.db.read(lambda tx: w.runtime.waiting(tx, 1))) or None


def all_ended(w: World) -> bool | None:
    """Whether no run goes on or waits; a condition for `World.until`."""
    return not w.rows("SELECT 1 FROM runs WHERE ended IS NULL") or None


async def check(w: World, scenario: Scenario, home: Path) -> list[str]:
    """The invariants, after everything has ended."""
    wrong: list[str] = []

    def none(what: str, sql: str) -> None:
        if rows := w.rows(sql):
            wrong.append(f"{what}: {json.dumps(rows, default=str)[:300]}")

    log = home / "effects.log"
    effects = log.read_text().split() if log.exists() else []
    for name, most in scenario.effects.items():
        had = sum(effect.startswith(f"{name}:") for effect in effects)
        asked = w.rows("SELECT count(*) AS n FROM requests WHERE kind = 'unknown' AND state = 'approved'")[0]["n"]
        if had > min(most, 1 + asked):
            wrong.append(f"{name} happened {had} times, the user let it {1 + asked} times")
    if len(w.rows("SELECT 1 FROM runs WHERE depth = 0")) != 1:
        wrong.append("not exactly one run")
    none(f"a run is not {scenario.ends}", f"SELECT id, state, outcome FROM runs WHERE state <> '{scenario.ends}'")
    if scenario.settles and not w.rows(scenario.settles):
        wrong.append(f"never so: {scenario.settles}")
    ends = w.mails(Kind.RESULT, Kind.FAILURE)
    if len(ends) != 1:
        wrong.append(f"{len(ends)} last mails")
    none(
        "a spent approval ran nothing",
        "SELECT a.id FROM approvals AS a JOIN tool_calls AS c ON c.id = a.call"
        " WHERE a.spent_at IS NOT NULL AND c.attempt = 0",
    )
    none(
        "one of two people let something run",
        "SELECT a.id, a.state FROM approvals AS a JOIN seconds AS s ON s.request = a.request WHERE a.state = 'approved'"
        " AND (SELECT count(*) FROM votes AS v WHERE v.item = a.id) <> 2",
    )
    if scenario.two and not w.rows("SELECT 1 FROM seconds"):
        wrong.append("nobody was asked for a second approval")
    return wrong + invariants.broken(w, ended=True)


async def part(scenario: Scenario, home: Path, killer: Killer | None) -> list[str]:
    w = await play(home, scenario, killer)
    wrong = await check(w, scenario, home)
    await w.close()
    return wrong


def main() -> None:
    given = arguments(FAULTS, SCENARIOS).parse_args()
    report(given, partial(part, SCENARIOS[given.scenario]), FAULTS, within=20)


if __name__ == "__main__":
    main()
