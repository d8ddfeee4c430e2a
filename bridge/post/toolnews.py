"""News of the tools of MCP servers for the people who use them: a tool that reads otherwise than it was pinned is off,
and is used again when somebody approves how it reads now, by answering the mail that shows it.

The rule: one mail to everybody for each way a tool reads, in the transaction that notes it; what the server wrote is
shown as its words and never as ours. An answer approves what its mail shows whole, and nothing that came later.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Final

from agents import outbox
from agents.mcp import pins
from agents.mcp.pins import NEW_RISK, NotApproved, Pin
from agents.ports import WriteTx as AgentsTx
from agents.runtime import Runtime
from agents.tool import Risk
from bridge.post.deciding import Sender
from bridge.post.incoming import Incoming
from config.redact import escape
from mailstore import accounts, threads
from mailstore.sqlite import WriteTx

_HELP: Final = "help"
_LONGEST: Final = 32 * 1024
_SHORT: Final = 600
_APART: Final = 10
"""So many tools that change at once have a mail each; more of them share one, which approves none."""
_WHY: Final = (
    "An MCP server describes its tools otherwise than when they were first seen or approved. They are off until you "
    "have looked at them: a server that changes what a tool says may want a model to use it for something else."
)
_HOW: Final = 'To let it be used as it reads now, answer "approve" to the mail that told you, and nothing else.'


def tell_drift(runtime: Runtime, tx: AgentsTx, changed: Sequence[Pin]) -> None:
    """Mail every account which tools of a server have changed and are off until somebody looks at them."""
    assert isinstance(tx, WriteTx)  # the one database of the program
    if len(changed) <= _APART:
        for pin in changed:
            _tell(runtime, tx, f"{pin.server}.{pin.current.digest()}.{pin.spec.name}", [pin])
    else:
        _tell(runtime, tx, f"{changed[0].server}.{changed[0].current.digest()}.", changed)


def _tell(runtime: Runtime, tx: WriteTx, key: str, changed: Sequence[Pin]) -> None:
    names = ", ".join(f"{pin.server}.{pin.spec.name}" for pin in changed)
    for account in accounts.all(tx):
        runtime.notice(
            tx,
            key=f"drift.{account.id}.{key}",
            account=account.id,
            agent=_HELP,
            thread=str(threads.new(tx, account.id)),
            subject=f"Turned off: {names} reads otherwise than before",
            body=body(changed),
        )


def answer(tx: WriteTx, answered: Iterable[str], mail: Incoming, sender: Sender) -> str | None:
    """Do what an answer to such a mail says; what is told, or None when it answers none."""
    keys = (outbox.own_key(tx, sender.account, one) for one in answered)
    key = next((key for key in keys if key is not None and key.startswith(f"drift.{sender.account}.")), None)
    if key is None:
        return None
    server, digest, tool = key.split(".", 4)[2:]
    pin = next((one for one in pins.of_server(tx, server) if one.spec.name == tool), None)
    name, reading = f"{server}.{tool}", mail.reading
    if not tool or pin is None or not _is_whole(pin):
        return f"Nothing was approved: see `postroom mcp show {server}`, and approve there with `postroom mcp approve`."
    if reading.decision == "reject":
        return f"{name} stays off."
    if reading.decision != "approve" or reading.items or reading.grant:
        return f"Nothing was approved, and {name} is as it was. {_HOW}"
    if pin.drift is None and pin.spec.digest() == digest:
        return f"Nothing was done: {name} is not off any more."
    try:
        pins.approve(tx, server, tool, digest, _risk(tx, pin), tx.now, sender.address, sender.via)
    except NotApproved:
        return f"Nothing was approved: {name} reads otherwise again since that mail. Answer the newest mail about it."
    return f"Approved: {name} is used again, as it read in the mail that you answered."


def _risk(tx: WriteTx, pin: Pin) -> Risk:
    """What it was allowed before; where several people have accounts nobody lets it run unasked for the others."""
    return pin.granted if pin.approved and len(accounts.all(tx)) == 1 else NEW_RISK


def _is_whole(pin: Pin) -> bool:
    """Whether its mail can show all that would be approved."""
    return len(_definition(pin).encode()) <= _LONGEST


def _definition(pin: Pin) -> str:
    """How a tool reads now, all of it."""
    now = pin.current
    rest = {"takes": now.schema, "says of itself": dict(now.annotations)}
    return f"{now.description}\n\n{json.dumps(rest, ensure_ascii=False, indent=1)}"


def body(changed: Sequence[Pin]) -> str:
    """What the users are told."""
    parts = [_WHY]
    for pin in changed:
        parts.append(f"{pin.server}.{pin.spec.name}")
        whole = len(changed) <= _APART and _is_whole(pin)
        now = _quoted(_definition(pin), _LONGEST) if whole else _quoted(pin.current.description, _SHORT)
        parts.append(f"Before:\n\n{_quoted(pin.spec.description, _SHORT)}\n\nNow:\n\n{now}")
        if pin.spec.schema != pin.current.schema or dict(pin.spec.annotations) != dict(pin.current.annotations):
            parts.append("What it takes, or what it says it does, has changed too.")
        by_hand = f"`postroom mcp approve {pin.server} {pin.spec.name}`"
        how = f'answer this mail with "approve", or run {by_hand}' if whole else f"run {by_hand}"
        parts.append(f"To let it be used as it reads now: {how}.")
    return "\n\n".join(parts)


def _quoted(text: str, longest: int) -> str:
    """A server's words, as words: each line behind a mark, so that nothing in them can look like ours."""
    short = text if len(text) <= longest else f"{text[:longest]} [...]"
    return "\n".join(f"    | {escape(line)}" for line in short.splitlines() or ["(nothing)"])
