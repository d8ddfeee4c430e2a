"""The mails the runtime writes to the user: results, failures, notices, with their footers.

The rule: the first line says the outcome, and whatever a model wrote, the program alone says what was done, what it
cost and who got data.
"""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal

from agents import advice, budget, chain, ids, journal, store, threads
from agents.letter import File, Footer, Kind, Outgoing, Spent, ToolCount
from agents.llm import takes
from agents.office import Office
from agents.outbox import put
from agents.ports import ReadTx, WriteTx
from agents.states import CallState, PlanKind, RunState
from agents.store import Call, Run
from agents.tool import FETCH, ToolFailed
from agents.web import address

MAX_BODY = 60_000
SHOWN_OF_LONG = 8_000
WHOLE = "answer.md"
"""An answer that is longer than people read in a mail is a file, and its beginning the mail."""

_RETRY = 'Answer this mail with "retry" to try it again.'
_ADVICE = {
    RunState.FAILED: _RETRY,
    RunState.STUCK: 'Answer this mail with "retry" to try it again, or with other words.',
    RunState.EXPIRED: 'Answer this mail with "retry" if you still want it.',
    RunState.CANCELLED: 'Answer this mail with "retry" to begin again.',
}
_HEADS = {
    RunState.FAILED: "Not done",
    RunState.STUCK: "Stopped, not finished",
    RunState.EXPIRED: "Expired, not finished",
    RunState.CANCELLED: "Stopped",
}


def moment(at: int) -> str:
    """A time as mails show it, in the zone of this machine: "Wed 2 Dec, 09:12"."""
    local = datetime.fromtimestamp(at / 1000).astimezone()
    return f"{local:%a} {local.day} {local:%b, %H:%M}"


def clock_time(at: int) -> str:
    """The time of day of a moment, in the zone of this machine."""
    return f"{datetime.fromtimestamp(at / 1000).astimezone():%H:%M}"


def reply_subject(subject: str) -> str:
    """A subject with one "Re: "."""
    subject = " ".join(subject.split()) or "your mail"
    return subject if subject.lower().startswith("re:") else f"Re: {subject}"


def display(office: Office, agent: str, depth: int = 0) -> str:
    """The name a user reads for an agent or skill."""
    profile = office.profile(agent, depth)
    return profile.display if profile and profile.display else agent.capitalize()


def spent(tx: ReadTx, office: Office, run: Run) -> Spent:
    """What a run and its children have used so far."""
    used = budget.totals(tx, run.root, office.steady())
    cost = Decimal(used.cost_u) / budget.MICRO
    known = not used.cost_unknown
    return Spent(
        used.active_ms / 1000, used.model_calls, used.tool_calls, used.tokens, cost if known or cost else None, known
    )


def footer(tx: ReadTx, office: Office, run: Run) -> Footer:
    """What the program says under a mail of this run."""
    used = spent(tx, office, run)
    served = tx.all("agents.models.endpoints", root=run.root)
    labels = list(dict.fromkeys(row["model"] for row in served))
    tag = chain.tags(tx, office, run)[0]
    model = office.models.get(tag)
    if not labels and model is not None:
        labels = [model.label]
    endpoints = [row["endpoint"] for row in served if row["endpoint"]]
    endpoints += _fetched_from(tx, run)
    if office.relay_name and _sent_out(tx, run):
        endpoints.append(f"your relay {office.relay_name}")
    return Footer(
        agent=display(office, run.agent, run.depth),
        model=", ".join(labels) or tag,
        demo=any(one.demo and one.label in labels for one in office.models.values()),
        seconds=used.seconds,
        model_calls=used.model_calls,
        tokens=used.tokens,
        cost=used.cost,
        cost_known=used.cost_known,
        tools=tuple(_tool_count(row) for row in tx.all("agents.calls.counts", root=run.root)),
        endpoints=tuple(dict.fromkeys(endpoints)),
        unseen=_unseen(tx, office, run, labels),
        unread=_unread(tx, run),
    )


def _unseen(tx: ReadTx, office: Office, run: Run, labels: Sequence[str]) -> tuple[str, ...]:
    """The pictures among a run's files that none of the models which were asked can see."""
    if any("images" in takes(model) for model in office.models.values() if model.label in labels):
        return ()
    files = [file for letter in journal.letters_of(tx, run.root) for file in letter.attachments]
    return tuple(dict.fromkeys(file.name for file in files if file.media_type.lower().startswith("image/")))


def _unread(tx: ReadTx, run: Run) -> tuple[str, ...]:
    """The files of a run that it could not read."""
    rows = tx.all("agents.calls.unread", root=run.root)
    wanted = {str(json.loads(row["args"]).get("ref", "")).casefold() for row in rows}
    files = [file for letter in journal.letters_of(tx, run.root) for file in letter.attachments] if wanted else []
    return tuple(dict.fromkeys(file.name for file in files if {file.ref, file.name.casefold()} & wanted))


def _tool_count(row: sqlite3.Row) -> ToolCount:
    return ToolCount(row["tool"], row["runs"], row["refused"], row["failed"], row["note"] or "")


def _sent_out(tx: ReadTx, run: Run) -> bool:
    calls = [store.to_call(row) for row in tx.all("agents.calls.effects", root=run.root)]
    return any(call.plan is PlanKind.MAIL for call in calls)


def _fetched_from(tx: ReadTx, run: Run) -> list[str]:
    """The hosts whose pages were asked for: each has received an address."""
    rows = tx.all("agents.calls.started", root=run.root, tool=FETCH)
    return [address.read(json.loads(row["args"])["url"]).host for row in rows]


def headline(office: Office, call: Call) -> str:
    """A call in a few words: "Send mail to ann@example.net", or the tool's name when it cannot say."""
    tool = office.toolbox.all()[0].get(call.tool)
    try:
        said = tool.describe(call.args) if tool else None
    except ToolFailed:
        said = None
    return (said.subject or said.title) if said else call.tool.replace("_", " ").capitalize()


def effects(tx: ReadTx, office: Office, run: Run) -> tuple[str, ...]:
    """What a run and its children did, or may have done, one line each, oldest first."""
    return tuple(_effect(office, store.to_call(row)) for row in tx.all("agents.calls.effects", root=run.root))


def _effect(office: Office, call: Call) -> str:
    at = clock_time(call.started or call.created)
    if call.state is CallState.DONE:
        return f"{headline(office, call)}: done at {at}"
    return f"{headline(office, call)}: may have happened at {at}; nobody knows"


def ending_mail(tx: WriteTx, office: Office, run: Run, state: RunState, text: str) -> None:
    """The one last mail of a run. `run` is read after it has ended."""
    done = state is RunState.DONE
    body = text if done else _failure_body(state, text, effects(tx, office, run), advice.of_run(tx, office, run, state))
    files = [
        file
        for row in tx.all("agents.calls.files", root=run.root)
        for file in journal.load_files(tx, json.loads(row["files"]))
    ]
    if len(body) > MAX_BODY:
        files.append(File(WHOLE, "text/markdown", body.encode("utf-8", "replace")))
        body = f"{body[:SHOWN_OF_LONG].rstrip()}\n\n[It goes on: the whole is attached as {WHOLE}.]"
    mail = _mail(tx, office, run, f"{run.id}.end", Kind.RESULT if done else Kind.FAILURE, body, state)
    put(tx, office, replace(mail, files=tuple(files)), taint=run.taint)


def _failure_body(state: RunState, text: str, did: Sequence[str], todo: str | None) -> str:
    said = "Nothing was sent and nothing was changed."
    if did:
        said = "What was done before:\n\n" + "\n".join(f"- {line}" for line in did)
    text = text[:1].lower() + text[1:] if text[:3] == "It " else text
    return f"{_HEADS[state]}: {text}\n\n{said}\n\n{todo or _ADVICE[state]}"


def pause_mail(tx: WriteTx, office: Office, run: Run, seq: int, over: budget.Over) -> None:
    """The notice of a run that waits for its user because of a limit."""
    did = effects(tx, office, run)
    done = "\n".join(f"- {line}" for line in did) if did else "Nothing was sent and nothing was changed so far."
    how = 'Answer with "continue" to let it go on for as much again'
    how += (
        ', or with a sum, such as "raise to 2 EUR".'
        if "cost" in over.limit or "day" in over.limit
        else ', or with "stop".'
    )
    if over.limit == "open_requests":
        how = 'Decide some of them (they stand in Action), then answer with "continue", or with "stop".'
    body = f"Paused: {over.text}.\n\n{done}\n\n{how}"
    raised = [int(run.raised.get(name, 0)) for name in ("times", "cost_u", "asked")]
    key = f"{run.id}.pause.{seq}.{'.'.join(map(str, raised))}"
    put(tx, office, _mail(tx, office, run, key, Kind.NOTICE, body, RunState.WAITING_BUDGET), taint=run.taint)


def notice_mail(tx: WriteTx, office: Office, run: Run, call_key: str, text: str) -> None:
    """What an agent tells its user while it goes on with its work. The call's key makes it one mail, however often."""
    mail = _mail(tx, office, run, f"{call_key}.notice", Kind.NOTICE, text, run.state)
    put(tx, office, mail, taint=run.taint)


def _mail(tx: ReadTx, office: Office, run: Run, key: str, kind: Kind, body: str, state: RunState) -> Outgoing:
    return Outgoing(
        key=key,
        kind=kind,
        account=run.account,
        agent=run.agent,
        thread=run.thread,
        subject=reply_subject(threads.title(tx, run.account, run.thread) or run.subject),
        body=body,
        state=state.value,
        run=run.id,
        step=tx.value("agents.steps.next", run=run.id),
        message_id=ids.message_id(key, office.settings.domain),
        in_reply_to=last_message_id(tx, run),
        footer=footer(tx, office, run),
    )


def last_message_id(tx: ReadTx, run: Run) -> str | None:
    """The Message-ID of the newest letter of a run (of its root, for a child): what its mails answer."""
    found = [letter.message_id for letter in journal.letters_of(tx, run.root) if letter.message_id]
    return found[-1] if found else None
