"""Every command as one table: its name, where its function stands, and what it needs.

The rule: a command reads its arguments first, refuses what it does not know, and returns plain JSON; what a person or
the store refuses becomes a ControlError with their words. A function is imported when it is called, so that no command
waits for what another needs.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from bridge.control.protocol import BAD_REQUEST, REFUSED, UNKNOWN_COMMAND, Args, ControlError, Json
from mailstore.errors import StoreError

if TYPE_CHECKING:
    from bridge.control.ports import StoreDesk


@dataclass(frozen=True, slots=True)
class Entry:
    """A command: `async function(desk, args[, payload])` in a module beside this one.

    `store_only` ones take a StoreDesk and start quickly without a server, the others take a whole Desk.
    """

    module: str
    function: str
    store_only: bool = True
    takes_payload: bool = False


COMMANDS: Final[Mapping[str, Entry]] = MappingProxyType({
    "status": Entry("status", "status"),
    "check": Entry("status", "check"),
    "inbox": Entry("mail", "inbox"),
    "send": Entry("mail", "send", store_only=False, takes_payload=True),
    "request": Entry("requests", "show", store_only=False),
    "decide": Entry("requests", "decide", store_only=False),
    "skills": Entry("skills", "listed"),
    "skills.import": Entry("skills", "take", takes_payload=True),
    "skills.turn": Entry("skills", "turn"),
    "skills.remove": Entry("skills", "remove"),
    "folders": Entry("folders", "listed"),
    "folder.grant": Entry("folders", "grant"),
    "folder.revoke": Entry("folders", "revoke"),
    "memory": Entry("memory", "listed"),
    "memory.turn": Entry("memory", "turn", store_only=False),
    "memory.add": Entry("memory", "add", store_only=False),
    "memory.forget": Entry("memory", "forget", store_only=False),
    "triggers": Entry("triggers", "listed"),
    "trigger": Entry("triggers", "show"),
    "trigger.word": Entry("triggers", "word", store_only=False),
    "trigger.add": Entry("triggers", "add", store_only=False),
    "trigger.secret": Entry("triggers", "secret", store_only=False),
    "runs": Entry("runs", "listed"),
    "run": Entry("runs", "show"),
    "costs": Entry("runs", "costs"),
    "audit": Entry("trust", "audit"),
    "grants": Entry("trust", "grants"),
    "grant.revoke": Entry("trust", "revoke", store_only=False),
    "mcp": Entry("mcp", "listed"),
    "mcp.approve": Entry("mcp", "approve"),
    "mcp.enable": Entry("mcp", "enable"),
    "mcp.reload": Entry("mcp", "reload"),
    "mcp.test": Entry("mcp", "test"),
    "accounts": Entry("accounts", "listed"),
    "account.add": Entry("accounts", "add"),
    "account.remove": Entry("accounts", "remove", store_only=False),
    "passwords": Entry("accounts", "passwords_of"),
    "password.add": Entry("accounts", "add_password"),
    "password.revoke": Entry("accounts", "revoke_password"),
})  # packed, to be seen at a glance  # fmt: skip


def entry(name: str) -> Entry:
    """The entry of a command. Raises ControlError for an unknown one."""
    found = COMMANDS.get(name)
    if found is None:
        raise ControlError(UNKNOWN_COMMAND, "there is no such command", f"known here: {', '.join(sorted(COMMANDS))}")
    return found


async def run(desk: "StoreDesk", name: str, given: Mapping[str, Any], payload: bytes = b"") -> Json:
    """Run a command. `desk` is a whole Desk unless the command is `store_only`. Raises ControlError."""
    command = entry(name)
    if payload and not command.takes_payload:
        raise ControlError(BAD_REQUEST, f"{name} takes no bytes")
    function = getattr(importlib.import_module(f"bridge.control.{command.module}"), command.function)
    args = Args(given)
    try:
        result: Json = await (function(desk, args, payload) if command.takes_payload else function(desk, args))
    except StoreError as error:
        raise ControlError(REFUSED, str(error)) from None
    return result
