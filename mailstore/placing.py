"""Puts messages into mailboxes and takes them out: placements, counters, log rows and shifts, always the four together.

The rule: only this module writes placements and counters, and each change has its row in the log with a modseq of its
own; so STATUS is read from counters, and whoever follows the log misses nothing.
"""

import json
from collections.abc import Iterable, Sequence

from mailstore.errors import NoSuchAccount
from mailstore.events import Touched
from mailstore.model import DELETED, AccountId, MailboxId, ModSeq, Uid
from mailstore.shifts import Came, Flagged, Shift, Shifts, Went
from mailstore.standing import Batch, Column, runs, unseen
from mailstore.transaction import WriteTx

ARRIVED, GONE, MARKED, FLAGGED = 1, 2, 3, 4  # kinds of log rows
_DAY = 86_400_000


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


def place(tx: WriteTx, account: AccountId, mailbox: MailboxId, batch: Batch, modseq: ModSeq) -> Uid:
    """Place messages under ascending UIDs, in their order, with these flag sets; returns the first UID."""
    return place_all(tx, account, [(mailbox, batch)], modseq)[0]


def place_all(tx: WriteTx, account: AccountId, batches: Sequence[tuple[MailboxId, Batch]], modseq: ModSeq) -> list[Uid]:
    """The same in several mailboxes, with one statement of each kind; the first UID in each."""
    first = [_reserve(tx, mailbox, batch, modseq) for mailbox, batch in batches]
    placed = list(zip(batches, first, strict=True))
    tx.many(
        "mailstore.placing.put",
        [
            {"mailbox": mailbox, "uid": uid, "emails": str([*batch.emails]), "modseq": modseq, "saved": tx.now}
            for (mailbox, batch), uid in placed
        ],
    )
    for (mailbox, batch), uid in placed:
        marks = [uid + at for at, key in enumerate(batch.keys) if key & DELETED]
        if marks:
            _set_marks(tx, mailbox, marks, True, modseq)
    _log(tx, account, [(mailbox, ARRIVED, uid, uid + len(batch) - 1) for (mailbox, batch), uid in placed], modseq)
    for (mailbox, batch), uid in placed:
        note(tx, Came(mailbox, modseq, uid, batch.keys))
    return first


def _reserve(tx: WriteTx, mailbox: MailboxId, batch: Batch, modseq: ModSeq) -> Uid:
    marked = [size for key, size in zip(batch.keys, batch.sizes, strict=True) if key & DELETED]
    uid: int = tx.value(
        "mailstore.placing.reserve",
        mailbox=mailbox,
        messages=len(batch),
        unseen=unseen(batch.keys),
        deleted=len(marked),
        size=sum(batch.sizes),
        deleted_size=sum(marked),
        modseq=modseq,
    )
    return Uid(uid)


def take(tx: WriteTx, account: AccountId, mailbox: MailboxId, batch: Batch, uids: Column, modseq: ModSeq) -> None:
    """Take the placements of messages away; the flag sets are as they are in this mailbox."""
    marked = [size for key, size in zip(batch.keys, batch.sizes, strict=True) if key & DELETED]
    ranges = runs(sorted(uids))
    tx.many("mailstore.placing.take", [{"mailbox": mailbox, "first": first, "last": last} for first, last in ranges])
    count(
        tx,
        mailbox,
        modseq,
        messages=-len(uids),
        unseen=-unseen(batch.keys),
        deleted=-len(marked),
        size=-sum(batch.sizes),
        deleted_size=-sum(marked),
        left=uids,
    )
    log(tx, account, mailbox, modseq, GONE, ranges)
    note(tx, Went(mailbox, modseq, uids))


def mark(
    tx: WriteTx, account: AccountId, mailbox: MailboxId, uids: Column, sizes: Column, on: bool, modseq: ModSeq
) -> None:
    """Set or take away \\Deleted, which belongs to the placement; ascending UIDs whose mark changes."""
    _set_marks(tx, mailbox, uids, on, modseq)
    log(tx, account, mailbox, modseq, MARKED, runs(uids))
    sign = 1 if on else -1
    count(tx, mailbox, modseq, deleted=sign * len(uids), deleted_size=sign * sum(sizes))
    note(tx, Flagged(mailbox, modseq, uids, added=DELETED if on else 0, taken=0 if on else DELETED))


def _set_marks(tx: WriteTx, mailbox: MailboxId, uids: Column, on: bool, modseq: ModSeq) -> None:
    rows = [
        {"mailbox": mailbox, "first": first, "last": last, "deleted": int(on), "modseq": modseq}
        for first, last in runs(uids)
    ]
    tx.many("mailstore.placing.mark", rows)


def note(tx: WriteTx, shift: Shift) -> None:
    """Keep a shift with its transaction, and see that the doorbell of its mailbox is rung."""
    tx.kept(Shifts).append(shift)
    tx.emit(Touched(frozenset((shift.mailbox,)), shift))


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
    _log(tx, account, [(mailbox, kind, first, last) for first, last in ranges], modseq)


def _log(tx: WriteTx, account: AccountId, rows: Iterable[tuple[int, int, int, int]], modseq: ModSeq) -> None:
    tx.many(
        "mailstore.placing.log",
        [
            {"account": account, "mailbox": mailbox, "modseq": modseq, "kind": kind, "first": first, "last": last}
            for mailbox, kind, first, last in rows
        ],
    )
