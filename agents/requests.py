"""Requests: the mails in which a run asks its user for leave, for words, or for what became of a call.

The rule: a request is a row with one item a call, bound to the hash of the arguments and of the tool's definition;
token and code are made here, a reminder repeats them, and only a new revision replaces them.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from agents import asking, audit, codec, gate, ids, journal, mails, outbox, prompt, seconds, store, threads
from agents.events import RequestClosed, RequestOpened, RunChanged
from agents.letter import Field, Item, Kind, Outgoing, RequestView
from agents.office import Office
from agents.ports import Approver, ReadTx, WriteTx
from agents.states import CallState, PlanKind, RequestKind, RequestState, RunState
from agents.store import Call, Request, Run
from agents.tool import Ask, Described, SendOut, show

HOUR_MS: Final = 3_600_000
_ALWAYS: Final = "always approve"
_OLD_VALUE: Final = 160
IN_DOUBT: Final = "It is not known whether this happened. Do not do it again by yourself."
_WORDS: Final = {
    RequestKind.APPROVAL: ("approve", "reject", "edit"),
    RequestKind.QUESTION: ("answer",),
    RequestKind.UNKNOWN: ("done", "skip", "approve"),
}
_KINDS: Final = {RequestKind.QUESTION: Kind.QUESTION}
_HEADS: Final = {
    RequestKind.APPROVAL: "Approve?",
    RequestKind.QUESTION: "Question:",
    RequestKind.UNKNOWN: "Did this happen?",
}


@dataclass(frozen=True, slots=True)
class RequestInfo:
    """A request as a reader of replies needs it. `decisions` are the words it knows; `state` "open" means that it
    waits.

    `message_id` is that of its mail, `opened` and `expires` are UTC ms.
    """

    id: str
    account: int
    run: str
    agent: str
    thread: str
    kind: RequestKind
    code: str
    token: str
    revision: int
    state: RequestState
    items: tuple[int, ...]
    decisions: tuple[str, ...]
    grant_offered: bool
    title: str
    key: str
    message_id: str
    opened: int
    expires: int
    view: RequestView
    seat: seconds.Seat = seconds.Seat.OWNER
    """Whose the reader is: the owner's, or that of a second approver, who reads a request of somebody else."""


@dataclass(frozen=True, slots=True)
class Again:
    """A request that is the next revision of the one with `code`. `before` holds the arguments that a call had then,
    by call; what differs is marked.
    """

    code: str = ""
    before: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def open_request(
    tx: WriteTx, office: Office, run: Run, kind: RequestKind, calls: Sequence[Call], again: Again | None = None
) -> str:
    """Ask the user about calls of one turn, in one mail. Returns its id."""
    now = office.now()
    again = again or Again()
    code = again.code or None
    newest = tx.one("agents.requests.newest", code=code, account=run.account) if code else None
    request = ids.new_id(now)
    second = None if kind is RequestKind.QUESTION else seconds.find(tx, office, run, [call.tool for call in calls])
    view = _view(
        tx,
        office,
        run,
        kind,
        calls,
        request,
        code or _free_code(tx, run.account),
        newest["revision"] + 1 if newest else 1,
    )
    view = replace(view, items=_with_changes(office, view.items, calls, again.before))
    view = view if second is None else _for_two(view, second)
    key = f"{run.id}.ask.{request}"
    remind = office.settings.approvals.remind_hours * HOUR_MS
    tx.run(
        "agents.requests.add",
        id=request,
        account=run.account,
        run=run.id,
        agent=run.agent,
        thread=run.thread,
        kind=kind,
        code=view.code,
        token=view.token,
        revision=view.revision,
        grantable=int(view.grant_offered),
        key=key,
        shown=codec.dump(view),
        now=now,
        expires=view.expires,
        remind_at=int(view.expires - remind) if remind and view.expires - remind > now else None,
    )
    for number, call in enumerate(calls, 1):
        _add_item(tx, now, request, number, call)
    mail = _mail(tx, office, run, kind, key, view)
    outbox.put(tx, office, mail, request=request, taint=run.taint)
    if second is not None:
        seconds.seat(tx, office, mail, second)
    audit.record(
        tx, now, run.account, "request.opened", run.id, request, kind=kind, items=len(calls), revision=view.revision
    )
    tx.emit(RequestOpened(request, run.account, run.thread, key))
    tx.after(office.bells.clock)
    return request


def _for_two(view: RequestView, second: Approver) -> RequestView:
    """A request that two people must approve: nothing of it is ever granted for later."""
    decisions = tuple(word for word in view.decisions if word != _ALWAYS)
    return replace(view, decisions=decisions, grant_offered=False, two=(second.owner, second.address))


def room(tx: ReadTx, office: Office, run: Run) -> int:
    """How many more requests may wait for the user of a run."""
    waiting: int = tx.value("agents.requests.open_count", account=run.account)
    return max(0, office.limits(run.agent).open_approvals - waiting)


def _add_item(tx: WriteTx, now: int, request: str, number: int, call: Call) -> None:
    revision = (tx.value("agents.requests.revision_of", call=call.id) or 0) + 1
    fields = {"call": call.id, "args_hash": call.args_hash, "def_hash": call.def_hash}
    tx.run("agents.requests.add_item", id=ids.new_id(now), request=request, number=number, revision=revision, **fields)


def _free_code(tx: ReadTx, account: int) -> str:
    while True:
        code = ids.new_code()
        if tx.value("agents.requests.code_taken", code=code, account=account) is None:
            return code


def _view(
    tx: ReadTx,
    office: Office,
    run: Run,
    kind: RequestKind,
    calls: Sequence[Call],
    request: str,
    code: str,
    revision: int,
) -> RequestView:
    asked = _question(office, calls[0]) if kind is RequestKind.QUESTION else None
    items = () if asked else tuple(_item(tx, office, run, number, call) for number, call in enumerate(calls, 1))
    grant = kind is RequestKind.APPROVAL and all(gate.grantable(call.risk, run.taint) for call in calls)
    title = (
        asked.question if asked else (mails.headline(office, calls[0]) if len(calls) == 1 else f"{len(calls)} actions")
    )
    return RequestView(
        id=request,
        code=code,
        token=ids.new_token(),
        revision=revision,
        title=title,
        items=items,
        sources=tuple(row["source"] for row in tx.all("agents.runs.taints", run=run.id)),
        spent=mails.spent(tx, office, run),
        expires=office.now() + int(office.settings.approvals.expire_hours * HOUR_MS),
        decisions=_WORDS[kind] + ((_ALWAYS,) if grant else ()),
        grant_offered=grant,
        unknown_outcome=kind is RequestKind.UNKNOWN,
        question=asked.question if asked else None,
        choices=asked.choices if asked else (),
        asked_in=run.subject,
    )


def _question(office: Office, call: Call) -> Ask:
    if (asked := asking.question(call)) is not None:
        return asked
    tool = office.toolbox.all()[0].get(call.tool)
    plan = tool.plan(call.args) if tool else None
    return plan if isinstance(plan, Ask) else Ask(show(dict(call.args)))


def _item(tx: ReadTx, office: Office, run: Run, number: int, call: Call) -> Item:
    tool = office.toolbox.all()[0].get(call.tool)
    if tool is None:
        return Item(number, call.tool, tuple(Field(name, show(value)) for name, value in call.args.items()))
    said: Described = tool.describe(call.args)
    return Item(number, said.title, _with_notes(tx, office, run, call, said.fields))


def _with_changes(
    office: Office, items: tuple[Item, ...], calls: Sequence[Call], before: Mapping[str, Mapping[str, Any]]
) -> tuple[Item, ...]:
    """The items with a note at each field that is not as it was in the revision before."""
    if not before:
        return items
    shown = dict(zip((call.id for call in calls), items, strict=False))
    for call in calls:
        tool = office.toolbox.all()[0].get(call.tool)
        if call.id in before and call.id in shown and tool is not None:
            old = tool.describe(before[call.id]).fields
            shown[call.id] = replace(shown[call.id], fields=changed_fields(old, shown[call.id].fields))
    return tuple(shown.values())


def changed_fields(old: Sequence[Field], new: Sequence[Field]) -> tuple[Field, ...]:
    """The new fields, a changed or added one with a note of what it was before; those that are gone come last."""
    before: dict[str, list[str]] = {}
    for one in old:
        before.setdefault(one.name, []).append(one.value)
    kept = {name: [one.value for one in new if one.name == name] for name in before}
    fields = [_noted(one, before.get(one.name, []), kept.get(one.name, [])) for one in new]
    gone = [(name, was) for name, was in before.items() if not kept[name]]
    return (*fields, *(Field(name, "", f"removed by you; it was {_short(', '.join(was))}") for name, was in gone))


def _noted(one: Field, was: Sequence[str], now: Sequence[str]) -> Field:
    if one.value in was:
        return one
    lost = [value for value in was if value not in now]
    note = f"changed by you; it was {_short(', '.join(lost))}" if lost else "added by you"
    return replace(one, note=", ".join(filter(None, (one.note, note))))


def _short(text: str) -> str:
    """An old value in a note: whole when it is short, else its beginning and its length."""
    plain = " ".join(text.split())
    if len(plain) <= _OLD_VALUE:
        return f'"{plain}"'
    return f'"{plain[:_OLD_VALUE].rstrip()}…" ({len(text):,} characters)'


def _with_notes(tx: ReadTx, office: Office, run: Run, call: Call, fields: tuple[Field, ...]) -> tuple[Field, ...]:
    """Remarks of the program about recipients: new to this account, or not named by the user."""
    tool = office.toolbox.all()[0].get(call.tool)
    plan = tool.plan(call.args) if tool and call.plan is PlanKind.MAIL else None
    if not isinstance(plan, SendOut):
        return fields
    words = f"{user_words(tx, run)}\n{_words_above_forwards(tx, run)}"
    notes = {address: _recipient_note(tx, run, address, words) for address in plan.mail.to}
    return tuple(replace(one, note=", ".join(filter(None, (one.note, notes.get(one.value, ""))))) for one in fields)


def _recipient_note(tx: ReadTx, run: Run, address: str, words: str) -> str:
    notes = []
    if tx.value("agents.outbox.known", account=run.account, address=address.lower()) is None:
        notes.append("new: nothing was ever sent from here to this address")
    if run.taint and address.lower() not in words.lower():
        notes.append("you did not name this address")
    return ", ".join(notes)


def _words_above_forwards(tx: ReadTx, run: Run) -> str:
    """What the user wrote above mail they passed on: it names recipients, but opens no address of the web, for where
    the words end is the client's layout.
    """
    letters = [journal.letter_of(store.json_object(row["body"])) for row in _user_steps(tx, run)]
    return "\n".join(letter.text for letter in letters if letter.origin == "forwarded" and letter.foreign)


def user_words(tx: ReadTx, run: Run) -> str:
    """Everything the user typed in this thread up to now: subjects, the tasks of schedules and hooks, and answers to
    questions included.
    """
    letters = [journal.letter_of(store.json_object(row["body"])) for row in _user_steps(tx, run)]
    said = [f"{letter.subject}\n{letter.text}" for letter in letters if letter.origin in ("typed", "schedule", "hook")]
    answers = [row["result"] for row in tx.all("agents.calls.family_words", run=run.id)]
    return "\n".join(said + answers)


def _user_steps(tx: ReadTx, run: Run) -> list[sqlite3.Row]:
    return tx.all("agents.steps.thread_users", **threads.line(tx, run.account, run.thread))


def _mail(tx: ReadTx, office: Office, run: Run, kind: RequestKind, key: str, view: RequestView) -> Outgoing:
    title = " ".join(view.title.split())
    title = title if len(title) <= 90 else f"{title[:89].rstrip()}…"
    return Outgoing(
        key=key,
        kind=_KINDS.get(kind, Kind.REQUEST),
        account=run.account,
        agent=run.agent,
        thread=run.thread,
        subject=f"{_HEADS[kind]} {title} [{view.code}]",
        body=_intro(office, run, kind, view),
        state="waiting",
        run=run.id,
        step=tx.value("agents.steps.next", run=run.id),
        message_id=ids.message_id(key, office.settings.domain),
        request=view,
        in_reply_to=mails.last_message_id(tx, run),
        footer=mails.footer(tx, office, run),
    )


def _intro(office: Office, run: Run, kind: RequestKind, view: RequestView) -> str:
    name = mails.display(office, run.agent, run.depth)
    if kind is RequestKind.QUESTION:
        return view.question or ""
    if kind is RequestKind.UNKNOWN:
        return (
            "Postroom was interrupted while this was under way. It may have happened; it will not be done again by "
            'itself. Please look, then answer "done" if it happened, "skip" to leave it, or "approve" to do it: this '
            "may happen a second time."
        )
    what = "to do this" if len(view.items) == 1 else f"to do these {len(view.items)} things"
    return f'{name} wants {what}, as you asked in "{run.subject}".' if run.subject else f"{name} wants {what}."


def remind(tx: WriteTx, office: Office, request: Request) -> None:
    """Repeat a request once, to whoever has not approved it yet: the same token, the same code."""
    tx.run("agents.requests.reminded", request=request.id)
    second = seconds.of(tx, request.id)
    if second is None or seconds.waits_for(tx, request.id, seconds.Seat.OWNER):
        _repeat(tx, office, request, request.key)
    if second is not None and seconds.waits_for(tx, request.id, seconds.Seat.SECOND):
        _repeat(tx, office, request, second.key)


def _repeat(tx: WriteTx, office: Office, request: Request, shown: str) -> None:
    first = outbox.get(tx, shown)
    if first is None:
        return
    key = f"{shown}.reminder"
    again = replace(
        first,
        key=key,
        kind=Kind.REMINDER,
        subject=f"Reminder: {first.subject}",
        message_id=ids.message_id(key, office.settings.domain),
        in_reply_to=first.message_id,
    )
    outbox.put(tx, office, again, request=request.id)


def expire(tx: WriteTx, office: Office, request: Request) -> None:
    """The time of a request is over: what was not decided is not done, and its run hears so."""
    run = store.get_run(tx, request.run)
    close_items(tx, office, request, RequestState.EXPIRED, CallState.EXPIRED, prompt.result_expired())
    audit.record(tx, office.now(), request.account, "request.expired", request.run, request.id)
    requeue(tx, office, run.id)


def close_items(
    tx: WriteTx, office: Office, request: Request, state: RequestState, call_state: CallState, text: str
) -> None:
    """Close a request and everything undecided in it; the calls end with `text`, those in doubt with that."""
    item_state = "cancelled" if state is RequestState.CANCELLED else state.value
    for item in store.items(tx, request.id):
        if not decide_item(tx, office, item, item_state, "", "", ""):
            continue
        call = store.get_call(tx, item.call)
        if call.ended is None:
            said = IN_DOUBT if call.state is CallState.UNKNOWN else text
            journal.end_call(tx, office, call, journal.Ending(call_state, said))
    close(tx, office, request, state, "", "")


def decide_item(tx: WriteTx, office: Office, item: store.Item, state: str, comment: str, by: str, via: str) -> bool:
    """Decide one item, if nobody has. The one place where a pending approval becomes anything else."""
    return bool(
        tx.run(
            "agents.requests.decide_item", id=item.id, state=state, comment=comment, by=by, via=via, now=office.now()
        )
    )


def close(tx: WriteTx, office: Office, request: Request, state: RequestState, by: str, via: str) -> None:
    """Close a request and say so to the rest of the program."""
    if tx.run("agents.requests.close", request=request.id, state=state, by=by, via=via, now=office.now()):
        tx.emit(RequestClosed(request.id, request.account, request.thread, request.key, state))
        tx.after(office.bells.clock)


def requeue(tx: WriteTx, office: Office, run: str) -> None:
    """What a run waited for may have come: let a worker look. A run that is held looks by itself before it waits."""
    if tx.run("agents.runs.requeue", run=run, now=office.now()):
        tx.emit(RunChanged(run, store.get_run(tx, run).account, RunState.QUEUED))
        tx.after(office.bells.runs)


def find(
    tx: ReadTx, account: int, *, token: str | None = None, message_id: str | None = None, code: str | None = None
) -> RequestInfo | None:
    """A request of this account, or one that it is the second approver of, by its token, by the Message-ID of its mail
    (or reminder), or by its code.
    """
    row = None
    if token is not None:
        row = tx.one("agents.requests.by_token", token=token.lower(), account=account)
    elif message_id is not None:
        row = tx.one("agents.requests.by_message", message_id=message_id, account=account)
    elif code is not None:
        row = tx.one("agents.requests.by_code", code=code.strip("[] ").upper(), account=account)
    if row is not None:
        return info(tx, store.to_request(row))
    other = seconds.asked(tx, account, token=token, message_id=message_id, code=code)
    return None if other is None else _as_second(info(tx, other[0]), tx, other[1])


def _as_second(found: RequestInfo, tx: ReadTx, second: seconds.Second) -> RequestInfo:
    """A request as its second approver knows it: by the token and the mail that they were given."""
    mail = outbox.get(tx, second.key)
    view = mail.request if mail and mail.request else found.view
    ident = mail.message_id if mail else ""
    seat = seconds.Seat.SECOND
    return replace(found, seat=seat, token=second.token, key=second.key, message_id=ident, view=view)


def waiting(tx: ReadTx, account: int) -> list[RequestInfo]:
    """The open requests of an account, oldest first."""
    return [info(tx, store.to_request(row)) for row in tx.all("agents.requests.open_of_account", account=account)]


def info(tx: ReadTx, request: Request) -> RequestInfo:
    """A request's row as a RequestInfo."""
    view = codec.load(RequestView, request.shown)
    mail = tx.one("agents.outbox.get", key=request.key)
    names = ("id", "account", "run", "agent", "thread", "kind", "code", "token", "revision", "state", "key", "expires")
    return RequestInfo(
        **{name: getattr(request, name) for name in names},
        items=tuple(item.number for item in store.items(tx, request.id)),
        decisions=view.decisions,
        grant_offered=request.grantable,
        title=view.title,
        message_id=mail["message_id"] if mail else "",
        opened=request.created,
        view=view,
    )
