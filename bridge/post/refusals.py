"""Mail from outside that released nothing: what is noted of it, and what its user is told at home.

The rule: each such mail is in the audit with its reason; the user hears of it once, in their own mailbox, with what to
do; nobody outside is ever told. Whoever floods the watched mailbox fills neither, and mail that holds no token takes no
room from mail that holds one.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from agents import audit
from agents.requests import HOUR_MS, RequestInfo
from agents.runtime import Runtime
from bridge.post.identity import Doubt
from bridge.post.shown import visible
from mailstore import threads
from mailstore.model import AccountId, Millis
from mailstore.sqlite import WriteTx

NOTED_AN_HOUR: Final = 100
"""Mails in doubt that are noted in an hour, of those with a token and of those without each."""
TOLD_AN_HOUR: Final = 3
"""Of these, how many are told to the user by mail at home, again of each."""
_UNTOLD: Final = frozenset({"machine", "replay"})
"""Doubts that nobody has to act on: an automatic answer, and a mail that was read before."""
_DECIDE: Final = "decide the request here at home"
_UNSIGNED: Final = (
    f"If it was you, {_DECIDE}: your provider does not sign your mail so that it proves itself. Another of your "
    "addresses may do better; docs/security.md says what a signature must cover."
)
_CHANGED: Final = (
    f"If it was you, {_DECIDE}, or answer once more: something on the way changed your mail, or wrote it in two ways."
)
_LATE: Final = (
    f"If it was you, {_DECIDE}, or answer once more: it was under way for too long, or a clock is wrong. How old an "
    "answer may be is fresh_hours under [outside] in the settings."
)
_SENDER: Final = (
    f"If it was you, {_DECIDE}, or answer from one of the addresses that the settings name under [outside], as the one "
    "plain address of the field From."
)
_ADVICE: Final[Mapping[str, str]] = {
    **dict.fromkeys(("unsigned", "weak", "testing", "length", "header-unsigned", "framing", "other-domain"), _UNSIGNED),
    **dict.fromkeys(("signature", "malformed", "malformed-signature", "doubled", "missing"), _CHANGED),
    **dict.fromkeys(("stale", "early", "expired"), _LATE),
    **dict.fromkeys(("from", "from-fields", "from-unclear"), _SENDER),
    "dns": f"If it was you, {_DECIDE}, or answer once more in a while: the DNS of your provider gave no answer.",
    "too-large": f"If it was you, {_DECIDE}, or answer without attachments.",
    "no-token": (
        "If it was you: answer the mail that asks, with your program's own Reply, and leave the address as it is. New "
        "work begins only here at home."
    ),
    "conflict": "If it was you: answer one request at a time, with your program's own Reply to its mail.",
    "gone": "There is nothing to do: what it is about was deleted here.",
}


@dataclass(frozen=True, slots=True)
class Tried:
    """A mail that released nothing. `request` is that whose token it holds; `meant`: it went where answers go."""

    account: AccountId
    raw: bytes
    message_id: str
    sender: str
    request: RequestInfo | None
    meant: bool


def refuse(tx: WriteTx, runtime: Runtime, tried: Tried, doubt: Doubt, now: Millis) -> None:
    """Note why a mail releases nothing, and tell its user, where there is something to tell."""
    since, named = now - HOUR_MS, tried.request is not None
    if tx.value("bridge.outside.noted_since", account=tried.account, since=since, named=int(named)) >= NOTED_AN_HOUR:
        return
    request = tried.request
    who, mail = visible(tried.sender)[:200], hashlib.sha256(tried.raw).hexdigest()
    run, subject = (request.run, request.id) if request else (None, None)
    facts = {"rule": doubt.name, "why": doubt.why, "by": who, "message": mail}
    audit.record(tx, now, tried.account, "outside.refused", run, subject, via="outside mail", **facts)
    if doubt.name in _UNTOLD or not (tried.meant or named):
        return
    series = f"outside.{'named' if named else 'plain'}.{tried.account}."
    if tx.value("bridge.outside.told_since", first=series, since=since) < TOLD_AN_HOUR:
        _tell(tx, runtime, tried, doubt, series)


def _tell(tx: WriteTx, runtime: Runtime, tried: Tried, doubt: Doubt, series: str) -> None:
    """One notice for one mail, by its Message-ID: the same mail fetched again, over another way, is the same one."""
    who = visible(tried.sender) or "an unreadable address"
    request, same = tried.request, hashlib.sha256(tried.message_id.encode() or tried.raw).hexdigest()
    if runtime.outgoing(tx, f"{series}{same}") is not None:
        return  # nor does it take another thread
    body = (
        f"{_stands(request)} {_came(who, request)}, and was not taken as yours: {doubt.why}.\n\n{_todo(tried, doubt)}"
    )
    where = {"agent": "help", "thread": ""} if request is None else {"agent": request.agent, "thread": request.thread}
    where["thread"] = where["thread"] or str(threads.new(tx, tried.account))
    code = f" [{request.code}]" if request else ""
    runtime.notice(
        tx,
        key=f"{series}{same}",
        account=tried.account,
        subject=f"An answer from outside was not taken{code}",
        body=body,
        in_reply_to=(request.message_id or None) if request else None,
        **where,
    )


def _stands(request: RequestInfo | None) -> str:
    """How the request stands that was not decided."""
    if request is None:
        return "Nothing was done."
    if request.state == "open":
        return f"Nothing was done, and the request {request.code} still waits."
    return f"Nothing was done. The request {request.code} waits no more; it is {request.state.value}."


def _came(who: str, request: RequestInfo | None) -> str:
    what = "answered it from outside" if request else "came to the address for answers from outside"
    return f"A mail that says it is from {who} {what}"


def _todo(tried: Tried, doubt: Doubt) -> str:
    """What to do, if it was the user, and if it was not."""
    if tried.request is not None and tried.request.state != "open":
        advice = "If it was you, there is nothing to do."
    else:
        advice = _ADVICE[doubt.name]
    if tried.request is None:
        return f"{advice} If it was not you, there is nothing to do."
    return f"{advice} If it was not you, somebody has seen the mail that was sent to you."
