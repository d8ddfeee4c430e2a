"""Puts messages into mailboxes and takes them out: placements, counters and log rows, always the three together.

The rule: only this module writes placements and counters, and each change has its row in the log with a modseq of its
own; so STATUS is read from counters, and whoever follows the log misses nothing.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from sqlite3 import Row

from mailstore.errors import NoSuchAccount
from mailstore.events import Touched
from mailstore.model import SEEN, AccountId, EmailId, MailboxId, ModSeq, Uid
from mailstore.transaction import ReadTx, WriteTx

ARRIVED, GONE, MARKED, FLAGGED = 1, 2, 3, 4  # kinds of log rows
_DAY = 86_400_000


@dataclass(frozen=True, slots=True)
class Item:
    """A message to be placed, with what is counted of it."""

    email: EmailId
    flags: int
    size: int
    deleted: int = 0


def next_modseq(tx: WriteTx, account: AccountId) -> ModSeq:
    """The account's next modseq. Each change that is told as one takes one."""
    row = tx.one("mailstore.placing.next-modseq", account=account)
    if row is None:
        raise NoSuchAccount("the account was removed")
    modseq, noted = row
    today = tx.now // _DAY
    if noted != today:
        tx.run("mailstore.placing.note-day", account=account, day=today, modseq=modseq)
        tx.run("mailstore.placing.set-day", account=account, day=today)
    return ModSeq(modseq)


def place(tx: WriteTx, account: AccountId, mailbox: MailboxId, items: Sequence[Item], modseq: ModSeq) -> Uid:
    """Place the items under ascending UIDs, in their order; returns the first UID."""
    deleted = [item for item in items if item.deleted]
    uid: int = tx.value(
        "mailstore.placing.reserve",
        mailbox=mailbox,
        messages=len(items),
        unseen=sum(not item.flags & SEEN for item in items),
        deleted=len(deleted),
        size=sum(item.size for item in items),
        deleted_size=sum(item.size for item in deleted),
        modseq=modseq,
    )
    tx.many(
        "mailstore.placing.put",
        [
            {
                "mailbox": mailbox,
                "uid": uid + offset,
                "email": item.email,
                "modseq": modseq,
                "saved": tx.now,
                "deleted": item.deleted,
            }
            for offset, item in enumerate(items)
        ],
    )
    log(tx, account, mailbox, modseq, ARRIVED, [(uid, uid + len(items) - 1)])
    tx.emit(Touched(frozenset((mailbox,))))
    return Uid(uid)


def take(tx: WriteTx, account: AccountId, mailbox: MailboxId, rows: Sequence[Row], modseq: ModSeq) -> None:
    """Take placements away; `rows` as `rows_at` gives them."""
    uids = [row["uid"] for row in rows]
    deleted = [row["size"] for row in rows if row["deleted"]]
    tx.run("mailstore.placing.take", mailbox=mailbox, uids=json.dumps(uids))
    count(
        tx,
        mailbox,
        modseq,
        messages=-len(rows),
        unseen=-sum(not row["flags"] & SEEN for row in rows),
        deleted=-len(deleted),
        size=-sum(row["size"] for row in rows),
        deleted_size=-sum(deleted),
        left=uids,
    )
    log(tx, account, mailbox, modseq, GONE, runs(uids))
    tx.emit(Touched(frozenset((mailbox,))))


def count(
    tx: WriteTx,
    mailbox: MailboxId,
    modseq: ModSeq,
    *,
    messages: int = 0,
    unseen: int = 0,
    deleted: int = 0,
    size: int = 0,
    deleted_size: int = 0,
    left: Sequence[int] = (),
) -> None:
    """Change a mailbox's counters by these differences; `left` are the UIDs that went."""
    tx.run(
        "mailstore.placing.count",
        mailbox=mailbox,
        modseq=modseq,
        messages=messages,
        unseen=unseen,
        deleted=deleted,
        size=size,
        deleted_size=deleted_size,
        left=json.dumps(left),
    )


def log(
    tx: WriteTx, account: AccountId, mailbox: int, modseq: ModSeq, kind: int, ranges: Iterable[tuple[int, int]]
) -> None:
    """Write log rows, one a range. Mailbox 0 holds what concerns messages wherever they are placed."""
    tx.many(
        "mailstore.placing.log",
        [
            {"account": account, "mailbox": mailbox, "modseq": modseq, "kind": kind, "first": first, "last": last}
            for first, last in ranges
        ],
    )


def runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Ascending numbers folded into inclusive ranges of neighbours."""
    ranges: list[tuple[int, int]] = []
    first = last = -2
    for number in numbers:
        if number != last + 1:
            if last >= 0:
                ranges.append((first, last))
            first = number
        last = number
    if last >= 0:
        ranges.append((first, last))
    return ranges


def spans(uids: Iterable[int]) -> str:
    """UIDs as queries take them: [[first, last], ...], ascending. Neighbours are read in one sweep."""
    return json.dumps(runs(sorted(set(uids))))


def rows_at(tx: ReadTx, mailbox: MailboxId, uids: Sequence[int]) -> list[Row]:
    """The placements of those of these UIDs that exist, ascending."""
    return tx.all("mailstore.placing.at", mailbox=mailbox, uids=spans(uids))


def rows_of(tx: ReadTx, mailbox: MailboxId, emails: Sequence[int]) -> list[Row]:
    """The placements of these messages in one mailbox, by UID."""
    rows = tx.all("mailstore.placing.of", mailbox=mailbox, emails=json.dumps(list(emails)))
    return sorted(rows, key=itemgetter("uid"))  # here, as SQLite sorts thousands of rows far slower
