"""Rows as records: what the runtime reads from its tables, typed and checked.

The rule: a row that does not fit its type stops whoever reads it (Malformed); nothing is read as if it were something
near.
"""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agents.codec import Malformed
from agents.letter import Attachment
from agents.llm import ModelFault
from agents.ports import ReadTx
from agents.states import CallState, PlanKind, RequestKind, RequestState, RunState, StepKind
from agents.tool import Risk


@dataclass(frozen=True, slots=True)
class Run:
    """A run. `root` is itself or the run whose child it is; `raised` is what the user added to the limits."""

    id: str
    account: int
    agent: str
    thread: str
    root: str
    parent: str | None
    parent_call: str | None
    depth: int
    origin: str
    model: str | None
    subject: str
    answers: str | None
    message: str | None
    state: RunState
    boot: str | None
    deadline: int
    cancel_at: int | None
    cancel_why: str
    taint: bool
    shrink: int
    raised: Mapping[str, Any]
    n_model: int
    n_tool: int
    tokens: int
    cost_u: int
    cost_unknown: bool
    active_ms: int
    outcome: str
    activity: int
    created: int
    ended: int | None
    fallback: int


@dataclass(frozen=True, slots=True)
class Step:
    """A journal entry; the body's shape depends on the kind (see agents.journal)."""

    seq: int
    kind: StepKind
    body: Mapping[str, Any]
    at: int


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call."""

    id: str
    run: str
    seq: int
    idx: int
    tool: str
    def_hash: str
    args: Mapping[str, Any]
    args_hash: str
    asked_hash: str
    raw_args: str
    risk: Risk
    plan: PlanKind
    state: CallState
    gated: bool
    fault: str | None
    repeats: int
    attempt: int
    idem_key: str
    not_before: int
    child: str | None
    result: str | None
    result_hash: str | None
    whole: str | None
    ok: bool
    note: str
    untrusted: bool
    source: str
    files: str
    created: int
    started: int | None
    ended: int | None
    progress: str = ""
    asked: str | None = None


@dataclass(frozen=True, slots=True)
class Try:
    """One model call for the next journal entry. `retry_at` None means that it is not tried again."""

    state: str
    fault: ModelFault | None
    text: str
    retry_at: int | None
    at: int
    model: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """A request mail."""

    id: str
    account: int
    run: str
    agent: str
    thread: str
    kind: RequestKind
    code: str
    token: str
    revision: int
    grantable: bool
    state: RequestState
    shown: str
    key: str
    created: int
    expires: int
    decided: int | None
    by: str
    via: str


@dataclass(frozen=True, slots=True)
class Item:
    """One call of a request."""

    id: str
    call: str
    number: int
    revision: int
    state: str
    tool: str
    run: str
    call_state: CallState
    args_hash: str
    def_hash: str


def json_object(text: str) -> Mapping[str, Any]:
    """A JSON object from a column. Raises Malformed."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as fault:
        raise Malformed(f"not JSON: {fault}") from None
    if not isinstance(value, dict):
        raise Malformed("a JSON object is wanted")
    return value


def to_run(row: sqlite3.Row) -> Run:
    return Run(
        **{
            name: row[name]
            for name in ("id", "account", "agent", "thread", "root", "parent", "parent_call", "depth", "origin")
        },
        **{
            name: row[name]
            for name in ("model", "subject", "answers", "message", "boot", "deadline", "cancel_at", "shrink")
        },
        **{name: row[name] for name in ("n_model", "n_tool", "cost_u", "active_ms", "activity", "created", "ended")},
        fallback=row["fallback"],
        state=RunState(row["state"]),
        cancel_why=row["cancel_why"] or "",
        outcome=row["outcome"] or "",
        taint=bool(row["taint"]),
        cost_unknown=bool(row["cost_unknown"]),
        tokens=row["tok_in"] + row["tok_out"],
        raised=json_object(row["raised"]),
    )


def to_call(row: sqlite3.Row) -> Call:
    return Call(
        **{
            name: row[name]
            for name in ("id", "run", "seq", "idx", "tool", "def_hash", "args_hash", "asked_hash", "raw_args")
        },
        **{
            name: row[name]
            for name in ("fault", "repeats", "attempt", "idem_key", "not_before", "child", "result", "result_hash")
        },
        **{name: row[name] for name in ("whole", "note", "source", "files", "created", "started", "ended")},
        progress=row["progress"],
        asked=row["asked"],
        args=json_object(row["args"]),
        risk=Risk(row["risk"]),
        plan=PlanKind(row["plan"]),
        state=CallState(row["state"]),
        gated=bool(row["gated"]),
        ok=bool(row["ok"]),
        untrusted=bool(row["untrusted"]),
    )


def to_step(row: sqlite3.Row) -> Step:
    return Step(row["seq"], StepKind(row["kind"]), json_object(row["body"]), row["at"])


def to_request(row: sqlite3.Row) -> Request:
    return Request(
        **{
            name: row[name]
            for name in ("id", "account", "run", "agent", "thread", "code", "token", "revision", "shown", "key")
        },
        **{name: row[name] for name in ("created", "expires", "decided")},
        kind=RequestKind(row["kind"]),
        state=RequestState(row["state"]),
        grantable=bool(row["grantable"]),
        by=row["by"] or "",
        via=row["via"] or "",
    )


def to_item(row: sqlite3.Row) -> Item:
    names = ("id", "call", "number", "revision", "state", "tool", "run", "args_hash", "def_hash")
    return Item(**{name: row[name] for name in names}, call_state=CallState(row["call_state"]))


def to_try(row: sqlite3.Row) -> Try:
    fault = ModelFault(row["fault"]) if row["fault"] else None
    return Try(row["state"], fault, row["text"] or "", row["retry_at"], row["created"], row["model"])


def find_run(tx: ReadTx, run: str) -> Run | None:
    """One run, or None: its thread may have been deleted."""
    row = tx.one("agents.runs.get", run=run)
    return to_run(row) if row else None


def get_run(tx: ReadTx, run: str) -> Run:
    """One run; KeyError when there is none."""
    found = find_run(tx, run)
    if found is None:
        raise KeyError(run)
    return found


def get_call(tx: ReadTx, call: str) -> Call:
    """One call; KeyError when there is none."""
    row = tx.one("agents.calls.get", call=call)
    if row is None:
        raise KeyError(call)
    return to_call(row)


def calls_of_step(tx: ReadTx, run: str, seq: int) -> tuple[Call, ...]:
    return tuple(to_call(row) for row in tx.all("agents.calls.of_step", run=run, seq=seq))


def open_calls(tx: ReadTx, run: str) -> tuple[Call, ...]:
    return tuple(to_call(row) for row in tx.all("agents.calls.open_of_run", run=run))


def steps(tx: ReadTx, run: str) -> tuple[Step, ...]:
    return tuple(to_step(row) for row in tx.all("agents.steps.of_run", run=run))


def items(tx: ReadTx, request: str) -> tuple[Item, ...]:
    return tuple(to_item(row) for row in tx.all("agents.requests.items", request=request))


def attachments(step: Mapping[str, Any]) -> tuple[Attachment, ...]:
    """The files named in the body of a `user` entry."""
    return tuple(Attachment(**entry) for entry in step.get("attachments", ()))
