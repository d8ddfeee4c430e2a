"""Every command as one table: its name, what it needs, and the function that does it.

The rule: a command reads its arguments first, refuses what it does not know, and returns plain JSON; what a person or
the store refuses becomes a ControlError with their words.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from bridge.control import accounts, mail, requests, status
from bridge.control.ports import Desk, StoreDesk
from bridge.control.protocol import REFUSED, UNKNOWN_COMMAND, Args, ControlError, Json
from bridge.passwords import BadPassword
from mailstore.errors import StoreError

OfStore = Callable[[StoreDesk, Args], Awaitable[Json]]
OfDesk = Callable[[Desk, Args], Awaitable[Json]]
WithPayload = Callable[[Desk, Args, bytes], Awaitable[Json]]

OF_STORE: Final[Mapping[str, OfStore]] = {
    "status": status.status,
    "check": status.check,
    "inbox": mail.inbox,
    "accounts": accounts.listed,
    "account.add": accounts.add,
    "account.remove": accounts.remove,
    "passwords": accounts.passwords_of,
    "password.add": accounts.add_password,
    "password.revoke": accounts.revoke_password,
}
"""Commands for which the store is enough: without a server they start quickly."""

OF_DESK: Final[Mapping[str, OfDesk]] = {
    "request": requests.show,
    "decide": requests.decide,
}
WITH_PAYLOAD: Final[Mapping[str, WithPayload]] = {
    "send": mail.send,
}


@dataclass(frozen=True, slots=True)
class Need:
    """Whether a command does with the store alone."""

    store_only: bool


def need(name: str) -> Need:
    """What a command needs. Raises ControlError for an unknown one."""
    if name not in OF_STORE and name not in OF_DESK and name not in WITH_PAYLOAD:
        known = ", ".join(sorted([*OF_STORE, *OF_DESK, *WITH_PAYLOAD]))
        raise ControlError(UNKNOWN_COMMAND, "there is no such command", f"known here: {known}")
    return Need(name in OF_STORE)


async def run(desk: StoreDesk, name: str, given: Mapping[str, Any], payload: bytes = b"") -> Json:
    """Run a command. `desk` is a Desk unless `need(name).store_only`. Raises ControlError."""
    need(name)
    args = Args(given)
    try:
        if name in OF_STORE:
            return await OF_STORE[name](desk, args)
        whole = cast("Desk", desk)
        if name in OF_DESK:
            return await OF_DESK[name](whole, args)
        return await WITH_PAYLOAD[name](whole, args, payload)
    except StoreError as error:
        raise ControlError(REFUSED, str(error)) from None
    except BadPassword as error:
        raise ControlError(REFUSED, str(error)) from None
