"""Changing flags.

The rule (DECISIONS 4): \\Deleted and \\Recent belong to one placement, all other flags to the message and so to every
mailbox that shows it. One STORE is one modseq; a message whose flags are already so is not changed and not logged.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from sqlite3 import Row

from mailstore import keywords as words
from mailstore import views
from mailstore.copies import living
from mailstore.events import Touched
from mailstore.keywords import known, read_flags
from mailstore.lookup import get
from mailstore.model import SEEN, AccountId, EmailId, FlagOp, Mailbox, MailboxId, ModSeq, Stored, Uid
from mailstore.placing import FLAGGED, MARKED, count, log, next_modseq, rows_at, runs
from mailstore.transaction import WriteTx

__all__ = ["FlagOp", "claim_recent", "known", "set_keywords", "store"]

Change = Callable[[int, int], tuple[int, int]]  # (bits, keyword set) of a message before, and after
Changed = dict[tuple[int, int, int, int], list[Row]]  # rows that change, by bits and keyword set before, and after


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
    rows = rows_at(tx, mailbox.id, uids)
    limit = unchanged_since
    modified = [] if limit is None else [Uid(row["uid"]) for row in rows if row["modseq"] > limit]
    if modified:
        rows = [row for row in rows if row["modseq"] <= (limit or 0)]
    change = _change(tx, mailbox.account, op, given.bits, given.keywords)
    changed = _apply(rows, change)
    marked = _marked(rows, op, given.deleted)
    if changed or marked:
        modseq = next_modseq(tx, mailbox.account)
        if marked:  # first: a message that is read may leave the view in which it is marked
            _mark(tx, mailbox, marked, modseq)
        _write(tx, mailbox.account, changed, modseq)
    emails = {row["email"] for rows_ in changed.values() for row in rows_}
    touched = {row["uid"] for row in marked}
    return Stored([Uid(row["uid"]) for row in rows if row["email"] in emails or row["uid"] in touched], modified)


def set_keywords(tx: WriteTx, email: EmailId, add: Collection[str] = (), remove: Collection[str] = ()) -> None:
    """Add and remove keywords of a message, or of the copies that stand for it when it is gone."""
    rows = tx.all("mailstore.flags.of-emails", emails=json.dumps(living(tx, email)))
    if not rows:
        return
    account = AccountId(rows[0]["account"])
    adding = _change(tx, account, FlagOp.ADD, 0, read_flags(add).keywords)
    removing = _change(tx, account, FlagOp.REMOVE, 0, read_flags(remove).keywords)
    changed = _apply(rows, lambda bits, set_: adding(*removing(bits, set_)))
    if changed:
        _write(tx, account, changed, next_modseq(tx, account))


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


def _apply(rows: Iterable[Row], change: Change) -> Changed:
    groups: dict[tuple[int, int], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["flags"], row["keywords"]), []).append(row)
    afters = {before: change(*before) for before in groups}
    return {(*before, *afters[before]): group for before, group in groups.items() if afters[before] != before}


def _write(tx: WriteTx, account: AccountId, changed: Changed, modseq: ModSeq) -> None:
    """Write new flags with their log rows, the unseen counters of every mailbox concerned, and the views."""
    emails = sorted(row["email"] for rows in changed.values() for row in rows)
    if not emails:
        return
    _set(tx, changed, modseq)
    log(tx, account, 0, modseq, FLAGGED, runs(emails))
    unseen = _unseen(changed, views.boxes(tx, account))
    for mailbox, difference in unseen.items():
        count(tx, mailbox, modseq, unseen=difference)
    tx.emit(Touched(frozenset(unseen)))
    _refresh_views(tx, account, changed, modseq)


def _set(tx: WriteTx, changed: Changed, modseq: ModSeq) -> None:
    """Write what is added, taken away and made of the keywords; messages that share this are written in runs."""
    alike: dict[tuple[int, int, int | None], list[int]] = {}
    for (before, set_before, after, set_after), rows in changed.items():
        difference = (after & ~before, before & ~after, None if set_after == set_before else set_after)
        alike.setdefault(difference, []).extend(row["email"] for row in rows)
    for (added, taken, keywords), emails in alike.items():
        tx.many(
            "mailstore.flags.set",
            [
                {"added": added, "taken": taken, "keywords": keywords, "modseq": modseq, "first": first, "last": last}
                for first, last in runs(sorted(emails))
            ],
        )


def _unseen(changed: Changed, view_boxes: dict[int, MailboxId]) -> Counter[MailboxId]:
    """How the counters of unseen messages change, with a row for every mailbox that shows one of these messages."""
    unseen: Counter[MailboxId] = Counter()
    for (before, _, after, _), rows in changed.items():
        difference = (before & SEEN) - (after & SEEN)
        for (mailbox, shown), number in Counter((row["mailbox"], row["shown"]) for row in rows).items():
            unseen[mailbox] += difference * number
            for bit, view in view_boxes.items():
                if shown & bit:
                    unseen[view] += difference * number
    return unseen


def _refresh_views(tx: WriteTx, account: AccountId, changed: Changed, modseq: ModSeq) -> None:
    moving = [
        EmailId(row["email"])
        for (before, _, after, _), rows in changed.items()
        if (before ^ after) & SEEN
        for row in rows
    ]
    if moving:
        views.unread_again(tx, moving)
        views.refresh(tx, account, moving, modseq)


def _marked(rows: Sequence[Row], op: FlagOp, deleted: bool) -> list[Row]:
    """The rows whose \\Deleted changes."""
    if op is not FlagOp.REPLACE and not deleted:
        return []
    after = deleted if op is FlagOp.REPLACE else op is FlagOp.ADD
    return [row for row in rows if bool(row["deleted"]) != after]


def _mark(tx: WriteTx, mailbox: Mailbox, rows: Sequence[Row], modseq: ModSeq) -> None:
    deleted = not rows[0]["deleted"]
    uids = [row["uid"] for row in rows]
    tx.run("mailstore.flags.mark", mailbox=mailbox.id, deleted=int(deleted), modseq=modseq, uids=json.dumps(uids))
    log(tx, mailbox.account, mailbox.id, modseq, MARKED, runs(uids))
    sign = 1 if deleted else -1
    size = sum(row["size"] for row in rows)
    count(tx, mailbox.id, modseq, deleted=sign * len(rows), deleted_size=sign * size)
    tx.emit(Touched(frozenset((mailbox.id,))))
