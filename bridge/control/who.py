"""Whose account a command means: the one it names, or the only one there is.

The rule: never a guess between several.
"""

from bridge.control.ports import StoreDesk
from bridge.control.protocol import NOT_FOUND, ControlError
from mailstore import accounts
from mailstore.model import Account
from mailstore.sqlite import ReadTx

DEVICE = "cli"
"""How the command line is named where a device is: in the audit trail and in lists."""


def chosen(desk: StoreDesk, name: str | None) -> Account:
    """The account of this name or address; without one the only account, or the one that the settings name."""
    return desk.store.read(lambda tx: _chosen(tx, name, desk.settings.user, desk.settings.domain))


def _chosen(tx: ReadTx, name: str | None, usual: str, domain: str) -> Account:
    if name is not None:
        account = accounts.find(tx, name, domain)
        if account is None:
            raise ControlError(
                NOT_FOUND, f"there is no account {name}", "`postroom account list` shows those there are"
            )
        return account
    there = accounts.all(tx)
    if not there:
        raise ControlError(NOT_FOUND, "there is no account yet", "`postroom serve` or `postroom init` makes the first")
    if len(there) == 1:
        return there[0]
    found = accounts.find(tx, usual, domain)
    if found is None:
        names = ", ".join(account.name for account in there)
        raise ControlError(NOT_FOUND, f"there are several accounts: {names}", "say which with --account NAME")
    return found


def usual(desk: StoreDesk) -> Account | None:
    """The account that the settings name, else the oldest; None when there is none."""
    there = desk.store.read(accounts.all)
    return next((account for account in there if account.name == desk.settings.user), there[0] if there else None)
