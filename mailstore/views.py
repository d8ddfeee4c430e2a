"""Action, Unread and All: mailboxes whose placements the store keeps by itself.

The rule: a view is brought up to date in the transaction of the change it depends on, so at every commit each message
stands in exactly the views that its mailbox, its \\Seen flag and its label call for. The one exception is Unread
(DECISIONS 8): a message that was read stays there while a session has had Unread selected since before it was read.

What a mailbox feeds: All leaves out Drafts, Trash, Junk, Activity, Automations and Memory (DECISIONS 9); Unread takes
INBOX and the user's folders; Action takes every open request but one in Trash.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from itertools import compress
from typing import Any

from mailstore.events import Lingering, Watched
from mailstore.model import DELETED, SEEN, AccountId, Mailbox, MailboxId, Millis, ModSeq, Role, Uid, View
from mailstore.placing import next_modseq, place, place_all, take
from mailstore.standing import ACTION, ALL, UNREAD, Batch, Column, Standing
from mailstore.transaction import ReadTx, WriteTx

BITS = {View.ALL: ALL, View.UNREAD: UNREAD, View.ACTION: ACTION}
_BITS = {str(view): bit for view, bit in BITS.items()}  # as the table has them
_COLUMNS = {ALL: "in_all", UNREAD: "in_unread"}
LINGER_MILLIS: Millis = 30 * 60 * 1000

_FEEDS = {
    Role.INBOX: ALL | UNREAD | ACTION,
    Role.USER: ALL | UNREAD | ACTION,
    Role.SENT: ALL | ACTION,
    Role.ARCHIVE: ALL | ACTION,
    Role.HANDOVER: ALL | ACTION,
    Role.TRASH: 0,
    Role.PARENT: 0,
}


def feeds(role: Role, view: View | None = None) -> int:
    """The views that may show a mailbox's mail; a view itself feeds none."""
    return 0 if view is not None else _FEEDS.get(role, ACTION)


def wanted(fed: int, flags: int, is_open: bool) -> int:
    """The views a message of a mailbox that feeds `fed` should stand in."""
    return fed & (ALL | (0 if flags & 1 else UNREAD) | (ACTION if is_open else 0))


def boxes(tx: ReadTx, account: AccountId) -> dict[int, MailboxId]:
    """The account's view mailboxes by bit."""
    return {_BITS[row["view"]]: MailboxId(row["id"]) for row in tx.all("mailstore.views.of", account=account)}


def refresh(tx: WriteTx, account: AccountId, emails: Sequence[int], modseq: ModSeq) -> None:
    """Bring the views up to date for messages whose mailbox, \\Seen flag or label has changed."""
    columns = tx.columns("mailstore.views.differing", emails=json.dumps(sorted(emails)))
    differing = _Differing(*columns)
    if not differing.emails:
        return
    for bit, view in boxes(tx, account).items():
        standing = differing.within(bit)
        wished = [wanted & bit for wanted in differing.wanted]
        entering = differing.where(wish and not uid for wish, uid in zip(wished, standing, strict=True))
        enter(tx, account, view, bit, entering.batch, modseq)
        leaving = differing.where(uid and not wish for wish, uid in zip(wished, standing, strict=True))
        if bit == UNREAD:
            leaving = _keep_read(tx, view, leaving, modseq)
        leave(tx, account, view, bit, leaving.batch, leaving.within(bit), modseq)


@dataclass(frozen=True, slots=True)
class _Differing:
    """Messages that stand in other views than they should, as columns; `feeds` is what their mailbox feeds."""

    emails: Column
    keys: Column
    sizes: Column
    in_all: Column
    in_unread: Column
    in_action: Column
    feeds: Column
    wanted: Column

    @property
    def batch(self) -> Batch:
        return Batch(self.emails, self.keys, self.sizes)

    def within(self, bit: int) -> Column:
        return {ALL: self.in_all, UNREAD: self.in_unread, ACTION: self.in_action}[bit]

    def where(self, chosen: Iterable[Any]) -> "_Differing":
        which = list(chosen)
        return _Differing(*(list(compress(getattr(self, each.name), which)) for each in fields(self)))


def place_new(tx: WriteTx, mailbox: Mailbox, batch: Batch, modseq: ModSeq) -> tuple[Uid, dict[str, Uid]]:
    """Place new messages in a stored mailbox and its views, in their order: the first UID there, and by the view's
    column the first UID in each view. None is open, so none is in Action. Their `state` is still to be written.
    """
    fed = feeds(mailbox.role)
    batches, columns = [(mailbox.id, batch)], []
    if fed & (ALL | UNREAD):
        views = boxes(tx, mailbox.account)
        for bit, column in _COLUMNS.items():
            entering = _entering(batch, bit) if fed & bit else None
            if entering:
                batches.append((views[bit], entering))
                columns.append(column)
    uid, *shown = place_all(tx, mailbox.account, batches, modseq)
    return uid, dict(zip(columns, shown, strict=True))


def _entering(batch: Batch, bit: int) -> Batch:
    """Those of new messages that a view shows, without \\Deleted, which is their mailbox's."""
    plain = Batch(batch.emails, [key & ~DELETED for key in batch.keys], batch.sizes)
    return plain if bit == ALL else plain.where([not key & SEEN for key in batch.keys])


def enter(tx: WriteTx, account: AccountId, view: MailboxId, bit: int, batch: Batch, modseq: ModSeq) -> None:
    """Place messages in a view."""
    if batch:
        uid = place(tx, account, view, batch, modseq)
        tx.run("mailstore.views.show", bit=bit, uid=uid, emails=json.dumps(batch.emails))


def leave(
    tx: WriteTx, account: AccountId, view: MailboxId, bit: int, batch: Batch, uids: Column, modseq: ModSeq
) -> None:
    """Take messages out of a view, for whatever reason. What is \\Deleted there is found out here."""
    if not batch:
        return
    take(tx, account, view, Batch(batch.emails, _marked_here(tx, view, uids, batch.keys), batch.sizes), uids, modseq)
    tx.run("mailstore.views.hide", bit=bit, emails=json.dumps(batch.emails))
    if bit == UNREAD:
        tx.run("mailstore.views.settle", emails=json.dumps(batch.emails))


def _marked_here(tx: ReadTx, view: MailboxId, uids: Column, keys: Column) -> list[int]:
    """The flag sets with \\Deleted as it is in the view."""
    plain = [key & ~DELETED for key in keys]
    if not tx.value("mailstore.views.marked", mailbox=view):
        return plain
    marked = {row["uid"] for row in tx.all("mailstore.placing.marks", mailbox=view, uids=json.dumps(uids))}
    return [key | DELETED if uid in marked else key for key, uid in zip(plain, uids, strict=True)]


def leave_all(tx: WriteTx, account: AccountId, there: Standing, modseq: ModSeq) -> None:
    """Take messages that are about to be forgotten out of every view they stand in."""
    for bit, view in boxes(tx, account).items():
        shown = there.where(there.within(bit))
        if shown:
            uids = shown.within(bit)
            keys = _marked_here(tx, view, uids, shown.keys)
            take(tx, account, view, Batch(shown.emails, keys, shown.sizes), uids, modseq)
            if bit == UNREAD:
                tx.run("mailstore.views.settle", emails=json.dumps(shown.emails))


def _keep_read(tx: WriteTx, view: MailboxId, leaving: _Differing, modseq: ModSeq) -> _Differing:
    """Those of the leaving messages that leave now: all, or, while a session watches, those that were not only read."""
    read = leaving.where(feeds & UNREAD for feeds in leaving.feeds)
    question = Watched(view)
    if read.emails:
        tx.emit(question)
    if not question.answer:
        return leaving
    tx.run("mailstore.views.linger", mailbox=view, modseq=modseq, at=tx.now, emails=json.dumps(read.emails))
    tx.emit(Lingering(view))
    return leaving.where(not feeds & UNREAD for feeds in leaving.feeds)


def unread_again(tx: WriteTx, emails: Sequence[int]) -> None:
    """Messages that are unseen again no longer wait to leave Unread."""
    tx.run("mailstore.views.settle", emails=json.dumps(list(emails)))


def sweep(tx: WriteTx, account: AccountId, view: MailboxId, *, watched: int, until: Millis) -> int:
    """Let go what was read in Unread at or before modseq `watched`, or before the time `until`; how many left."""
    emails, uids, keys, sizes = tx.columns("mailstore.views.overdue", mailbox=view, watched=watched, until=until)
    if emails:
        leave(tx, account, view, UNREAD, Batch(emails, keys, sizes), uids, next_modseq(tx, account))
    return len(emails)


def next_overdue(tx: ReadTx) -> Millis | None:
    """When the first message that still lingers anywhere is due to leave."""
    read_at: Millis | None = tx.value("mailstore.views.next-overdue")
    return None if read_at is None else read_at + LINGER_MILLIS


def lingering_views(tx: ReadTx) -> list[MailboxId]:
    """The Unread views that show something read."""
    return [MailboxId(row["mailbox"]) for row in tx.all("mailstore.views.lingering-views")]
