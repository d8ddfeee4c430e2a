"""Finding mailboxes and reading their counters; what other modules need before they change anything.

The rule: a Mailbox in a caller's hand may be old, so whoever changes one reads it again in the same transaction.
"""

from sqlite3 import Row
from unicodedata import is_normalized, normalize

from mailstore.errors import CannotModify, NoSuchMailbox
from mailstore.model import AccountId, Mailbox, MailboxId, ModSeq, Role, Status, Uid, View
from mailstore.transaction import ReadTx


def all(tx: ReadTx, account: AccountId) -> list[Mailbox]:
    """Every mailbox of an account, parents included, in the order they were made (Archive before All)."""
    return [mailbox_of(row) for row in tx.all("mailstore.mailboxes.all", account=account)]


def find(tx: ReadTx, account: AccountId, name: str) -> Mailbox | None:
    """The mailbox of this name, or else of its composed form (NFC); a name that is not Unicode names none."""
    if not name.isascii() and any("\ud800" <= char <= "\udfff" for char in name):
        return None
    name = canonical(name)
    row = tx.one("mailstore.mailboxes.find", account=account, name=name)
    if row is None and not is_normalized("NFC", name):
        row = tx.one("mailstore.mailboxes.find", account=account, name=normalize("NFC", name))
    return None if row is None else mailbox_of(row)


def get(tx: ReadTx, mailbox: MailboxId) -> Mailbox:
    """The mailbox as it is now. Raises NoSuchMailbox."""
    row = tx.one("mailstore.mailboxes.get", mailbox=mailbox)
    if row is None:
        raise NoSuchMailbox("the mailbox was deleted")
    return mailbox_of(row)


def by_role(tx: ReadTx, account: AccountId, role: Role) -> Mailbox:
    """The standard mailbox of a role."""
    row = tx.one("mailstore.mailboxes.by-role", account=account, role=role)
    if row is None:
        raise NoSuchMailbox(f"the account has no {role} mailbox")
    return mailbox_of(row)


def by_view(tx: ReadTx, account: AccountId, view: View) -> Mailbox:
    """The mailbox of a view."""
    row = tx.one("mailstore.mailboxes.by-view", account=account, view=view)
    if row is None:
        raise NoSuchMailbox(f"the account has no {view} view")
    return mailbox_of(row)


def stored(tx: ReadTx, mailbox: Mailbox) -> Mailbox:
    """The mailbox as it is now, for putting mail into. Raises CannotModify for a view, NoSuchMailbox for a parent."""
    return receiving(get(tx, mailbox.id))


def receiving(mailbox: Mailbox) -> Mailbox:
    """The same of a mailbox that was read in this transaction."""
    if mailbox.view is not None:
        raise CannotModify(f"{mailbox.name} is a view: it shows mail of other mailboxes and nothing can be put into it")
    if not mailbox.selectable:
        raise NoSuchMailbox(f"the mailbox {mailbox.name} only holds other mailboxes")
    return mailbox


def status(tx: ReadTx, mailbox: Mailbox | MailboxId) -> Status:
    """The counters. Raises NoSuchMailbox."""
    row = tx.one("mailstore.mailboxes.status", mailbox=mailbox.id if isinstance(mailbox, Mailbox) else mailbox)
    if row is None:
        raise NoSuchMailbox("the mailbox was deleted")
    return status_of(row)


def counted(tx: ReadTx, account: AccountId) -> list[tuple[Mailbox, Status]]:
    """Every mailbox of an account with its counters, in one snapshot."""
    return [(mailbox_of(row), status_of(row)) for row in tx.all("mailstore.mailboxes.all", account=account)]


def status_of(row: Row) -> Status:
    """The counters in a row of the mailboxes table."""
    return Status(
        messages=row["messages"],
        recent=row["recent"],
        unseen=row["unseen"],
        deleted=row["deleted"],
        uidnext=Uid(row["uidnext"]),
        uidvalidity=row["uidvalidity"],
        highest_modseq=ModSeq(row["highest_modseq"]),
        size=row["size"],
        deleted_size=row["deleted_size"],
    )


def canonical(name: str) -> str:
    """INBOX in capitals wherever it is the first part of a name."""
    first, slash, rest = name.partition("/")
    return f"INBOX{slash}{rest}" if first.upper() == "INBOX" else name


def mailbox_of(row: Row) -> Mailbox:
    """A row of the mailboxes table."""
    return Mailbox(
        id=MailboxId(row["id"]),
        account=AccountId(row["account"]),
        name=row["name"],
        role=Role(row["role"]),
        view=None if row["view"] is None else View(row["view"]),
        special_use=row["special_use"],
        uidvalidity=row["uidvalidity"],
        subscribed=bool(row["subscribed"]),
        selectable=bool(row["selectable"]),
    )
