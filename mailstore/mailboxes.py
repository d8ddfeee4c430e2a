"""Mailboxes: their names, kinds, subscriptions and counters.

The rule: a mailbox keeps its UIDVALIDITY for life, also when renamed, and no other mailbox of the store ever gets the
same; so a name that is deleted and made again, or renamed onto, is never taken for the old one.

Names are Unicode, parts separated by "/"; INBOX is found in any case. A folder below Trash, Junk, Drafts, Sent or
Archive is of that kind too: clients delete a folder by renaming it into Trash.
"""

import unicodedata

from mailstore import filing, removal, views
from mailstore.errors import AlreadyExists, BadName, CannotModify, HasChildren, QuotaOver
from mailstore.events import Touched
from mailstore.lookup import all, by_role, by_view, canonical, find, get, mailbox_of, status, stored
from mailstore.model import AccountId, EmailId, Mailbox, MailboxId, Role, View
from mailstore.placing import next_modseq
from mailstore.transaction import ReadTx, WriteTx

__all__ = [
    "all",
    "by_role",
    "by_view",
    "canonical",
    "create",
    "delete",
    "find",
    "get",
    "has_below",
    "make",
    "rename",
    "status",
    "stored",
    "subscribe",
    "subscriptions",
]

MAX_NAME_BYTES = 1000
MAX_MAILBOXES = 10_000
_INHERITED = {Role.TRASH, Role.JUNK, Role.DRAFTS, Role.SENT, Role.ARCHIVE}
_KEPT = {Role.ACTIVITY, Role.AUTOMATIONS, Role.MEMORY, Role.HANDOVER}


def create(tx: WriteTx, account: AccountId, name: str, special_use: str | None = None) -> Mailbox:
    """Make a mailbox of the user's, with the ones above it that are missing. A trailing "/" is ignored.

    Raises AlreadyExists, BadName, CannotModify (a place that Postroom keeps), QuotaOver.
    """
    name = _checked(name)
    there = find(tx, account, name)
    if there is not None and there.selectable:
        raise AlreadyExists(f"a mailbox {name} exists already")
    if tx.value("mailstore.mailboxes.number", account=account) >= MAX_MAILBOXES:
        raise QuotaOver(f"the account has {MAX_MAILBOXES} mailboxes, more are not possible")
    role = _role(tx, account, name)
    if there is not None:
        return _revive(tx, there, role, special_use)
    _make_parents(tx, account, name)
    return make(tx, account, name, role, special_use=special_use)


def make(
    tx: WriteTx,
    account: AccountId,
    name: str,
    role: Role,
    *,
    view: View | None = None,
    special_use: str | None = None,
    subscribed: bool = False,
) -> Mailbox:
    """Make a mailbox of any kind; for the standard ones."""
    mailbox = tx.insert(
        "mailstore.mailboxes.create",
        account=account,
        name=name,
        role=role,
        view=view,
        special_use=special_use,
        feeds=views.feeds(role, view),
        selectable=int(role is not Role.PARENT),
        uidvalidity=_next_uidvalidity(tx),
        modseq=next_modseq(tx, account),
    )
    if subscribed:
        tx.run("mailstore.mailboxes.subscribe", account=account, name=name)
    tx.emit(Touched(frozenset((MailboxId(mailbox),))))
    return get(tx, MailboxId(mailbox))


def rename(tx: WriteTx, mailbox: Mailbox, new_name: str) -> Mailbox:
    """Give a mailbox and those below it other names; UIDs and UIDVALIDITY stay. Subscriptions follow.

    Renaming INBOX moves its mail to a new mailbox and leaves INBOX empty (RFC 3501 6.3.5); what is below INBOX stays.
    Raises AlreadyExists, BadName, CannotModify, NoSuchMailbox.
    """
    mailbox, new_name = get(tx, mailbox.id), _checked(new_name)
    if find(tx, mailbox.account, new_name) is not None:
        raise AlreadyExists(f"a mailbox {new_name} exists already")
    if mailbox.role is Role.INBOX:
        target = create(tx, mailbox.account, new_name)
        filing.move_all(tx, mailbox, target)
        return target
    _refuse_standard(tx, mailbox, "renamed")
    if new_name.startswith(f"{mailbox.name}/"):
        raise CannotModify(f"the mailbox {mailbox.name} cannot be put below itself")
    role = _role(tx, mailbox.account, new_name)
    _make_parents(tx, mailbox.account, new_name)
    below = [mailbox_of(row) for row in tx.all("mailstore.mailboxes.below", account=mailbox.account, name=mailbox.name)]
    for each in (mailbox, *below):
        _rename_one(tx, each, new_name + each.name[len(mailbox.name) :], role)
    return get(tx, mailbox.id)


def delete(tx: WriteTx, mailbox: Mailbox) -> None:
    """Destroy a mailbox and its mail. One with others below it loses its mail and stays as a mere name.

    Raises CannotModify, HasChildren (already a mere name), NoSuchMailbox.
    """
    mailbox = get(tx, mailbox.id)
    _refuse_standard(tx, mailbox, "deleted")
    below = has_below(tx, mailbox)
    if below and not mailbox.selectable:
        raise HasChildren(f"there are mailboxes below {mailbox.name}")
    removal.empty(tx, mailbox)
    tx.run("mailstore.mailboxes.delete-annotations", account=mailbox.account, mailbox=mailbox.id)
    tx.run(f"mailstore.mailboxes.{'hollow' if below else 'delete'}", mailbox=mailbox.id)
    tx.emit(Touched(frozenset((mailbox.id,))))


def has_below(tx: ReadTx, mailbox: Mailbox) -> bool:
    """Whether there are mailboxes below this one."""
    return bool(tx.value("mailstore.mailboxes.has-below", account=mailbox.account, name=mailbox.name))


def subscribe(tx: WriteTx, account: AccountId, name: str, on: bool) -> None:
    """Subscribe to a name, or stop; the mailbox need not exist (RFC 3501 6.3.6)."""
    query = "subscribe" if on else "unsubscribe"
    name = canonical(name)
    for each in {name} if on else {name, unicodedata.normalize("NFC", name)}:
        tx.run(f"mailstore.mailboxes.{query}", account=account, name=each)
    there = find(tx, account, name)
    tx.emit(Touched(frozenset(() if there is None else (there.id,))))


def subscriptions(tx: ReadTx, account: AccountId) -> list[str]:
    """Subscribed names, also of mailboxes that are gone."""
    return [row["name"] for row in tx.all("mailstore.mailboxes.subscriptions", account=account)]


def _checked(name: str) -> str:
    name = canonical(name.removesuffix("/"))
    if not all_parts(name):
        raise BadName("a mailbox name cannot be empty or have an empty part")
    if any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in name):
        raise BadName("a mailbox name cannot hold control characters")
    if len(name.encode()) > MAX_NAME_BYTES:
        raise BadName(f"a mailbox name cannot be longer than {MAX_NAME_BYTES} bytes")
    return name


def all_parts(name: str) -> bool:
    """Whether no part of the name is empty."""
    return "" not in name.split("/")


def _role(tx: ReadTx, account: AccountId, name: str) -> Role:
    """What a mailbox of the user's is by its place. Raises CannotModify where Postroom keeps the mailboxes."""
    first, slash, _ = name.partition("/")
    top = find(tx, account, first) if slash else None
    if top is None:
        return Role.USER
    if top.view is not None or top.role in _KEPT or (top.role is Role.PARENT and _is_standard(tx, top)):
        raise CannotModify(f"mailboxes below {first} are made by Postroom itself")
    return top.role if top.role in _INHERITED else Role.USER


def _is_standard(tx: ReadTx, mailbox: Mailbox) -> bool:
    """Made with the account, or a hand-over folder. The standard ones are those no user's name can become."""
    if mailbox.view is not None or mailbox.role in _KEPT or mailbox.role is Role.INBOX:
        return True
    if mailbox.role is Role.PARENT:
        return mailbox.name == "Agents"
    return mailbox.role in _INHERITED and by_role(tx, mailbox.account, mailbox.role).id == mailbox.id


def _refuse_standard(tx: ReadTx, mailbox: Mailbox, what: str) -> None:
    if _is_standard(tx, mailbox):
        raise CannotModify(f"{mailbox.name} is one of Postroom's own mailboxes and cannot be {what}")


def _make_parents(tx: WriteTx, account: AccountId, name: str) -> None:
    parts = name.split("/")[:-1]
    for depth in range(1, len(parts) + 1):
        above = "/".join(parts[:depth])
        if find(tx, account, above) is None:
            make(tx, account, above, _role(tx, account, above))


def _revive(tx: WriteTx, mailbox: Mailbox, role: Role, special_use: str | None) -> Mailbox:
    if _is_standard(tx, mailbox):
        raise CannotModify(f"{mailbox.name} only holds the mailboxes that Postroom makes below it")
    tx.run(
        "mailstore.mailboxes.revive",
        mailbox=mailbox.id,
        role=role,
        feeds=views.feeds(role),
        special_use=special_use,
        uidvalidity=_next_uidvalidity(tx),
        modseq=next_modseq(tx, mailbox.account),
    )
    tx.emit(Touched(frozenset((mailbox.id,))))
    return get(tx, mailbox.id)


def _rename_one(tx: WriteTx, mailbox: Mailbox, name: str, role: Role) -> None:
    role = role if mailbox.selectable else Role.PARENT
    tx.run("mailstore.mailboxes.rename", mailbox=mailbox.id, name=name, role=role, feeds=views.feeds(role))
    if mailbox.subscribed:
        subscribe(tx, mailbox.account, mailbox.name, False)
        subscribe(tx, mailbox.account, name, True)
    if role is not mailbox.role:
        emails = [EmailId(row["id"]) for row in tx.all("mailstore.mailboxes.emails", mailbox=mailbox.id)]
        views.refresh(tx, mailbox.account, emails, next_modseq(tx, mailbox.account))
        filing.announce_trash(tx, mailbox.account, emails, before=mailbox.role, after=role)
    tx.emit(Touched(frozenset((mailbox.id,))))


def _next_uidvalidity(tx: WriteTx) -> int:
    value: int = tx.value("mailstore.mailboxes.next-uidvalidity", seconds=tx.now // 1000)
    return value
