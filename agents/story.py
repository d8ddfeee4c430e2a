"""A run as a story: what was said, asked, done, decided and paid, in the order in which it happened.

The rule: made from the rows alone; what somebody else wrote is told as their words, and nothing is left out silently
(what is shortened says so).
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from agents import journal, store
from agents.budget import MICRO
from agents.ports import Millis, ReadTx
from agents.states import RunState, StepKind
from agents.store import Call, Run

LONGEST: Final = 2000


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened: when, what kind, by whom, in a line (`title`) and in full (`text`)."""

    at: Millis
    kind: str
    who: str
    title: str
    text: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


def of_run(tx: ReadTx, run: Run) -> list[Entry]:
    """The story of one run, oldest first. Things of one moment stand as they depend on each other."""
    entries = [
        *_models(tx, run),
        *_steps(tx, run),
        *_calls(tx, run),
        *_requests(tx, run),
        *_end(run),
    ]
    return sorted(entries, key=lambda entry: entry.at)


def _steps(tx: ReadTx, run: Run) -> Iterator[Entry]:
    for step in store.steps(tx, run.id):
        if step.kind is StepKind.USER:
            letter = journal.letter_of(step.body)
            files = f" with {', '.join(file.name for file in letter.attachments)}" if letter.attachments else ""
            yield Entry(step.at, "letter", letter.sender, f"{letter.subject}{files}", _short(letter.text))
        elif step.kind is StepKind.MODEL:
            calls = step.body.get("calls") or []
            title = f"wants {', '.join(calls)}" if calls else "answers"
            yield Entry(step.at, "answer", run.agent, title, _short(step.body.get("text", "")))
        elif step.kind is StepKind.NOTE:
            yield Entry(step.at, "answer", run.agent, "gave an empty answer")
        elif step.kind is StepKind.COMPACT:
            yield Entry(step.at, "summary", step.body["model"], "summed up the part before", _short(step.body["text"]))


def _models(tx: ReadTx, run: Run) -> Iterator[Entry]:
    for row in tx.all("agents.models.of_run", run=run.id):
        tokens = (row["tok_in"] or 0) + (row["tok_out"] or 0)
        facts = {"tokens": tokens, "cost": (row["cost_u"] or 0) / MICRO, "purpose": row["purpose"]}
        ended = row["ended"] or row["created"]
        seconds = (ended - row["created"]) / 1000
        said = {
            "done": f"took {seconds:.1f} s, {tokens:,} tokens",
            "failed": f"failed ({row['fault']})",
            "lost": "was cut off; what was set aside for it counts as spent",
            "reserved": "is being asked",
        }[row["state"]]
        yield Entry(ended, "model", row["model"], said, _short(row["text"] or ""), {**facts, "seconds": seconds})


def _calls(tx: ReadTx, run: Run) -> Iterator[Entry]:
    for row in tx.all("agents.calls.of_run", run=run.id):
        call = store.to_call(row)
        facts = {"state": call.state.value, "args": dict(call.args), "risk": call.risk.value, "child": call.child}
        yield Entry(call.ended or call.started or call.created, "tool", call.tool, _called(call), _result(call), facts)


def _called(call: Call) -> str:
    args = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in call.args.items())
    args = args if len(args) <= 200 else f"{args[:199]}…"
    notes = ", ".join(note for note in (call.state.value, call.note) if note)
    return f"({args}) {notes}"


def _result(call: Call) -> str:
    return _short(call.result or "")


def _requests(tx: ReadTx, run: Run) -> Iterator[Entry]:
    for row in tx.all("agents.requests.of_run", run=run.id):
        shown = store.json_object(row["shown"])
        title = f"{shown.get('title', '')} [{row['code']}]"
        yield Entry(row["created"], "request", row["kind"], title, facts={"state": row["state"]})
        if row["decided"] is not None:
            by = f" by {row['by']} via {row['via']}" if row["by"] else ""
            yield Entry(row["decided"], "decision", row["state"], f"[{row['code']}] {row['state']}{by}")


def _end(run: Run) -> Iterator[Entry]:
    if run.ended is not None:
        why = "" if run.state is RunState.DONE else _short(run.outcome)
        yield Entry(run.ended, "end", run.agent, f"ended as {run.state.value}", why)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}\n[... {len(text) - LONGEST:,} more characters ...]"
