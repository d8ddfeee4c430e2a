"""Action, Unread and All: mailboxes whose placements the store keeps by itself.

The rule: a view is brought up to date in the transaction of the change it depends on, so at every commit each message
stands in exactly the views that its mailbox, its \\Seen flag and its label call for. The one exception is Unread
(DECISIONS 8): a message that was read stays there while a session has had Unread selected since before it was read.

What a mailbox feeds: All leaves out Drafts, Trash, Junk, Activity, Automations and Memory (DECISIONS 9); Unread takes
INBOX and the user's folders; Action takes every open request but one in Trash.
"""

import json
from collections.abc import Sequence
from sqlite3 import Row

from mailstore.events import Lingering, Watched
from mailstore.model import AccountId, EmailId, MailboxId, Millis, ModSeq, Role, View
from mailstore.placing import Item, next_modseq, place, rows_of, take
from mailstore.transaction import ReadTx, WriteTx

ALL, UNREAD, ACTION = 1, 2, 4
BITS = {View.ALL: ALL, View.UNREAD: UNREAD, View.ACTION: ACTION}
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
    return {BITS[View(row["view"])]: MailboxId(row["id"]) for row in tx.all("mailstore.views.of", account=account)}


def refresh(tx: WriteTx, account: AccountId, emails: Sequence[EmailId], modseq: ModSeq) -> None:
    """Bring the views up to date for messages whose mailbox, \\Seen flag or label has changed."""
    rows = tx.all("mailstore.views.differing", emails=json.dumps(list(emails)))
    if not rows:
        return
    for bit, view in boxes(tx, account).items():
        entering = [row for row in rows if row["wanted"] & ~row["shown"] & bit]
        items = [Item(EmailId(row["id"]), row["flags"], row["size"]) for row in entering]
        enter(tx, account, view, bit, items, modseq)
        leaving = [row for row in rows if row["shown"] & ~row["wanted"] & bit]
        if bit == UNREAD:
            leaving = _keep_read(tx, view, leaving, modseq)
        leave(tx, account, view, bit, [row["id"] for row in leaving], modseq)


def enter(tx: WriteTx, account: AccountId, view: MailboxId, bit: int, items: Sequence[Item], modseq: ModSeq) -> None:
    """Place messages in a view."""
    if items:
        uid = place(tx, account, view, items, modseq)
        tx.run("mailstore.views.show", bit=bit, uid=uid, emails=json.dumps([item.email for item in items]))


def leave(
    tx: WriteTx, account: AccountId, view: MailboxId, bit: int, emails: Sequence[EmailId], modseq: ModSeq
) -> None:
    """Take messages out of a view, for whatever reason."""
    if not emails:
        return
    take(tx, account, view, rows_of(tx, view, emails), modseq)
    tx.run("mailstore.views.hide", bit=bit, emails=json.dumps(list(emails)))
    if bit == UNREAD:
        tx.run("mailstore.views.settle", emails=json.dumps(list(emails)))


def leave_all(tx: WriteTx, account: AccountId, rows: Sequence[Row], modseq: ModSeq) -> None:
    """Take messages (rows with email and shown) out of every view they stand in."""
    if any(row["shown"] for row in rows):
        for bit, view in boxes(tx, account).items():
            leave(tx, account, view, bit, [row["email"] for row in rows if row["shown"] & bit], modseq)


def _keep_read(tx: WriteTx, view: MailboxId, rows: Sequence[Row], modseq: ModSeq) -> list[Row]:
    """Those of the leaving messages that leave now: all, or, while a session watches, those that were not only read."""
    read = [row for row in rows if row["feeds"] & UNREAD]
    question = Watched(view)
    if read:
        tx.emit(question)
    if not question.answer:
        return list(rows)
    tx.many(
        "mailstore.views.linger",
        [{"email": row["id"], "mailbox": view, "modseq": modseq, "at": tx.now} for row in read],
    )
    tx.emit(Lingering(view))
    return [row for row in rows if not row["feeds"] & UNREAD]


def unread_again(tx: WriteTx, emails: Sequence[EmailId]) -> None:
    """Messages that are unseen again no longer wait to leave Unread."""
    tx.run("mailstore.views.settle", emails=json.dumps(list(emails)))


def sweep(tx: WriteTx, account: AccountId, view: MailboxId, *, watched: int, until: Millis) -> int:
    """Let go what was read in Unread at or before modseq `watched`, or before the time `until`; how many left."""
    emails = [
        EmailId(row["email"]) for row in tx.all("mailstore.views.overdue", mailbox=view, watched=watched, until=until)
    ]
    if emails:
        modseq = next_modseq(tx, account)
        leave(tx, account, view, UNREAD, emails, modseq)
    return len(emails)


def next_overdue(tx: ReadTx) -> Millis | None:
    """When the first message that still lingers anywhere is due to leave."""
    read_at: Millis | None = tx.value("mailstore.views.next-overdue")
    return None if read_at is None else read_at + LINGER_MILLIS


def lingering_views(tx: ReadTx) -> list[MailboxId]:
    """The Unread views that show something read."""
    return [MailboxId(row["mailbox"]) for row in tx.all("mailstore.views.lingering-views")]
