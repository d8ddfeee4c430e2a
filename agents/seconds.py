"""Two approvals: calls that a second person, named in the settings, must approve too.

The rule: each of the two approves under an identity and a token of their own, once; nothing is approved before both
have, which a trigger of the database holds as well; a no of either ends it, and a change begins anew for both.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from agents import audit, ids, outbox, store
from agents.letter import Outgoing
from agents.office import Office
from agents.ports import Approver, ReadTx, WriteTx
from agents.profile import named
from agents.store import Item, Request, Run

NOBODY: Final = Approver("", "")


class Seat(StrEnum):
    """In which place somebody decides."""

    OWNER = "owner"
    SECOND = "second"


@dataclass(frozen=True, slots=True)
class Second:
    """The second approver of a request; `account` is None where there is nobody, `key` that of the mail to them."""

    request: str
    approver: str
    account: int | None
    token: str
    key: str


@dataclass(frozen=True, slots=True)
class Vote:
    """An approval of an item by one of the two."""

    seat: Seat
    by: str
    via: str
    at: int


def wanted(tx: ReadTx, office: Office, run: Run, tool: str) -> tuple[str, ...]:
    """Who may be the second approver of a call of a tool; none when one person is enough. What a run is asked to do
    for another is under the policy of both.
    """
    approvers: dict[str, None] = {}
    asking: Run | None = run
    while asking is not None:
        two, second = office.settings.two_of(asking.agent)
        if named(tool, two):
            approvers |= dict.fromkeys(second)
        asking = store.get_run(tx, asking.parent) if asking.parent else None
    return tuple(approvers)


def find(tx: WriteTx, office: Office, run: Run, tools: Sequence[str]) -> Approver | None:
    """The second approver of calls of these tools; NOBODY when there must be one and is none; None: not wanted."""
    names = dict.fromkeys(name for tool in tools for name in wanted(tx, office, run, tool))
    if not names:
        return None
    return office.mail.approver(tx, run.account, tuple(names)) or NOBODY


def seat(tx: WriteTx, office: Office, asked: Outgoing, approver: Approver) -> None:
    """Ask the second approver of a request too: the same mail, under a token of its own, in their own mailbox."""
    view = asked.request
    if view is None:
        raise ValueError("only a request has a second approver")
    token, key = ids.new_token(), f"{asked.key}.second"
    fields = {"request": view.id, "approver": approver.address, "account": approver.account}
    tx.run("agents.seconds.add", token=token, key=key, **fields)
    facts = {"approver": approver.address, "revision": view.revision}
    audit.record(tx, office.now(), asked.account, "request.seconded", asked.run, view.id, **facts)
    if approver.account is None:
        return
    mail = replace(
        asked,
        key=key,
        account=approver.account,
        thread=approver.thread,
        message_id=ids.message_id(key, office.settings.domain),
        in_reply_to=None,
        body=f"{asked.body}\n\nThis is a task of {approver.owner}.",
        request=replace(view, token=token, two=(approver.address, approver.owner)),
    )
    outbox.put(tx, office, mail, request=view.id, taint=True)


def of(tx: ReadTx, request: str) -> Second | None:
    """The second approver of a request."""
    row = tx.one("agents.seconds.get", request=request)
    return _second(row) if row else None


def asked(
    tx: ReadTx, account: int, *, token: str | None = None, message_id: str | None = None, code: str | None = None
) -> tuple[Request, Second] | None:
    """A request of somebody else that this account is the second approver of, by one of its marks."""
    row = None
    if token is not None:
        row = tx.one("agents.seconds.by_token", token=token.lower(), account=account)
    elif message_id is not None:
        row = tx.one("agents.seconds.by_message", message_id=message_id, account=account)
    elif code is not None:
        row = tx.one("agents.seconds.by_code", code=code.strip("[] ").upper(), account=account)
    if row is None:
        return None
    found = tx.all("agents.seconds.request", request=row["request"])[0]
    return store.to_request(found), _second(row)


def vote(tx: WriteTx, office: Office, item: Item, given: Vote) -> tuple[bool, tuple[Vote, ...]]:
    """Note the approval of one of the two: whether it is a new one, and all there are now, the first first."""
    fields = {"seat": given.seat.value, "by": given.by, "via": given.via}
    new = tx.run("agents.seconds.vote", item=item.id, now=office.now(), **fields)
    return bool(new), votes(tx, item)


def votes(tx: ReadTx, item: Item) -> tuple[Vote, ...]:
    """Who of the two approved an item, the first first."""
    rows = tx.all("agents.seconds.votes", item=item.id)
    return tuple(Vote(Seat(row["seat"]), row["by"], row["via"], row["at"]) for row in rows)


def waits_for(tx: ReadTx, request: str, of_seat: Seat) -> bool:
    """Whether something in a request still waits for the word of one of the two."""
    return tx.value("agents.seconds.waits_for", request=request, seat=of_seat.value) is not None


def _second(row: sqlite3.Row) -> Second:
    return Second(*(row[name] for name in ("request", "approver", "account", "token", "key")))
