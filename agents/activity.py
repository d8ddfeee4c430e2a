"""Activity: one message for every run and every delegated task, replaced as its state changes.

The rule: it is made from the rows alone, so it can be written again at any time; the state in which a run ends is
always written, in the transaction that ends it. States in between may be skipped.
"""

import json
from decimal import Decimal

from agents import chain, ids, journal, mails, outbox, store
from agents.budget import MICRO
from agents.letter import ActivityLine, ActivityView, File, Kind, Outgoing
from agents.office import Office
from agents.ports import ReadTx, WriteTx
from agents.states import CallState, StepKind
from agents.store import Call, Run, Step

_PREVIEW = 60
_STARTED = {
    "typed": "started by your mail",
    "retry": "started by your mail",
    "schedule": "started by your schedule",
}
_SAID = {
    CallState.DONE: "",
    CallState.FAILED: "failed",
    CallState.INVALID: "not run",
    CallState.DENIED: "refused",
    CallState.EXPIRED: "expired",
    CallState.CANCELLED: "cancelled",
    CallState.SKIPPED: "skipped",
    CallState.UNKNOWN: "outcome unknown",
    CallState.WAITING_APPROVAL: "waits for you",
    CallState.APPROVED: "about to run",
    CallState.STARTED: "under way",
}


def put(tx: WriteTx, office: Office, run: Run) -> None:
    """Queue the run's Activity message as it is now."""
    tx.run("agents.runs.activity", run=run.id, now=office.now())
    key = f"{run.id}.activity.{run.activity + 1}"
    view = _view(tx, office, run)
    outbox.put(
        tx,
        office,
        Outgoing(
            key=key,
            kind=Kind.ACTIVITY,
            account=run.account,
            agent=run.agent,
            thread=run.thread,
            subject=f"[{view.state}] {view.title} ({_seconds(view.seconds)})",
            body=_body(run, view),
            state=view.state,
            run=run.id,
            step=run.activity + 1,
            message_id=ids.message_id(key, office.settings.domain),
            files=(_transcript(tx, office, run),) if run.ended is not None else (),
            footer=mails.footer(tx, office, run),
            unread=False,
            activity=view,
        ),
        taint=run.taint,
    )


def _view(tx: ReadTx, office: Office, run: Run) -> ActivityView:
    cost = Decimal(run.cost_u) / MICRO
    end = run.ended or office.now()
    return ActivityView(
        replaces=f"{run.id}.activity",
        title=f"{mails.display(office, run.agent, run.depth)}: {run.subject}",
        state=run.state.value.replace("_", " "),
        started=run.created,
        ended=run.ended,
        seconds=(end - run.created) / 1000,
        parent=run.parent,
        lines=tuple(_lines(tx, office, run)),
        cost=cost if cost or not run.cost_unknown else None,
        cost_known=not run.cost_unknown,
    )


def _lines(tx: ReadTx, office: Office, run: Run) -> list[ActivityLine]:
    lines = [ActivityLine(run.created, _started(tx, office, run))]
    lines += [ActivityLine(call.ended or call.started or call.created, _call(office, call)) for call in _calls(tx, run)]
    lines += _models(tx, office, run)
    if run.ended is not None:
        lines.append(ActivityLine(run.ended, f"{run.state.value}, {len(run.outcome.split())} words"))
    return sorted(lines, key=lambda line: line.at)


def _started(tx: ReadTx, office: Office, run: Run) -> str:
    if run.parent is None:
        return _STARTED.get(run.origin, f"started: {run.origin}")
    parent = store.get_run(tx, run.parent)
    return f"started by {mails.display(office, parent.agent)}"


def _call(office: Office, call: Call) -> str:
    said = _SAID[call.state]
    what = mails.headline(office, call) if call.fault is None else call.tool
    shown = " ".join(what.split())
    shown = shown if len(shown) <= _PREVIEW else f"{shown[: _PREVIEW - 1]}…"
    progress = call.progress if call.ended is None else ""
    notes = ", ".join(note for note in (said, call.note, progress, call.source) if note)
    return f"{call.tool}: {shown}" + (f" ({notes})" if notes else "")


def _models(tx: ReadTx, office: Office, run: Run) -> list[ActivityLine]:
    """What is worth telling of the models: who failed and why, who stood in, what was summed up, how far one is."""
    first = office.models.get(chain.tags(tx, office, run)[0])
    asked = first.label if first is not None else ""
    lines: list[ActivityLine] = []
    for row in tx.all("agents.models.of_run", run=run.id):
        if row["model"] != asked and asked:
            lines.append(ActivityLine(row["created"], f"{row['model']} stands in for {asked}"))
        asked = row["model"]
        at = row["ended"] or office.now()
        if row["state"] == "failed":
            lines.append(ActivityLine(at, f"{asked}: {str(row['text']).rstrip('.')}"))
        elif row["state"] == "reserved" and row["progress"]:
            lines.append(ActivityLine(at, f"{asked} is answering: {row['progress']} characters so far"))
        elif row["state"] == "done" and row["purpose"] == "compact":
            lines.append(ActivityLine(at, f"{asked} summed up the earlier part"))
    return lines


def _calls(tx: ReadTx, run: Run) -> list[Call]:
    return [store.to_call(row) for row in tx.all("agents.calls.of_run", run=run.id)]


def _body(run: Run, view: ActivityView) -> str:
    """What stands below the story, which whoever writes the mail sets from the view."""
    calls = f"{run.n_model} model call{'' if run.n_model == 1 else 's'}"
    tools = f"{run.n_tool} tool{'' if run.n_tool == 1 else 's'}"
    return f"{calls}, {tools}." + (" The whole transcript is attached." if view.ended is not None else "")


def _seconds(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.0f} h"


def _transcript(tx: ReadTx, office: Office, run: Run) -> File:
    parts = [_part(tx, run, step) for step in store.steps(tx, run.id)]
    text = (
        f"# {mails.display(office, run.agent, run.depth)}: {run.subject}\n\n"
        + "\n\n".join(part for part in parts if part)
        + "\n"
    )
    return File("transcript.md", "text/markdown", text.encode("utf-8", "replace"))


def _part(tx: ReadTx, run: Run, step: Step) -> str:
    if step.kind is StepKind.USER:
        letter = journal.letter_of(step.body)
        return f"## {letter.sender}\n\n{letter.text}"
    if step.kind is StepKind.NOTE:
        return "## (an empty answer)"
    if step.kind is StepKind.COMPACT:
        by = step.body["model"]
        return f"## (the part above, summed up by {by} for the requests that follow)\n\n{step.body['text']}"
    if step.kind is StepKind.RESULTS:
        return ""
    calls = "\n\n".join(_call_part(call) for call in store.calls_of_step(tx, run.id, step.seq))
    return f"## {run.agent}\n\n{step.body.get('text', '')}\n\n{calls}".rstrip()


def _call_part(call: Call) -> str:
    result = (call.result or "").replace("\n", "\n    ")
    return (
        f"### {call.tool} ({call.state.value})\n\n    {json.dumps(dict(call.args), ensure_ascii=False)}\n\n    {result}"
    )
