"""Requests by their code: what exactly waits, and the decision on it.

The rule: what was shown is what is decided: a decision names the request and the revision that it saw, and is audited
with "cli" as the place it came from.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from agents import lookup, seconds
from agents.approvals import Decision
from agents.ports import ReadTx
from agents.requests import RequestInfo
from agents.seconds import Seat
from bridge.control.ports import Desk
from bridge.control.protocol import BAD_REQUEST, NOT_FOUND, Args, ControlError, Json
from bridge.control.who import DEVICE, chosen
from bridge.post.letters import request_text

VERDICTS: Final = frozenset({"approve", "reject", "answer", "edit", "done", "skip"})


async def show(desk: Desk, args: Args) -> Json:
    """A request of an account by its code: as it stands in its mail, and which words decide it."""
    account = chosen(desk, args.optional("account"))
    code = args.text("code")
    args.done()
    info = desk.store.read(lambda tx: desk.runtime.find_request(tx, account.id, code=code))
    if info is None:
        fix = "`postroom status` lists what waits"
        raise ControlError(NOT_FOUND, f"account {account.name} has no request [{code.strip('[] ').upper()}]", fix)
    return {"account": account.name, **_told(info)}


def _told(info: RequestInfo) -> Json:
    return {
        "id": info.id,
        "code": info.code,
        "revision": info.revision,
        "kind": info.kind.value,
        "state": info.state.value,
        "agent": info.agent,
        "title": info.title,
        "text": request_text(info.view),
        "decisions": list(info.decisions),
        "opened": info.opened,
        "expires": info.expires,
    }


async def decide(desk: Desk, args: Args) -> Json:
    """Decide the request `id` in the `revision` that was shown, or only `items` of it; `edits` are new values by field.
    The outcome says what came of it, `waiting` which items still wait.
    """
    account = chosen(desk, args.optional("account"))
    request, revision = args.text("id"), args.number("revision", 0)
    verdict, text = args.text("verdict"), args.optional("text") or ""
    items, edits = args.numbers("items"), args.mapping("edits")
    args.done()
    if verdict not in VERDICTS:
        raise ControlError(BAD_REQUEST, f"{verdict!r} is no decision", f"one of {', '.join(sorted(VERDICTS))}")
    owner, seat = desk.store.read(lambda tx: _place(tx, account.id, request))
    decision = Decision(
        account=owner,
        request=request,
        verdict=verdict,
        by=account.address,
        via=DEVICE,
        at=time.time_ns() // 1_000_000,
        revision=revision,
        items=items,
        text=text,
        edits=edits,
        line=_line(verdict, items, text, edits),
        rule="command line",
        seat=seat,
    )
    decided = await desk.store.write(lambda tx: desk.runtime.decide(tx, decision))
    return {"outcome": decided.outcome, "text": decided.text, "waiting": list(decided.open_items)}


def _line(verdict: str, items: Sequence[int], text: str, edits: Mapping[str, Any]) -> str:
    """The decision as the audit keeps it; of a change the names of its fields, not their values."""
    chosen = f" {','.join(map(str, items))}" if items else ""
    more = text or ", ".join(edits)
    return f"{verdict}{chosen}: {more}" if more else f"{verdict}{chosen}"


def _place(tx: ReadTx, account: int, request: str) -> tuple[int, Seat]:
    """Whose request it is, and in whose place the account decides it: its own, or that of a second approver."""
    second = seconds.of(tx, request)
    owner = lookup.owner_of(tx, request)
    if second is not None and second.account == account and owner is not None:
        return owner, Seat.SECOND
    return account, Seat.OWNER
