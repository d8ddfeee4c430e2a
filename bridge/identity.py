"""A user who has logged in, as every protocol of the bridge knows them.

The rule: only bridge.auth makes one, out of a right password.
"""

from dataclasses import dataclass

from mailstore.model import AccountId


@dataclass(frozen=True, slots=True)
class Identity:
    """`device` is the label of the password that was used, `address` the full address of the account.

    `hooks_only`: the password sends to mail hooks and does nothing else: it reads no mail and decides nothing.
    """

    account: AccountId
    name: str
    address: str
    device: str
    password_id: int
    hooks_only: bool = False
