"""A reply to a request: what it decides, and what the user is told when it decides nothing.

The rule: only a mail that came in over the owner's authenticated session is handed here; a request is bound by its
one-time address, else by what the mail answers, and when both are given they must agree.
"""

from dataclasses import dataclass
from typing import Final

from agents.approvals import Decided, Decision
from agents.ports import ReadTx, WriteTx
from agents.requests import RequestInfo
from agents.runtime import Runtime
from agents.seconds import Seat
from agents.states import RequestKind
from bridge.post import notices
from bridge.post.edits import EditUnread, read_edits
from bridge.post.incoming import Incoming

_QUIET: Final = frozenset({"approved", "rejected", "answered", "edited", "confirmed", "skipped"})
_UNKNOWN_WORDS: Final = frozenset({"done", "skip"})
_REFUSED: Final = "Request {} was refused; nothing of it was done."
_DISAGREE: Final = "it was sent to the address of one request and answers the mail of another"


@dataclass(frozen=True, slots=True)
class Bound:
    """The request a mail is bound to, or why it is bound to none. `fault` is for the user, `rule` for the audit."""

    request: RequestInfo | None
    fault: str = ""
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Sender:
    """Who decides: the account, its address, and from where, for the audit."""

    account: int
    address: str
    via: str
    at: int


def bind(tx: ReadTx, runtime: Runtime, account: int, token: str | None, mail: Incoming) -> Bound:
    """Find the request: token, else In-Reply-To, else References, in this account only (DECISIONS 7, 23)."""
    answered = _answered(tx, runtime, account, mail)
    if token is None:
        return Bound(answered)
    named = runtime.find_request(tx, account, token=token)
    if named is None:
        return Bound(None, "its address belongs to no request of yours", "no-request")
    if answered is not None and answered.code != named.code:
        return Bound(named, _DISAGREE, "conflict")
    return Bound(named)


def _answered(tx: ReadTx, runtime: Runtime, account: int, mail: Incoming) -> RequestInfo | None:
    for message_id in mail.message.in_reply_to:
        found = runtime.find_request(tx, account, message_id=message_id)
        if found is not None:
            return found
    if mail.message.in_reply_to:
        return None
    last = mail.message.references[-1:]
    return runtime.find_request(tx, account, message_id=last[0]) if last else None


def is_decided_by_word(request: RequestInfo) -> bool:
    """Whether one word decides the request; a question is answered in any words."""
    return request.kind is not RequestKind.QUESTION


def decide(tx: WriteTx, runtime: Runtime, request: RequestInfo, mail: Incoming, sender: Sender, key: str) -> str | None:
    """Apply what the mail says to the request. Returns the answer of the program, or None when the agent answers."""
    reading = mail.reading
    if request.kind is RequestKind.QUESTION:
        return _answer(tx, runtime, request, mail, sender, key)
    if mail.command == "stop" and (stopped := _stop(tx, runtime, request, mail, sender, key)):
        return stopped
    if reading.near_miss is not None and request.state == "open":
        return notices.near_miss(request.code, reading.why, _first_line(mail.words))
    verdict = _verdict(request, mail)
    if verdict == "none":
        return notices.empty(request.code) if request.state == "open" else None
    try:
        decision = _decision(request, mail, sender, verdict, key)
    except EditUnread as unread:
        return notices.near_miss(request.code, str(unread), _first_line(mail.words))
    return _told(runtime.decide(tx, decision))


def _stop(tx: WriteTx, runtime: Runtime, request: RequestInfo, mail: Incoming, sender: Sender, key: str) -> str | None:
    """`stop` under an open request refuses it and ends the run; the answer says both (DECISIONS 27). Of a second
    approver it refuses and no more: the task is another's.
    """
    if request.seat is Seat.SECOND:
        verdict = "reject" if request.state == "open" else "stop"
        told = _told(runtime.decide(tx, _decision(request, mail, sender, verdict, key)))
        return told or _REFUSED.format(request.code)
    if request.state != "open":
        return _stop_late(tx, runtime, request)
    if request.kind is not RequestKind.QUESTION:
        runtime.decide(tx, _decision(request, mail, sender, "reject", key))
    runtime.cancel_thread(tx, request.account, request.thread, 'you wrote "stop".')
    return f"Request {request.code} was refused and the task was stopped. Nothing of it was done."


def _stop_late(tx: WriteTx, runtime: Runtime, request: RequestInfo) -> str | None:
    """`stop` after a decision still ends what has not begun: the time of grace is for that."""
    if not runtime.cancel_thread(tx, request.account, request.thread, 'you wrote "stop".'):
        return None
    return (
        f"The task was stopped. Request {request.code} had been decided before ({request.state.value}): what had not "
        "begun is not done; the last mail of the task says what was."
    )


def _verdict(request: RequestInfo, mail: Incoming) -> str:
    said = " ".join(mail.words.split()).strip(" .!").lower()
    if request.kind is RequestKind.UNKNOWN and said in _UNKNOWN_WORDS:
        return said
    return mail.reading.decision


def _decision(request: RequestInfo, mail: Incoming, sender: Sender, verdict: str, key: str) -> Decision:
    reading = mail.reading
    return Decision(
        account=request.account,
        request=request.id,
        verdict=verdict,
        by=sender.address,
        via=sender.via,
        at=sender.at,
        revision=request.revision,
        items=reading.items,
        text=reading.reason if verdict == "reject" else mail.words,
        edits=read_edits(reading.edits, _fields(request)) if verdict == "edit" else {},
        always=reading.grant,
        message_key=key,
        line=_first_line(mail.words),
        rule=reading.rule,
        seat=request.seat,
    )


def _fields(request: RequestInfo) -> set[str]:
    return {field.name for item in request.view.items for field in item.fields}


def _answer(
    tx: WriteTx, runtime: Runtime, request: RequestInfo, mail: Incoming, sender: Sender, key: str
) -> str | None:
    """A question is answered by any words; only silence and a lone `stop` are something else."""
    if mail.command == "stop" and (stopped := _stop(tx, runtime, request, mail, sender, key)):
        return stopped
    if not mail.words:
        return notices.empty(request.code) if request.state == "open" else None
    return _told(runtime.decide(tx, _decision(request, mail, sender, "answer", key)))


def _told(decided: Decided) -> str | None:
    """What the program answers. A decision that took effect is answered by the agent's next mail."""
    if decided.outcome not in _QUIET or (decided.tell and not decided.open_items):
        return decided.text
    if decided.open_items:
        waiting = ", ".join(map(str, decided.open_items))
        return f"{decided.text} Still waiting for your decision in {decided.code}: {waiting}."
    return None


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
