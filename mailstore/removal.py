"""EXPUNGE and what else destroys messages.

The rule (DECISIONS 10): expunging in a view destroys nothing but moves to Trash; expunging elsewhere destroys that
message. If the same bytes lie elsewhere in the account (filed by COPY), the copy inherits the labels and whoever
listens is told so; nothing is ever deleted "everywhere" for being the same.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mailstore import filing, labels, standing, views
from mailstore.errors import CannotModify
from mailstore.events import Gone, Stale, Trashed
from mailstore.lookup import by_role, get
from mailstore.model import AccountId, EmailId, Mailbox, ModSeq, Role, ThreadId, Uid
from mailstore.placing import next_modseq, take
from mailstore.standing import Standing
from mailstore.transaction import WriteTx

NOWHERE: Final = 0
IN_TRASH: Final = 1
ELSEWHERE: Final = 2


def expunge(
    tx: WriteTx, mailbox: Mailbox, uids: Sequence[Uid] | None = None, *, only_deleted: bool = True
) -> list[Uid]:
    """Remove the \\Deleted messages, of these UIDs or of the mailbox; the UIDs that went, ascending.

    `only_deleted=False` takes the given UIDs whatever their flags. Raises NoSuchMailbox.
    """
    mailbox = get(tx, mailbox.id)
    there = standing.marked(tx, mailbox.id) if uids is None else standing.at(tx, mailbox, uids)
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
    """Take messages, seen where they are stored, out of every mailbox and forget them.

    `tell=False`: another message has taken their place.
    """
    ids = json.dumps(there.emails)
    leaving = _Leaving(*tx.columns("mailstore.messages.leaving", emails=ids))
    if tell:
        _hand_labels_on(tx, leaving, ids)
    roles = _take_all(tx, account, there, modseq)
    tx.run("mailstore.labels.drop", emails=ids)
    tx.run("mailstore.messages.delete-annotations", account=account, emails=ids)
    tx.run("mailstore.messages.delete", emails=ids)
    tx.run("mailstore.messages.delete-state", emails=ids)
    unused = [content for content, left in zip(leaving.contents, leaving.left, strict=True) if not left]
    tx.run("mailstore.content.orphan", contents=json.dumps(unused))
    _forget_threads(tx, account, set(leaving.threads))
    tx.emit(Stale())
    if tell:
        _tell(tx, account, leaving, roles)


@dataclass(frozen=True, slots=True)
class _Leaving:
    """Messages that are about to go, as columns. `left`: where other messages with the same bytes stay."""

    emails: Sequence[EmailId]
    contents: Sequence[int]
    threads: Sequence[ThreadId]
    message_ids: Sequence[str | None]
    stands_for: Sequence[EmailId]
    left: Sequence[int]  # NOWHERE, IN_TRASH or ELSEWHERE


def _take_all(tx: WriteTx, account: AccountId, there: Standing, modseq: ModSeq) -> dict[EmailId, Role]:
    """Take every placement of these messages; the roles of the mailboxes they were stored in."""
    views.leave_all(tx, account, there, modseq)
    roles: dict[EmailId, Role] = {}
    for mailbox, here in there.by_mailbox():
        take(tx, account, mailbox, here.batch, here.uids, modseq)
        roles.update(dict.fromkeys(map(EmailId, here.emails), get(tx, mailbox).role))
    return roles


def _hand_labels_on(tx: WriteTx, leaving: _Leaving, ids: str) -> None:
    """A message that was filed by COPY and EXPUNGE keeps its labels: they go to the newest copy outside Trash."""
    labelled: dict[EmailId, list[str]] = {}
    for row in tx.all("mailstore.labels.on", emails=ids):
        labelled.setdefault(EmailId(row["email"]), []).append(row["name"])
    stands_for = dict(zip(leaving.emails, leaving.stands_for, strict=True))
    for email, names in labelled.items():
        heir = tx.value("mailstore.messages.heir", email=email, emails=ids)
        if heir is not None:
            tx.run("mailstore.labels.stand-for", email=heir, stands_for=stands_for[email])
            for name in names:
                labels.set_label(tx, EmailId(heir), name, True)


def _tell(tx: WriteTx, account: AccountId, leaving: _Leaving, roles: dict[EmailId, Role]) -> None:
    trashed: list[Trashed] = []
    gone: list[Gone] = []
    rows = zip(leaving.emails, leaving.threads, leaving.message_ids, leaving.left, strict=True)
    for email, thread, message_id, left in rows:
        role = roles[email]
        if left == IN_TRASH and role is not Role.TRASH:
            trashed.append(Trashed(account, email, thread, message_id))
        else:
            gone.append(Gone(account, email, thread, left == NOWHERE, role is Role.JUNK, message_id))
    tx.emit_all(trashed)
    tx.emit_all(gone)


def _forget_threads(tx: WriteTx, account: AccountId, threads: set[int]) -> None:
    ids = json.dumps(sorted(threads))
    tx.run("mailstore.threads.forget-aliases", account=account, threads=ids)
    tx.run("mailstore.threads.forget-empty", threads=ids)
