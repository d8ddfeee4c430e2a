"""The change log, read: what happened in a mailbox after a given modseq.

The rule: what is told is folded: a message that came and went in between is not told, one that changed twice is told
once. A list of UIDs and the modseq that goes with it are always read in one snapshot.
"""

import json
from array import array
from collections.abc import Iterable

from mailstore import lookup, shifts
from mailstore.model import AccountId, Delta, Mailbox, ModSeq, Snapshot, Uid
from mailstore.placing import ARRIVED, FLAGGED, GONE, MARKED
from mailstore.transaction import ReadTx, WriteTx

__all__ = ["Delta", "Snapshot", "expunged_since", "made", "prune", "since", "snapshot"]

KEEP_DAYS = 90  # of log; who asks for older changes is told to compare the whole list (DECISIONS 14)


def snapshot(tx: ReadTx, mailbox: Mailbox) -> Snapshot:
    """The mailbox as it is now. Reads every UID; `Store.snapshot` has them in memory."""
    status = tx.one("mailstore.mailboxes.status", mailbox=mailbox.id)
    if status is None:
        lookup.get(tx, mailbox.id)
        raise AssertionError("a mailbox without a status row")
    return Snapshot(
        uids=array("I", [row["uid"] for row in tx.all("mailstore.changes.uids", mailbox=mailbox.id)]),
        highest_modseq=ModSeq(status["highest_modseq"]),
        uidvalidity=status["uidvalidity"],
        uidnext=Uid(status["uidnext"]),
        recent=status["recent"],
        recent_from=Uid(status["recent_from"]),
        first_unseen=tx.value("mailstore.changes.first-unseen", mailbox=mailbox.id),
    )


def since(tx: ReadTx, mailbox: Mailbox, modseq: ModSeq) -> Delta:
    """What happened after `modseq`. Raises NoSuchMailbox.

    When the log does not reach back so far, `complete` is False, `gone` is empty and `changed` has all that changed.
    """
    highest = lookup.status(tx, mailbox).highest_modseq
    if highest <= modseq:
        return Delta(highest, [], [], [])
    if modseq < _floor(tx, mailbox.account):
        rows = tx.all("mailstore.changes.changed-since", mailbox=mailbox.id, modseq=modseq)
        return Delta(highest, [], [], [Uid(row["uid"]) for row in rows], complete=False)
    return _fold(tx, mailbox, modseq, highest)


def _fold(tx: ReadTx, mailbox: Mailbox, modseq: ModSeq, highest: ModSeq) -> Delta:
    ranges: dict[int, list[tuple[int, int]]] = {ARRIVED: [], GONE: [], MARKED: [], FLAGGED: []}
    for row in tx.all("mailstore.changes.log", account=mailbox.account, mailbox=mailbox.id, modseq=modseq):
        ranges[row["kind"]].append((row["first"], row["last"]))
    arrived = set(_numbers(ranges[ARRIVED]))
    gone = set(_numbers(ranges[GONE]))
    changed = set(_numbers(ranges[MARKED]))
    if ranges[FLAGGED]:
        rows = tx.all("mailstore.changes.uids-of", mailbox=mailbox.id, ranges=json.dumps(ranges[FLAGGED]))
        changed.update(row["uid"] for row in rows)
    return Delta(
        highest=highest,
        arrived=sorted(arrived - gone),
        gone=sorted(gone - arrived),
        changed=sorted(changed - arrived - gone),
    )


def made(tx: WriteTx, mailbox: Mailbox, before: ModSeq) -> Delta:
    """What this transaction has done to a mailbox whose highest modseq was `before`: what `since` would read back."""
    return shifts.made(tx, mailbox.id, before)


def expunged_since(tx: ReadTx, mailbox: Mailbox, modseq: ModSeq) -> list[tuple[int, int]]:
    """Ranges of UIDs that are gone, for VANISHED (RFC 7162 3.2.10): those that left after `modseq`, or, when the log
    does not reach back so far, every UID ever given that is not there now."""
    if modseq >= _floor(tx, mailbox.account):
        rows = tx.all("mailstore.changes.expunged", account=mailbox.account, mailbox=mailbox.id, modseq=modseq)
        return _merged((row["first"], row["last"]) for row in rows)
    uids = [row["uid"] for row in tx.all("mailstore.changes.uids", mailbox=mailbox.id)]
    return _gaps(uids, lookup.status(tx, mailbox).uidnext)


def prune(tx: WriteTx, account: AccountId) -> ModSeq:
    """Drop log rows older than 90 days; the new floor of the log."""
    day = tx.now // 86_400_000 - KEEP_DAYS
    floor: int = tx.value("mailstore.changes.floor-at", account=account, day=day)
    if floor > _floor(tx, account):
        for query in ("prune", "prune-days", "raise-floor"):
            tx.run(f"mailstore.changes.{query}", account=account, floor=floor)
    return _floor(tx, account)


def _floor(tx: ReadTx, account: AccountId) -> ModSeq:
    return ModSeq(tx.value("mailstore.changes.floor", account=account))


def _numbers(ranges: Iterable[tuple[int, int]]) -> Iterable[Uid]:
    for first, last in ranges:
        for number in range(first, last + 1):
            yield Uid(number)


def _merged(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for first, last in ranges:
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged


def _gaps(uids: list[int], uidnext: int) -> list[tuple[int, int]]:
    """The ranges between 1 and `uidnext` that no UID fills."""
    gaps, expected = [], 1
    for uid in uids:
        if uid > expected:
            gaps.append((expected, uid - 1))
        expected = uid + 1
    if expected < uidnext:
        gaps.append((expected, uidnext - 1))
    return gaps
