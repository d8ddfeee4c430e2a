"""News of the tools of MCP servers for the people who use them: a tool that reads otherwise than it was pinned is off.

The rule: one mail to everybody for each way a tool reads, in the transaction that notes it; what the server wrote is
shown as its words and never as ours.
"""

from collections.abc import Sequence
from typing import Final

from agents.mcp.pins import Pin
from agents.ports import WriteTx as AgentsTx
from agents.runtime import Runtime
from config.redact import escape
from mailstore import accounts, threads
from mailstore.sqlite import WriteTx

_HELP: Final = "help"
_LONGEST: Final = 600
_WHY: Final = (
    "An MCP server describes its tools otherwise than when they were first seen or approved. They are off until you "
    "have looked at them: a server that changes what a tool says may want a model to use it for something else."
)


def tell_drift(runtime: Runtime, tx: AgentsTx, changed: Sequence[Pin]) -> None:
    """Mail every account which tools of a server have changed and are off until somebody looks at them."""
    assert isinstance(tx, WriteTx)  # the one database of the program
    names = ", ".join(f"{pin.server}.{pin.spec.name}" for pin in changed)
    mark = changed[0].current.digest()[:16]
    for account in accounts.all(tx):
        runtime.notice(
            tx,
            key=f"drift.{account.id}.{changed[0].server}.{changed[0].spec.name}.{mark}",
            account=account.id,
            agent=_HELP,
            thread=str(threads.new(tx, account.id)),
            subject=f"Turned off: {names} reads otherwise than before",
            body=body(changed),
        )


def body(changed: Sequence[Pin]) -> str:
    """What the users are told."""
    parts = [_WHY]
    for pin in changed:
        drift = pin.drift or pin.spec
        parts.append(f"{pin.server}.{pin.spec.name}")
        parts.append(f"Before:\n\n{_quoted(pin.spec.description)}\n\nNow:\n\n{_quoted(drift.description)}")
        if pin.spec.schema != drift.schema or dict(pin.spec.annotations) != dict(drift.annotations):
            parts.append("What it takes, or what it says it does, has changed too.")
        parts.append(f"To let it be used as it reads now: `postroom mcp approve {pin.server} {pin.spec.name}`.")
    return "\n\n".join(parts)


def _quoted(text: str) -> str:
    """A server's words, as words: each line behind a mark, so that nothing in them can look like ours."""
    short = text if len(text) <= _LONGEST else f"{text[:_LONGEST]} [...]"
    return "\n".join(f"    | {escape(line)}" for line in short.splitlines() or ["(nothing)"])
