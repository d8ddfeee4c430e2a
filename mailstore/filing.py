"""COPY and MOVE.

The rule: a copy is a message of its own; a move keeps the message and gives it another place. A move out of a view
moves the stored message: the view tells it gone, and where it still belongs in a view it returns under a new UID, all
in one transaction (DECISIONS 10).
"""

import json
from collections.abc import Sequence
from sqlite3 import Row

from mailstore import views
from mailstore.events import Arrived, How, Restored, Stale, Trashed
from mailstore.lookup import get, stored
from mailstore.model import AccountId, Copied, EmailId, Mailbox, MailboxId, ModSeq, Role, ThreadId, Uid
from mailstore.placing import Item, next_modseq, place, rows_at, rows_of, take
from mailstore.transaction import WriteTx


def copy(tx: WriteTx, source: Mailbox, uids: Sequence[Uid], target: Mailbox) -> Copied:
    """Copy messages; flags, keywords, internal date and EMAILID stay (RFC 3501 6.4.7). Unknown UIDs are left out.

    Raises CannotModify (into a view), NoSuchMailbox.
    """
    target = stored(tx, target)
    rows = rows_at(tx, get(tx, source.id).id, uids)
    if not rows:
        return Copied([], [], target.uidvalidity)
    account = _one_account(source, target)
    modseq = next_modseq(tx, account)
    first = tx.value("mailstore.messages.next-id")
    emails = json.dumps([row["email"] for row in rows])
    tx.run("mailstore.messages.copy", id=first, emails=emails)
    items = [_item(source, row, EmailId(first + offset)) for offset, row in enumerate(rows)]
    uid = place(tx, account, target.id, items, modseq)
    tx.run("mailstore.messages.copy-state", id=first, mailbox=target.id, uid=uid, modseq=modseq, emails=emails)
    _show(tx, account, views.feeds(target.role), items, modseq)
    tx.emit(Stale())
    _announce(tx, target, uid, items, "copy")
    return _pairs(rows, uid, target)


def move(tx: WriteTx, source: Mailbox, uids: Sequence[Uid], target: Mailbox) -> Copied:
    """Move messages. Unknown UIDs are left out. Raises CannotModify (into a view), NoSuchMailbox."""
    source, target = get(tx, source.id), stored(tx, target)
    return _move(tx, source, rows_at(tx, source.id, uids), target)


def move_all(tx: WriteTx, source: Mailbox, target: Mailbox) -> Copied:
    """Move everything a stored mailbox has."""
    rows = tx.all("mailstore.placing.everything", mailbox=source.id)
    return _move(tx, source, rows, stored(tx, target))


def _move(tx: WriteTx, source: Mailbox, rows: Sequence[Row], target: Mailbox) -> Copied:
    if not rows:
        return Copied([], [], target.uidvalidity)
    account = _one_account(source, target)
    modseq = next_modseq(tx, account)
    items = [_item(source, row, EmailId(row["email"])) for row in rows]
    emails = [item.email for item in items]
    if source.view is not None:
        views.leave(tx, account, source.id, views.BITS[source.view], emails, modseq)
        before = _take_stored(tx, account, rows, modseq)
    else:
        take(tx, account, source.id, rows, modseq)
        before = {source.role: emails}
    uid = place(tx, account, target.id, items, modseq)
    tx.run("mailstore.messages.refile", mailbox=target.id, uid=uid, emails=json.dumps(emails))
    views.refresh(tx, account, emails, modseq)
    _announce(tx, target, uid, items, "move")
    for role, moved in before.items():
        announce_trash(tx, account, moved, before=role, after=target.role)
    return _pairs(rows, uid, target)


def _take_stored(tx: WriteTx, account: AccountId, rows: Sequence[Row], modseq: ModSeq) -> dict[Role, list[EmailId]]:
    """Take the stored placements of messages seen in a view; the messages by the role of the mailbox they were in."""
    by_mailbox: dict[MailboxId, list[EmailId]] = {}
    for row in rows:
        by_mailbox.setdefault(MailboxId(row["mailbox"]), []).append(EmailId(row["email"]))
    by_role: dict[Role, list[EmailId]] = {}
    for mailbox, emails in by_mailbox.items():
        take(tx, account, mailbox, rows_of(tx, mailbox, emails), modseq)
        by_role.setdefault(get(tx, mailbox).role, []).extend(emails)
    return by_role


def announce_trash(tx: WriteTx, account: AccountId, emails: Sequence[EmailId], *, before: Role, after: Role) -> None:
    """Tell who has been put into Trash or taken out of it."""
    if (before is Role.TRASH) == (after is Role.TRASH) or not emails:
        return
    event = Trashed if after is Role.TRASH else Restored
    for row in tx.all("mailstore.messages.facts", emails=json.dumps(list(emails))):
        tx.emit(event(account, EmailId(row["id"]), ThreadId(row["thread"]), row["message_id"]))


def _announce(tx: WriteTx, target: Mailbox, uid: Uid, items: Sequence[Item], how: How) -> None:
    for offset, item in enumerate(items):
        tx.emit(Arrived(target.account, target, Uid(uid + offset), item.email, how))


def _show(tx: WriteTx, account: AccountId, fed: int, items: Sequence[Item], modseq: ModSeq) -> None:
    """Place new copies in the views. No copy is open."""
    for bit, view in views.boxes(tx, account).items():
        belonging = [item for item in items if views.wanted(fed, item.flags, False) & bit]
        views.enter(tx, account, view, bit, [Item(item.email, item.flags, item.size) for item in belonging], modseq)


def _item(source: Mailbox, row: Row, email: EmailId) -> Item:
    """\\Deleted goes along from a stored mailbox; from a view it speaks only of the view's own placement."""
    return Item(email, row["flags"], row["size"], 0 if source.view is not None else row["deleted"])


def _pairs(rows: Sequence[Row], uid: Uid, target: Mailbox) -> Copied:
    return Copied(
        [Uid(row["uid"]) for row in rows], [Uid(uid + offset) for offset in range(len(rows))], target.uidvalidity
    )


def _one_account(source: Mailbox, target: Mailbox) -> AccountId:
    if source.account != target.account:
        raise ValueError("messages cannot be moved between accounts")
    return target.account
