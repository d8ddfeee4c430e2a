"""COPY and MOVE.

The rule: a copy is a message of its own; a move keeps the message and gives it another place. A move out of a view
moves the stored message: the view tells it gone, and where it still belongs in a view it returns under a new UID, all
in one transaction (DECISIONS 10).
"""

import json
from collections.abc import Sequence

from mailstore import standing, views
from mailstore.events import Arrived, How, Mail, Restored, Stale, Trashed
from mailstore.lookup import get, stored
from mailstore.model import DELETED, SEEN, AccountId, Copied, EmailId, Mailbox, ModSeq, Role, Uid
from mailstore.placing import next_modseq, place, take
from mailstore.standing import UNREAD, Batch, Column, Standing
from mailstore.transaction import WriteTx


def copy(tx: WriteTx, source: Mailbox, uids: Sequence[Uid], target: Mailbox) -> Copied:
    """Copy messages; flags, keywords, internal date and EMAILID stay (RFC 3501 6.4.7). Unknown UIDs are left out.

    Raises CannotModify (into a view), NoSuchMailbox.
    """
    target = stored(tx, target)
    there = standing.at(tx, get(tx, source.id), uids)
    if not there:
        return Copied([], [], target.uidvalidity)
    account = _one_account(source, target)
    modseq = next_modseq(tx, account)
    first = tx.value("mailstore.messages.next-id")
    emails = json.dumps(there.emails)
    tx.run("mailstore.messages.copy", id=first, emails=emails)
    batch = Batch([*range(first, first + len(there))], _keys(source, there), there.sizes)
    uid, shown = views.place_new(tx, target, batch, modseq)
    in_all = shown.get("in_all", 0)
    tx.run(
        "mailstore.messages.copy-state",
        id=first,
        mailbox=target.id,
        uid=uid,
        in_all=in_all,
        modseq=modseq,
        emails=emails,
    )
    if "in_unread" in shown:
        fresh = [email for email, key in zip(batch.emails, batch.keys, strict=True) if not key & SEEN]
        tx.run("mailstore.views.show", bit=UNREAD, uid=shown["in_unread"], emails=json.dumps(fresh))
    tx.emit(Stale())
    _announce(tx, target, uid, batch.emails, "copy")
    return _pairs(there.uids, uid, target)


def move(tx: WriteTx, source: Mailbox, uids: Sequence[Uid], target: Mailbox) -> Copied:
    """Move messages. Unknown UIDs are left out. Raises CannotModify (into a view), NoSuchMailbox."""
    source, target = get(tx, source.id), stored(tx, target)
    return _move(tx, source, standing.at(tx, source, uids), target)


def move_all(tx: WriteTx, source: Mailbox, target: Mailbox) -> Copied:
    """Move everything a stored mailbox has."""
    return _move(tx, source, standing.everything(tx, source.id), stored(tx, target))


def _move(tx: WriteTx, source: Mailbox, there: Standing, target: Mailbox) -> Copied:
    if not there:
        return Copied([], [], target.uidvalidity)
    account = _one_account(source, target)
    modseq = next_modseq(tx, account)
    if source.view is not None:
        views.leave(tx, account, source.id, views.BITS[source.view], there.batch, there.uids, modseq)
        before = _take_stored(tx, account, there.emails, modseq)
    else:
        take(tx, account, source.id, there.batch, there.uids, modseq)
        before = {source.role: there.emails}
    uid = place(tx, account, target.id, Batch(there.emails, _keys(source, there), there.sizes), modseq)
    tx.run("mailstore.messages.refile", mailbox=target.id, uid=uid, emails=json.dumps(there.emails))
    views.refresh(tx, account, there.emails, modseq)
    _announce(tx, target, uid, there.emails, "move")
    for role, moved in before.items():
        announce_trash(tx, account, moved, before=role, after=target.role)
    return _pairs(there.uids, uid, target)


def _take_stored(tx: WriteTx, account: AccountId, emails: Column, modseq: ModSeq) -> dict[Role, Column]:
    """Take the stored placements of messages seen in a view; the messages by the role of the mailbox they were in."""
    by_role: dict[Role, list[int]] = {}
    for mailbox, there in standing.stored(tx, emails).by_mailbox():
        take(tx, account, mailbox, there.batch, there.uids, modseq)
        by_role.setdefault(get(tx, mailbox).role, []).extend(there.emails)
    return dict(by_role)


def announce_trash(tx: WriteTx, account: AccountId, emails: Sequence[int], *, before: Role, after: Role) -> None:
    """Tell who has been put into Trash or taken out of it."""
    if (before is Role.TRASH) == (after is Role.TRASH) or not emails:
        return
    event = Trashed if after is Role.TRASH else Restored
    columns = tx.columns("mailstore.messages.mails", emails=json.dumps(emails))
    tx.emit(event(account, list(map(Mail._make, zip(*columns, strict=True)))))


def _announce(tx: WriteTx, target: Mailbox, uid: Uid, emails: Column, how: How) -> None:
    tx.emit(Arrived(target.account, target, uid, [*map(EmailId, emails)], how))


def _keys(source: Mailbox, there: Standing) -> Column:
    """\\Deleted goes along from a stored mailbox; from a view it speaks only of the view's own placement."""
    return there.keys if source.view is None else [key & ~DELETED for key in there.keys]


def _pairs(uids: Column, uid: Uid, target: Mailbox) -> Copied:
    return Copied([*map(Uid, uids)], [*map(Uid, range(uid, uid + len(uids)))], target.uidvalidity)


def _one_account(source: Mailbox, target: Mailbox) -> AccountId:
    if source.account != target.account:
        raise ValueError("messages cannot be moved between accounts")
    return target.account
