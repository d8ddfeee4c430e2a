"""Changing flags.

The rule (DECISIONS 4): \\Deleted and \\Recent belong to one placement, all other flags to the message and so to every
mailbox that shows it. One STORE is one modseq; a message whose flags are already so is not changed and not logged.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from mailstore import keywords as words
from mailstore import standing, views
from mailstore.copies import living
from mailstore.keywords import known, read_flags
from mailstore.lookup import get
from mailstore.model import (
    DELETED,
    KEY_SHIFT,
    SEEN,
    SHARED,
    AccountId,
    EmailId,
    FlagOp,
    Mailbox,
    MailboxId,
    ModSeq,
    Stored,
    Uid,
)
from mailstore.placing import FLAGGED, count, log, mark, next_modseq, note
from mailstore.shifts import Flagged
from mailstore.standing import Standing, runs
from mailstore.transaction import WriteTx

__all__ = ["FlagOp", "claim_recent", "known", "set_keywords", "store"]

Change = Callable[[int, int], tuple[int, int]]  # (bits, keyword set) of a message before, and after


@dataclass(frozen=True, slots=True)
class Difference:
    """What becomes of a flag set: bits added and taken away, and the new keyword set where that changes."""

    added: int
    taken: int
    keywords: int | None


def store(
    tx: WriteTx,
    mailbox: Mailbox,
    uids: Sequence[Uid],
    op: FlagOp,
    flags: Collection[str],
    unchanged_since: ModSeq | None = None,
) -> Stored:
    """Change the flags of those of these UIDs that exist. Raises BadFlag, QuotaOver, NoSuchMailbox.

    With `unchanged_since`, messages changed after that modseq are left alone and listed in `modified` (RFC 7162).
    """
    mailbox = get(tx, mailbox.id)
    given = read_flags(flags)
    modified = [] if unchanged_since is None else _left_alone(tx, mailbox, uids, op, given, unchanged_since)
    there = standing.at(tx, mailbox, set(uids).difference(modified) if modified else uids)
    change = _change(tx, mailbox.account, op, given.bits, given.keywords)
    differences = _differences(there.keys, change)
    marking = _marking(there.keys, op, given.deleted)
    touched = {key for key in differences if differences[key] or marking.get(key)}
    if touched:
        modseq = next_modseq(tx, mailbox.account)
        if any(marking.values()):  # first: a message that is read may leave the view in which it is marked
            marked = there.where(map(marking.__getitem__, there.keys))
            mark(tx, mailbox.account, mailbox.id, marked.uids, marked.sizes, _is_marking(op, given.deleted), modseq)
        _write(tx, mailbox.account, there, differences, modseq)
    if len(touched) == len(differences):
        return Stored([*map(Uid, there.uids)], modified)
    return Stored([Uid(uid) for uid, key in zip(there.uids, there.keys, strict=True) if key in touched], modified)


def set_keywords(tx: WriteTx, email: EmailId, add: Collection[str] = (), remove: Collection[str] = ()) -> None:
    """Add and remove keywords of a message, or of the copies that stand for it when it is gone."""
    there = standing.stored(tx, living(tx, email))
    if not there:
        return
    account = get(tx, MailboxId(there.mailboxes[0])).account
    adding = _change(tx, account, FlagOp.ADD, 0, read_flags(add).keywords)
    removing = _change(tx, account, FlagOp.REMOVE, 0, read_flags(remove).keywords)
    differences = _differences(there.keys, lambda bits, set_: adding(*removing(bits, set_)))
    if any(differences.values()):
        _write(tx, account, there, differences, next_modseq(tx, account))


def claim_recent(tx: WriteTx, mailbox: Mailbox) -> tuple[Uid, Uid] | None:
    """Take the mailbox's \\Recent messages for one session: the range of their UIDs, or None when there are none.

    Call it for read-write sessions only, at SELECT and when messages have arrived (RFC 3501 2.3.2).
    """
    row = tx.one("mailstore.flags.recent", mailbox=mailbox.id)
    if row is None or row["recent_from"] >= row["uidnext"]:
        return None
    tx.run("mailstore.flags.claim", mailbox=mailbox.id)
    return (Uid(row["recent_from"]), Uid(row["uidnext"] - 1)) if row["recent"] else None


def _change(tx: WriteTx, account: AccountId, op: FlagOp, bits: int, keywords: Iterable[str]) -> Change:
    """The change to one message, remembering what it makes of each keyword set."""
    spelled = words.spell(tx, account, keywords) if op is not FlagOp.REMOVE else list(keywords)
    folded = {keyword.casefold() for keyword in spelled}
    sets: dict[int, int] = {}

    def changed_set(keyword_set: int) -> int:
        if op is FlagOp.REPLACE:
            return words.intern(tx, account, spelled)
        if not folded:
            return keyword_set
        before = words.names(tx, keyword_set)
        kept = [name for name in before if name.casefold() not in folded]
        return words.intern(tx, account, kept if op is FlagOp.REMOVE else [*kept, *spelled])

    def change(before: int, keyword_set: int) -> tuple[int, int]:
        if keyword_set not in sets:
            sets[keyword_set] = changed_set(keyword_set)
        after = {FlagOp.ADD: before | bits, FlagOp.REMOVE: before & ~bits, FlagOp.REPLACE: bits}[op]
        return after, sets[keyword_set]

    return change


def _left_alone(
    tx: WriteTx, mailbox: Mailbox, uids: Sequence[Uid], op: FlagOp, given: words.Flags, unchanged_since: ModSeq
) -> list[Uid]:
    """The messages that have changed since. With 0 it is asked whether the flags exist: a keyword does where it is set,
    a system flag always (RFC 7162 section 3.1.3); so a client sets $MDNSent if nobody else has."""
    if unchanged_since or given.bits or given.deleted or op is FlagOp.REPLACE:
        return _changed_since(tx, mailbox, uids, unchanged_since)
    named = {keyword.casefold() for keyword in given.keywords}
    there = standing.at(tx, mailbox, uids)
    having = {
        key for key in set(there.keys) if named.intersection(map(str.casefold, words.names(tx, key >> KEY_SHIFT)))
    }
    return [Uid(uid) for uid, key in zip(there.uids, there.keys, strict=True) if key in having]


def _changed_since(tx: WriteTx, mailbox: Mailbox, uids: Sequence[Uid], modseq: ModSeq) -> list[Uid]:
    rows = tx.all("mailstore.flags.changed-since", mailbox=mailbox.id, uids=standing.spans(uids), modseq=modseq)
    return [Uid(row["uid"]) for row in rows]


def _differences(keys: Iterable[int], change: Change) -> dict[int, Difference | None]:
    """For each flag set among these what becomes of it; None: nothing."""
    return {key: _difference(key, change) for key in set(keys)}


def _difference(key: int, change: Change) -> Difference | None:
    before, set_before = key & SHARED, key >> KEY_SHIFT
    after, set_after = change(before, set_before)
    if (after, set_after) == (before, set_before):
        return None
    return Difference(after & ~before, before & ~after, None if set_after == set_before else set_after)


def _is_marking(op: FlagOp, deleted: bool) -> bool:
    """Whether \\Deleted is there afterwards, for the messages of which it changes."""
    return deleted if op is FlagOp.REPLACE else op is FlagOp.ADD


def _marking(keys: Iterable[int], op: FlagOp, deleted: bool) -> dict[int, bool]:
    """For each flag set among these whether its \\Deleted changes."""
    if op is not FlagOp.REPLACE and not deleted:
        return {}
    after = _is_marking(op, deleted)
    return {key: bool(key & DELETED) != after for key in set(keys)}


def _write(
    tx: WriteTx, account: AccountId, there: Standing, differences: dict[int, Difference | None], modseq: ModSeq
) -> None:
    """Write new flags with their log rows, the unseen counters of every mailbox concerned, and the views."""
    unseen: Counter[MailboxId] = Counter()
    changed: list[int] = []
    moving: list[int] = []
    boxes = views.boxes(tx, account)
    for difference, alike in _alike(there, differences):
        _set(tx, alike, difference, modseq)
        changed += alike.emails
        seen = (difference.taken & SEEN) - (difference.added & SEEN)
        if seen:
            moving += alike.emails
        for box, uids in _places(alike, boxes):
            unseen[box] += seen * (len(uids) - uids.count(0))
            note(tx, Flagged(box, modseq, uids, difference.added, difference.taken, difference.keywords))
    if changed:
        log(tx, account, 0, modseq, FLAGGED, runs(sorted(changed)))
    for box, difference_ in unseen.items():
        count(tx, box, modseq, unseen=difference_)
    _refresh_views(tx, account, moving, modseq)


def _refresh_views(tx: WriteTx, account: AccountId, moving: Sequence[int], modseq: ModSeq) -> None:
    """For messages whose \\Seen has changed."""
    if moving:
        views.unread_again(tx, moving)
        views.refresh(tx, account, moving, modseq)


def _alike(there: Standing, differences: dict[int, Difference | None]) -> Iterator[tuple[Difference, Standing]]:
    """The messages that change, by what changes of them."""
    kinds = dict.fromkeys(differences.values())
    for difference in kinds:
        if difference is not None and len(kinds) == 1:
            yield difference, there
        elif difference is not None:
            same = {key for key, each in differences.items() if each == difference}
            yield difference, there.where(map(same.__contains__, there.keys))


def _places(there: Standing, boxes: dict[int, MailboxId]) -> Iterator[tuple[MailboxId, Sequence[int]]]:
    """Every mailbox that shows one of these messages, with their UIDs there."""
    for box, stored in there.by_mailbox():
        yield box, stored.homes
    for bit, view in boxes.items():
        uids = there.within(bit)
        if any(uids):
            yield view, uids


def _set(tx: WriteTx, alike: Standing, difference: Difference, modseq: ModSeq) -> None:
    """Write a difference, in runs of messages."""
    change = {"added": difference.added, "taken": difference.taken, "keywords": difference.keywords, "modseq": modseq}
    ranges = runs(sorted(alike.emails))
    tx.many("mailstore.flags.set", [{**change, "first": first, "last": last} for first, last in ranges])
