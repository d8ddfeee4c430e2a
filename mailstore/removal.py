"""EXPUNGE and what else destroys messages.

The rule (DECISIONS 10): expunging in a view destroys nothing but moves to Trash; expunging elsewhere destroys that
message. If the same bytes lie elsewhere in the account (filed by COPY), the copy inherits the labels and whoever
listens is told so; nothing is ever deleted "everywhere" for being the same.
"""

import json
from collections.abc import Sequence
from sqlite3 import Row

from mailstore import filing, labels, standing, views
from mailstore.errors import CannotModify
from mailstore.events import Gone, Stale, Trashed
from mailstore.lookup import by_role, get
from mailstore.model import AccountId, EmailId, Mailbox, ModSeq, Role, ThreadId, Uid
from mailstore.placing import next_modseq, take
from mailstore.standing import Standing
from mailstore.transaction import WriteTx


def expunge(
    tx: WriteTx, mailbox: Mailbox, uids: Sequence[Uid] | None = None, *, only_deleted: bool = True
) -> list[Uid]:
    """Remove the \\Deleted messages, of these UIDs or of the mailbox; the UIDs that went, ascending.

    `only_deleted=False` takes the given UIDs whatever their flags. Raises NoSuchMailbox.
    """
    mailbox = get(tx, mailbox.id)
    there = standing.marked(tx, mailbox.id) if uids is None else standing.at(tx, mailbox.id, uids)
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
    facts = tx.all("mailstore.messages.facts", emails=ids)
    siblings = _siblings(tx, there.emails) if tell else {}
    if tell:
        _hand_labels_on(tx, facts, siblings)
    roles = _take_all(tx, account, there, modseq)
    tx.run("mailstore.labels.drop", emails=ids)
    tx.run("mailstore.messages.delete-annotations", account=account, emails=ids)
    tx.run("mailstore.messages.delete", emails=ids)
    tx.run("mailstore.messages.delete-state", emails=ids)
    unused = [row["content"] for row in facts if row["id"] not in siblings]
    tx.run("mailstore.content.orphan", contents=json.dumps(unused))
    _forget_threads(tx, account, {row["thread"] for row in facts})
    tx.emit(Stale())
    if tell:
        _tell(tx, account, facts, siblings, roles)


def _take_all(tx: WriteTx, account: AccountId, there: Standing, modseq: ModSeq) -> dict[EmailId, Role]:
    """Take every placement of these messages; the roles of the mailboxes they were stored in."""
    views.leave_all(tx, account, there, modseq)
    roles: dict[EmailId, Role] = {}
    for mailbox, here in there.by_mailbox():
        take(tx, account, mailbox, here.batch, here.uids, modseq)
        roles.update(dict.fromkeys(map(EmailId, here.emails), get(tx, mailbox).role))
    return roles


def _siblings(tx: WriteTx, emails: Sequence[int]) -> dict[EmailId, list[tuple[EmailId, Role]]]:
    """Messages with the same bytes that stay, oldest first, by the message that goes."""
    going = set(emails)
    found: dict[EmailId, list[tuple[EmailId, Role]]] = {}
    for row in tx.all("mailstore.messages.siblings", emails=json.dumps(list(emails))):
        if row["sibling"] not in going:
            found.setdefault(EmailId(row["email"]), []).append((EmailId(row["sibling"]), Role(row["role"])))
    return found


def _hand_labels_on(tx: WriteTx, facts: Sequence[Row], siblings: dict[EmailId, list[tuple[EmailId, Role]]]) -> None:
    """A message that was filed by COPY and EXPUNGE keeps its labels: they go to the newest copy outside Trash."""
    if not siblings:
        return
    labelled: dict[EmailId, list[str]] = {}
    for row in tx.all("mailstore.labels.on", emails=json.dumps(list(siblings))):
        labelled.setdefault(EmailId(row["email"]), []).append(row["name"])
    stands_for = {EmailId(row["id"]): row["stands_for"] for row in facts}
    for email, names in labelled.items():
        heirs = [sibling for sibling, role in siblings[email] if role is not Role.TRASH]
        if heirs:
            tx.run("mailstore.labels.stand-for", email=heirs[-1], stands_for=stands_for[email])
            for name in names:
                labels.set_label(tx, heirs[-1], name, True)


def _tell(
    tx: WriteTx,
    account: AccountId,
    facts: Sequence[Row],
    siblings: dict[EmailId, list[tuple[EmailId, Role]]],
    roles: dict[EmailId, Role],
) -> None:
    for row in facts:
        email, thread = EmailId(row["id"]), ThreadId(row["thread"])
        left = [role for _, role in siblings.get(email, ())]
        if left and roles[email] is not Role.TRASH and all(role is Role.TRASH for role in left):
            tx.emit(Trashed(account, email, thread, row["message_id"]))
        else:
            junked = roles[email] is Role.JUNK
            tx.emit(Gone(account, email, thread, not left, junked, row["message_id"]))


def _forget_threads(tx: WriteTx, account: AccountId, threads: set[int]) -> None:
    ids = json.dumps(sorted(threads))
    tx.run("mailstore.threads.forget-aliases", account=account, threads=ids)
    tx.run("mailstore.threads.forget-empty", threads=ids)
