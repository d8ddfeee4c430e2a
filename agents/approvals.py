"""Decisions on requests, and the spending of approvals.

The rule: a decision is one compare-and-set on rows that still wait, so the first wins and every other one is told what
was decided; an approval is spent once, in the transaction that takes the call in hand, and only for exactly what was
approved.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from agents import asking, audit, grants, ids, journal, mails, prompt, requests, schema, seconds, store
from agents.office import Office
from agents.ports import WriteTx
from agents.states import CallState, RequestKind, RequestState
from agents.store import Call, Item, Request, Run
from agents.tool import Tool, ToolFailed


@dataclass(frozen=True, slots=True)
class Decision:
    """What a user decided. `items` empty means all that the request shows; `edits` are new values by argument or field
    name.

    `verdict`: approve, reject, respond, edit, answer, done, skip; or stop, which of two people the second one may say
    to what both approved and has not begun. `by` is who (an address), `via` from where ("mail",
    "cli"), `line` the words that decided, `rule` the reading rule that found them, `message_key` the deciding mail.
    """

    account: int
    request: str
    verdict: str
    by: str
    via: str
    at: int
    revision: int | None = None
    items: tuple[int, ...] = ()
    text: str = ""
    edits: Mapping[str, Any] = field(default_factory=dict)
    always: bool = False
    message_key: str = ""
    line: str = ""
    rule: str = ""
    seat: seconds.Seat = seconds.Seat.OWNER
    """In whose place it was decided; `account` is the owner's in both."""


@dataclass(frozen=True, slots=True)
class Decided:
    """What a decision came to, for the answer to the user.

    `outcome`: approved, rejected, answered, edited, confirmed, skipped; half (the other one of two must approve as
    well); or already, expired, superseded, cancelled
    (decided before: when, by and via say how), or refused (it cannot be decided so; the request still waits). `text`
    is one plain sentence.
    """

    outcome: str
    text: str
    request: str = ""
    code: str = ""
    run: str = ""
    thread: str = ""
    agent: str = ""
    items: tuple[int, ...] = ()
    open_items: tuple[int, ...] = ()
    decided: int | None = None
    by: str = ""
    via: str = ""
    before: str = ""
    tell: bool = False
    """Whether the user has to hear `text` though the decision took effect: there is more to it than they asked."""
    successor: str | None = None


_LEFT: Final = f"{requests.IN_DOUBT} The user wants it left so."
_VERDICTS: Final[Mapping[RequestKind, frozenset[str]]] = {
    RequestKind.APPROVAL: frozenset({"approve", "reject", "respond", "edit"}),
    RequestKind.QUESTION: frozenset({"answer", "respond", "reject"}),
    RequestKind.UNKNOWN: frozenset({"done", "skip", "approve", "reject", "respond"}),
}


@dataclass(frozen=True, slots=True)
class _Case:
    """One decision being made."""

    tx: WriteTx
    office: Office
    decision: Decision
    request: Request
    run: Run
    chosen: tuple[Item, ...]

    def told(self, outcome: str, text: str, **more: Any) -> Decided:
        still_open = tuple(item.number for item in store.items(self.tx, self.request.id) if item.state == "pending")
        return Decided(
            outcome,
            text,
            **{name: getattr(self.request, name) for name in ("code", "run", "thread", "agent")},
            request=self.request.id,
            items=tuple(item.number for item in self.chosen),
            open_items=still_open,
            **more,
        )


def decide(tx: WriteTx, office: Office, decision: Decision) -> Decided:
    """Apply a decision. Only requests of the decision's account exist for it."""
    row = tx.one("agents.requests.get", request=decision.request, account=decision.account)
    if row is None:
        return Decided("refused", "There is no such request.")
    request = store.to_request(row)
    if request.state is RequestState.OPEN and decision.at >= request.expires:
        requests.expire(tx, office, request)  # its time was over, and the clock had not come to it yet
        request = store.to_request(tx.all("agents.requests.get", request=request.id, account=request.account)[0])
    pending = tuple(item for item in store.items(tx, request.id) if item.state == "pending")
    wanted = frozenset(decision.items)
    chosen = tuple(item for item in pending if not wanted or item.number in wanted)
    case = _Case(tx, office, decision, request, store.get_run(tx, request.run), chosen)
    return _refused(case) or _HANDLERS[decision.verdict](case)


def _not_begun(case: _Case) -> list[Item]:
    """What was approved and was not taken in hand yet."""
    approved = (item for item in store.items(case.tx, case.request.id) if item.state == "approved")
    return [item for item in approved if item.call_state is CallState.APPROVED]


def _stop(case: _Case) -> Decided:
    """Take back what both approved, as long as it has not begun: a no of either ends it. What is in doubt stays so."""
    taken, is_doubt = _not_begun(case), case.request.kind is RequestKind.UNKNOWN
    state, result = (CallState.SKIPPED, _LEFT) if is_doubt else (CallState.DENIED, prompt.result_rejected(_words(case)))
    for item in taken:
        case.tx.run("agents.requests.supersede", call=item.call, now=case.office.now())
        facts = {"by": case.decision.by, "via": case.decision.via, "message": case.decision.message_key}
        facts |= {"line": case.decision.line, "args_hash": item.args_hash}
        account, run = case.request.account, case.run.id
        audit.record(case.tx, case.office.now(), account, "approval.taken-back", run, item.id, **facts)
        ending = journal.Ending(state, result, f"taken back by {case.decision.by}")
        journal.end_call(case.tx, case.office, store.get_call(case.tx, item.call), ending)
    requests.requeue(case.tx, case.office, case.run.id)
    what = "it is not done again" if is_doubt else "nothing of it is done"
    return case.told("rejected", f"It was taken back: {what}.", tell=True) if taken else _late(case)


def _refused(case: _Case) -> Decided | None:
    """Whether the decision cannot be applied, and why."""
    request, decision = case.request, case.decision
    if decision.verdict == "stop":
        return _stop(case)
    if request.state is not RequestState.OPEN:
        return _late(case)
    if decision.revision is not None and decision.revision != request.revision:
        return case.told("superseded", "That was an earlier version of this request; the newest one still waits.")
    if decision.verdict not in _VERDICTS[request.kind]:
        return case.told("refused", f'"{decision.verdict}" does not decide this request.')
    known = {item.number: item for item in store.items(case.tx, request.id)}
    if strange := sorted(set(decision.items) - set(known)):
        return case.told("refused", f"This request has no item {', '.join(map(str, strange))}.")
    if not case.chosen:
        return _late(case)
    if decision.always and not (request.grantable and decision.verdict == "approve"):
        return case.told("refused", "A standing approval is not offered for this request.")
    return None


def _late(case: _Case) -> Decided:
    """The answer to a decision that came after another."""
    request = case.request
    state = request.state
    outcome = {
        RequestState.EXPIRED: "expired",
        RequestState.CANCELLED: "cancelled",
        RequestState.EDITED: "superseded",
        RequestState.SUPERSEDED: "superseded",
    }.get(state, "already")
    what = _PAST.get(state, "decided")
    when = f" on {mails.moment(request.decided)}" if request.decided else ""
    source = f" from {request.via}" if request.via else ""
    text = f"This was already {what}{when}{source}; nothing more was done."
    if outcome == "expired":
        text = f"This request expired{when}; nothing was done."
    if outcome == "already" and case.decision.verdict == "reject" and _not_begun(case):
        text += ' It has not begun yet: answer "stop" to keep it from happening.'
    return case.told(outcome, text, decided=request.decided, by=request.by, via=request.via, before=state.value)


_PAST: Final[Mapping[RequestState, str]] = {
    RequestState.MIXED: "decided item by item",
    RequestState.EDITED: "replaced by a changed version",
    RequestState.SUPERSEDED: "replaced by a newer version",
    RequestState.CANCELLED: "withdrawn",
    RequestState.CONFIRMED: "settled as done",
    **{
        state: state.value
        for state in (RequestState.APPROVED, RequestState.REJECTED, RequestState.ANSWERED, RequestState.SKIPPED)
    },
}


def _approve(case: _Case) -> Decided:
    grace = case.office.settings.approvals.grace_seconds
    not_before = case.decision.at + grace * 1000
    made: list[str] = []
    second = seconds.of(case.tx, case.request.id)
    ready = [(item, *_said_yes(case, item)) for item in case.chosen if second is None or _vote(case, item)]
    if second is not None and not ready:
        return case.told("half", _half(case, second))
    for item, note, facts in ready:
        if _decide(case, item, "approved", **facts):
            case.tx.run("agents.calls.allow", call=item.call, not_before=not_before, note=note)
            if case.decision.always:
                call = store.get_call(case.tx, item.call)
                made.append(ids.short_code("G", grants.add(case.tx, case.office, case.run, call, item.id)))
    _close_if_decided(case)
    return case.told("approved", _ahead(grace, made), tell=bool(grace or made))


def _vote(case: _Case, item: Item) -> bool:
    """Note one of two approvals of an item; whether it is the second one."""
    decision = case.decision
    given = seconds.Vote(decision.seat, decision.by, decision.via, decision.at)
    new, votes = seconds.vote(case.tx, case.office, item, given)
    if new:
        facts = {"by": decision.by, "via": decision.via, "line": decision.line, "rule": decision.rule}
        facts |= {"message": decision.message_key, "seat": decision.seat.value, "args_hash": item.args_hash}
        account, run = case.request.account, case.run.id
        audit.record(case.tx, case.office.now(), account, "approval.voted", run, item.id, **facts)
    return len(votes) == len(seconds.Seat)


def _said_yes(case: _Case, item: Item) -> tuple[str, dict[str, str]]:
    """(the note on an approved call, what the audit says of the first of two approvals)."""
    decision = case.decision
    votes = [vote for vote in seconds.votes(case.tx, item) if vote.seat is not decision.seat]
    who = "you" if decision.seat is seconds.Seat.OWNER else decision.by
    note = f"approved by {who} at {mails.clock_time(decision.at)} from {decision.via}"
    if not votes:
        return note, {}
    first = votes[0]
    other = "you" if first.seat is seconds.Seat.OWNER else first.by
    note = f"approved by {other} at {mails.clock_time(first.at)} from {first.via} and {note.removeprefix('approved ')}"
    return note, {"first_by": first.by, "first_via": first.via}


def _half(case: _Case, second: seconds.Second) -> str:
    """What one of two approvals is answered with."""
    if not second.approver:
        return (
            "Two people must approve this, and none of those whom the settings name as the second one is here: it "
            "cannot go ahead. Nothing was done."
        )
    other = second.approver if case.decision.seat is seconds.Seat.OWNER else "the one whose task it is"
    until = mails.moment(case.request.expires)
    return f"One of two: your approval is noted. Nothing is done before {other} approves too, until {until}."


def _ahead(grace: int, made: Sequence[str]) -> str:
    """What an approval sets going."""
    text = "It goes ahead, exactly as shown."
    if grace:
        text = f'It goes ahead in {grace} seconds, exactly as shown, unless you answer "stop" before.'
    if made:
        text += (
            f" From now on exactly this is done without asking, at most {grants.USES} times and for {grants.DAYS} days "
            f'({", ".join(made)}). To take that back, write "revoke {made[0]}" to the address help.'
        )
    return text


def _words(case: _Case) -> str:
    """What was written with a decision, and that it was the second approver who wrote it."""
    text = case.decision.text.strip()
    return text if case.decision.seat is seconds.Seat.OWNER or not text else f"The second approver writes: {text}"


def _reject(case: _Case) -> Decided:
    text = prompt.result_rejected(_words(case))
    _end_items(case, "rejected", CallState.DENIED, text)
    return case.told("rejected", "It is not done.")


def _respond(case: _Case) -> Decided:
    if case.request.kind is RequestKind.QUESTION:
        return _answer(case)
    if case.request.kind is RequestKind.UNKNOWN:
        text = f"{requests.IN_DOUBT} The user wrote:\n{_words(case)}"
        _end_items(case, "answered", CallState.SKIPPED, text)
        return case.told("answered", "It is not done again; your words went to the agent.")
    _end_items(case, "answered", CallState.DENIED, prompt.result_answered(_words(case)))
    return case.told("answered", "Nothing was done; your words went to the agent.")


def _answer(case: _Case) -> Decided:
    _end_items(case, "answered", CallState.DONE, case.decision.text.strip())
    return case.told("answered", "Your answer went to the agent.")


def _done(case: _Case) -> Decided:
    _end_items(case, "confirmed", CallState.DONE, "The user looked and says that it happened. Do not do it again.")
    return case.told("confirmed", "Noted as done; it is not done again.")


def _skip(case: _Case) -> Decided:
    _end_items(case, "skipped", CallState.SKIPPED, _LEFT)
    return case.told("skipped", "Left as it is; it is not done again.")


def _reject_any(case: _Case) -> Decided:
    return _skip(case) if case.request.kind is RequestKind.UNKNOWN else _reject(case)


def _end_items(case: _Case, item_state: str, call_state: CallState, text: str) -> None:
    for item in case.chosen:
        if not _decide(case, item, item_state):
            continue
        call = store.get_call(case.tx, item.call)
        if call.asked is not None and case.request.kind is RequestKind.QUESTION:
            asking.answer(case.tx, call, case.decision.text.strip(), declined=item_state == "rejected")
            continue
        if call.ended is None:
            who = "you" if case.decision.seat is seconds.Seat.OWNER else case.decision.by
            note = f"{item_state} by {who} at {mails.clock_time(case.decision.at)} from {case.decision.via}"
            journal.end_call(case.tx, case.office, call, journal.Ending(call_state, text, note))
    _close_if_decided(case)


def _decide(case: _Case, item: Item, state: str, **more: str) -> bool:
    decision = case.decision
    if not requests.decide_item(case.tx, case.office, item, state, decision.text, decision.by, decision.via):
        return False
    facts = {
        "by": decision.by,
        "via": decision.via,
        "line": decision.line,
        "rule": decision.rule,
        "message": decision.message_key,
        **more,
    }
    where = {"number": item.number, "revision": item.revision, "args_hash": item.args_hash, "always": decision.always}
    audit.record(
        case.tx, case.office.now(), case.request.account, f"approval.{state}", case.run.id, item.id, **facts, **where
    )
    return True


def _close_if_decided(case: _Case) -> None:
    states = [item.state for item in store.items(case.tx, case.request.id)]
    if "pending" not in states:
        state = RequestState(states[0]) if len(set(states)) == 1 else RequestState.MIXED
        requests.close(case.tx, case.office, case.request, state, case.decision.by, case.decision.via)
    requests.requeue(case.tx, case.office, case.run.id)


def _edit(case: _Case) -> Decided:
    """Change one item and show it again; whatever else still waits in the request is shown again with it."""
    pending = tuple(item for item in store.items(case.tx, case.request.id) if item.state == "pending")
    if len(case.chosen) != 1:
        return case.told("refused", "Say which item is to be changed: one at a time.")
    target = store.get_call(case.tx, case.chosen[0].call)
    tool = case.office.toolbox.all()[0].get(target.tool)
    if tool is None:
        return case.told("refused", f"{target.tool} is not available any more.")
    try:
        args = edited(tool, target.args, case.decision.edits)
    except schema.Unreadable as fault:
        return case.told("refused", str(fault))
    case.tx.run("agents.calls.edit", call=target.id, args=ids.canonical(args), args_hash=ids.digest(args))
    for item in pending:
        _decide(case, item, "edited" if item.call == target.id else "superseded")
    requests.close(case.tx, case.office, case.request, RequestState.EDITED, case.decision.by, case.decision.via)
    calls = [store.get_call(case.tx, item.call) for item in pending]
    before = {target.id: target.args}
    again = requests.Again(case.request.code, before)
    successor = requests.open_request(case.tx, case.office, case.run, RequestKind.APPROVAL, calls, again)
    return case.told("edited", "The changed version waits for your approval.", successor=successor)


def edited(tool: Tool, args: Mapping[str, Any], edits: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with the user's changes, checked as a model's would be. Raises Unreadable with a text for the
    user.
    """
    properties: Mapping[str, Any] = tool.spec.schema.get("properties", {})
    changed = dict(args)
    if not edits:
        raise schema.Unreadable("Nothing to change was given.")
    for name, value in edits.items():
        known = _argument(name, properties)
        if known is None:
            raise schema.Unreadable(f'There is no field "{name}". There is: {", ".join(_shown(properties))}.')
        changed[known] = _read(known, properties[known], value)
    if wrong := schema.faults(tool.spec.schema, changed):
        raise schema.Unreadable("; ".join(wrong) + ".")
    try:
        tool.plan(changed)
        tool.describe(changed)
    except ToolFailed as fault:
        raise schema.Unreadable(fault.text) from None
    return changed


def _shown(properties: Mapping[str, Any]) -> list[str]:
    """The arguments under the names that a request shows."""
    return [str(one.get("title") or name.replace("_", " ").capitalize()) for name, one in properties.items()]


def _read(name: str, wanted: Mapping[str, Any], value: Any) -> Any:
    """A new value, as its argument's type. Raises Unreadable, which names the field."""
    try:
        return schema.read_value(wanted, value) if isinstance(value, str) else value
    except schema.Unreadable as fault:
        raise schema.Unreadable(f"{name}: {fault}.") from None


def _argument(name: str, properties: Mapping[str, Any]) -> str | None:
    plain = name.strip().lower().replace(" ", "_")
    same = [known for known in properties if known.lower() == plain]
    titled = [known for known, one in properties.items() if str(one.get("title", "")).lower() == name.strip().lower()]
    return next(iter(same + titled), None)


_HANDLERS: Final[Mapping[str, Callable[[_Case], Decided]]] = {
    "approve": _approve,
    "reject": _reject_any,
    "respond": _respond,
    "edit": _edit,
    "answer": _answer,
    "done": _done,
    "skip": _skip,
}


class NotSpent(Exception):
    """A gated call whose approval does not fit what would run now; it has been asked about again, or has ended."""


def spend(tx: WriteTx, office: Office, run: Run, call: Call, tool: Tool | None) -> None:
    """Spend the approval of a gated call, in the transaction that takes it in hand. Raises NotSpent.

    One approval, or a standing one, from the time before two were wanted does not do for a call that needs two now.
    """
    def_hash = tool.spec.digest() if tool else ""
    args_hash = ids.digest(call.args)
    two = bool(seconds.wanted(tx, office, run, call.tool))
    if not call.gated:
        if two or def_hash != call.def_hash:
            _ask_again(tx, office, run, call, tool, def_hash, args_hash)
        return
    exactly = {"args_hash": args_hash, "def_hash": def_hash, "two": int(two)}
    if tx.run("agents.requests.spend", call=call.id, now=office.now(), **exactly):
        audit.record(tx, office.now(), run.account, "approval.spent", run.id, call.id, args_hash=args_hash)
        return
    if asking.heard(call) is not None and (def_hash, args_hash) == (call.def_hash, call.args_hash):
        return  # its approval was spent when it began: it goes on with the answer it asked for
    _ask_again(tx, office, run, call, tool, def_hash, args_hash)


def _ask_again(
    tx: WriteTx, office: Office, run: Run, call: Call, tool: Tool | None, def_hash: str, args_hash: str
) -> None:
    """What would run is not what was approved: the approval is void, and the user is asked about what would run now."""
    tx.run("agents.requests.supersede", call=call.id, now=office.now())
    audit.record(
        tx, office.now(), run.account, "approval.superseded", run.id, call.id, args_hash=args_hash, def_hash=def_hash
    )
    if tool is None:
        text = f"Not done: {call.tool} is not available any more."
        journal.end_call(tx, office, call, journal.Ending(CallState.FAILED, text))
    else:
        tx.run("agents.calls.gate", call=call.id, def_hash=def_hash, args_hash=args_hash)
        again = requests.Again(_code_of(tx, call) or "")
        requests.open_request(tx, office, run, RequestKind.APPROVAL, [store.get_call(tx, call.id)], again)
    raise NotSpent(call.id)


def _code_of(tx: WriteTx, call: Call) -> str | None:
    row = tx.one("agents.requests.of_call", call=call.id)
    return row["code"] if row else None


def doubt(tx: WriteTx, office: Office, run: Run, calls: Sequence[Call], why: str) -> None:
    """Nobody knows whether these started calls happened: ask the user, each in a mail of its own."""
    for call in calls:
        if tx.run("agents.calls.doubt", call=call.id, note=why):
            audit.record(tx, office.now(), run.account, "call.unknown", run.id, call.id, tool=call.tool)
            requests.open_request(tx, office, run, RequestKind.UNKNOWN, [store.get_call(tx, call.id)])
