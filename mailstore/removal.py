"""EXPUNGE and what else destroys messages.

The rule (DECISIONS 10): expunging in a view destroys nothing but moves to Trash; expunging elsewhere destroys that
message. If the same bytes lie elsewhere in the account (filed by COPY), the copy inherits the labels; nothing is ever
deleted "everywhere" for being the same. A destroyed message is out of every mailbox and every answer at once; only its
rows, which cost the most, are deleted behind the commit (`collect`), as its bytes are.
"""

import json
from collections.abc import Sequence
from itertools import compress
from typing import Final

from mailstore import filing, labels, standing, views
from mailstore.errors import CannotModify
from mailstore.events import Gone, Mail, Stale, Trashed
from mailstore.lookup import by_role, get
from mailstore.model import AccountId, EmailId, Mailbox, ModSeq, Role, Uid
from mailstore.placing import next_modseq, take
from mailstore.standing import Standing
from mailstore.transaction import WriteTx

COLLECTED: Final = 256  # destroyed messages whose rows are deleted in one step


def expunge(
    tx: WriteTx, mailbox: Mailbox, uids: Sequence[Uid] | None = None, *, only_deleted: bool = True
) -> list[Uid]:
    """Remove the \\Deleted messages, of these UIDs or of the mailbox; the UIDs that went, ascending.

    `only_deleted=False` takes the given UIDs whatever their flags. Raises NoSuchMailbox.
    """
    mailbox = get(tx, mailbox.id)
    there = standing.marked(tx, mailbox) if uids is None else standing.at(tx, mailbox, uids)
    if only_deleted and uids is not None:
        there = there.where(standing.is_marked(there.keys))
    if not there:
        return []
    gone = [*map(Uid, there.uids)]
    if mailbox.view is not None:
        filing.move(tx, mailbox, gone, by_role(tx, mailbox.account, Role.TRASH))
    else:
        destroy(tx, mailbox.account, there, next_modseq(tx, mailbox.account))
    return gone


def empty(tx: WriteTx, mailbox: Mailbox) -> None:
    """Destroy everything a stored mailbox has."""
    if mailbox.view is not None:
        raise CannotModify("a view has no mail of its own")
    there = standing.everything(tx, mailbox.id)
    if there:
        destroy(tx, mailbox.account, there, next_modseq(tx, mailbox.account))


def destroy(tx: WriteTx, account: AccountId, there: Standing, modseq: ModSeq, *, tell: bool = True) -> None:
    """Take messages, seen where they are stored, out of every mailbox and forget them. What is left of them, in no
    mailbox and found by nobody, is collected later.

    `tell=False`: another message has taken their place.
    """
    ids = json.dumps(there.emails)
    by_role = _take_all(tx, account, there, modseq)
    tx.run("mailstore.messages.delete-state", emails=ids)
    tx.run("mailstore.messages.note-destroyed", emails=ids)
    _drop_labels(tx, ids, hand_on=tell)
    tx.run("mailstore.threads.forget-aliases", account=account, emails=ids)
    tx.emit(Stale())
    if tell:
        for role, emails in by_role.items():
            _tell(tx, account, role, emails)


def collect(tx: WriteTx, limit: int = COLLECTED) -> bool:
    """Delete what is left of up to so many destroyed messages; whether there may be more."""
    emails, contents, threads = tx.columns("mailstore.messages.destroyed", limit=limit)
    if emails:
        ids = json.dumps(emails)
        for query in ("delete-annotations", "delete", "forget-destroyed"):
            tx.run(f"mailstore.messages.{query}", emails=ids)
        tx.run("mailstore.content.orphan", contents=json.dumps(contents))
        tx.run("mailstore.threads.forget-empty", threads=json.dumps(threads))
    return len(emails) == limit


def _take_all(tx: WriteTx, account: AccountId, there: Standing, modseq: ModSeq) -> dict[Role, list[int]]:
    """Take every placement of these messages; the messages by the role of the mailbox they were stored in."""
    views.leave_all(tx, account, there, modseq)
    by_role: dict[Role, list[int]] = {}
    for mailbox, here in there.by_mailbox():
        take(tx, account, mailbox, here.batch, here.uids, modseq)
        by_role.setdefault(get(tx, mailbox).role, []).extend(here.emails)
    return by_role


def _drop_labels(tx: WriteTx, ids: str, *, hand_on: bool) -> None:
    """Take the labels of destroyed messages. One that was filed by COPY and EXPUNGE keeps them: with `hand_on` they go
    to the newest copy outside Trash."""
    labelled: dict[EmailId, list[str]] = {}
    for row in tx.all("mailstore.labels.on", emails=ids):
        labelled.setdefault(EmailId(row["email"]), []).append(row["name"])
    if not labelled:
        return
    tx.run("mailstore.labels.drop", emails=ids)
    for email, names in labelled.items() if hand_on else ():
        heir, stands_for = tx.all("mailstore.messages.heir", email=email)[0]
        if heir is not None:
            tx.run("mailstore.messages.stand-in", email=heir, stands_for=stands_for)
            for name in names:
                labels.set_label(tx, EmailId(heir), name, True)


def _tell(tx: WriteTx, account: AccountId, role: Role, emails: Sequence[int]) -> None:
    """Tell of destroyed messages of which no copy is left outside Trash."""
    *columns, in_trash = tx.columns("mailstore.messages.lost", emails=json.dumps(emails))
    mails = list(map(Mail._make, zip(*columns, strict=True)))
    trashed = list(compress(mails, in_trash))
    gone = [mail for mail, left in zip(mails, in_trash, strict=True) if not left]
    if trashed and role is not Role.TRASH:
        tx.emit(Trashed(account, trashed))
    if gone:
        tx.emit(Gone(account, gone, role is Role.JUNK))
