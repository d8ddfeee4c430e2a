"""Accounts: who has mail here, and the mailboxes each begins with (PRODUCT section 2).

The rule: everything below belongs to one account, and nothing is ever found through another's.
"""

import secrets
from collections.abc import Sequence
from sqlite3 import IntegrityError, Row

from mailstore import mailboxes
from mailstore.errors import AlreadyExists
from mailstore.model import Account, AccountId, Role, View
from mailstore.transaction import ReadTx, WriteTx

AGENTS = "Agents"

# name, role, view, special use, subscribed. Archive stands before All: clients take the first that may be an archive.
_STANDARD: tuple[tuple[str, Role, View | None, str | None, bool], ...] = (
    ("INBOX", Role.INBOX, None, None, True),
    ("Action", Role.USER, View.ACTION, "\\Important", True),
    ("Unread", Role.USER, View.UNREAD, None, True),
    ("Drafts", Role.DRAFTS, None, "\\Drafts", True),
    ("Sent", Role.SENT, None, "\\Sent", True),
    ("Archive", Role.ARCHIVE, None, "\\Archive", True),
    ("Junk", Role.JUNK, None, "\\Junk", True),
    ("Trash", Role.TRASH, None, "\\Trash", True),
    ("All", Role.USER, View.ALL, "\\All", False),
    ("Activity", Role.ACTIVITY, None, None, True),
    ("Automations", Role.AUTOMATIONS, None, None, True),
    ("Memory", Role.MEMORY, None, None, True),
    (AGENTS, Role.PARENT, None, None, True),
)
_REMOVALS = (
    "orphan-content", "remove-placements", "remove-lingering", "remove-labels", "remove-states", "remove-destroyed",
    "remove-emails", "remove-threads", "remove-aliases", "remove-log", "remove-log-days", "remove-deliveries",
    "remove-annotations", "remove-keywords", "remove-keyword-sets", "remove-subscriptions", "remove-mailboxes",
    "remove",
)  # packed, to be seen at a glance  # fmt: skip


def create(tx: WriteTx, name: str, address: str, agents: Sequence[str] = ()) -> Account:
    """Make an account with its standard mailboxes, and a hand-over folder for each agent. Raises AlreadyExists."""
    object_id = f"A{secrets.token_hex(8)}"
    try:
        account = AccountId(tx.insert("mailstore.accounts.create", name=name, address=address, object_id=object_id))
    except IntegrityError:
        raise AlreadyExists(f"there is an account {name} or {address} already") from None
    for box, role, view, special_use, subscribed in _STANDARD:
        mailboxes.make(tx, account, box, role, view=view, special_use=special_use, subscribed=subscribed)
    ensure_handover(tx, account, agents)
    return Account(account, name, address, object_id)


def ensure_handover(tx: WriteTx, account: AccountId, display_names: Sequence[str]) -> None:
    """Make the folders Agents/<Name> that are missing; those of agents no longer there stay, as they may hold mail."""
    for display_name in display_names:
        name = f"{AGENTS}/{display_name}"
        if mailboxes.find(tx, account, name) is None:
            mailboxes.make(tx, account, name, Role.HANDOVER, subscribed=True)


def find(tx: ReadTx, login: str, domain: str | None = None) -> Account | None:
    """The account of a login: its name, its full address, or its name at the mail domain."""
    row = tx.one("mailstore.accounts.find", login=login)
    if row is None and domain is not None and login.lower().endswith(f"@{domain.lower()}"):
        row = tx.one("mailstore.accounts.find", login=login[: -len(domain) - 1])
    return None if row is None else _account(row)


def get(tx: ReadTx, account: AccountId) -> Account | None:
    """The account with this id."""
    row = tx.one("mailstore.accounts.get", account=account)
    return None if row is None else _account(row)


def all(tx: ReadTx) -> list[Account]:
    """Every account, oldest first."""
    return [_account(row) for row in tx.all("mailstore.accounts.all")]


def remove(tx: WriteTx, account: AccountId) -> None:
    """Remove an account with all its mail. What only its messages held is swept later."""
    for query in _REMOVALS:
        tx.run(f"mailstore.accounts.{query}", account=account)


def _account(row: Row) -> Account:
    return Account(AccountId(row["id"]), row["name"], row["address"], row["object_id"])
