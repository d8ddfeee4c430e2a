"""What is known of the tools of MCP servers: how each read when it was pinned, and what the user said of it.

The rule: a tool is pinned at first sight and asks before every call; one that reads otherwise than it was pinned is
not offered until the user has approved how it reads now. Only the user lowers a risk, a server's hints only raise it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from agents import audit
from agents.llm import ToolSpec
from agents.ports import Millis, ReadTx, WriteTx
from agents.tool import Risk

EVERYBODY: Final = 0
"""The account of an audit entry about the whole installation."""

NEW_RISK: Final = Risk.SEND_OUT
_ORDER: Final = tuple(Risk)


class NotApproved(Exception):
    """The tool is not as it was when the user looked, or is not there. `text` says which."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


@dataclass(frozen=True, slots=True)
class Pin:
    """One tool of a server. `spec` is as pinned, under the server's own name for it; `drift` how it reads now when
    that differs.
    """

    server: str
    spec: ToolSpec
    drift: ToolSpec | None
    approved: bool
    granted: Risk
    present: bool

    @property
    def state(self) -> str:
        """new, approved, changed or gone."""
        if not self.present:
            return "gone"
        return "changed" if self.drift else "approved" if self.approved else "new"

    @property
    def offered(self) -> bool:
        return self.present and self.drift is None

    @property
    def current(self) -> ToolSpec:
        """How it reads now."""
        return self.drift or self.spec

    @property
    def risk(self) -> Risk:
        """What a call may do: what the user allowed, raised by what the server says of it."""
        return raised(self.granted, self.spec.annotations)

    @property
    def repeatable(self) -> bool:
        """Whether a repeat is harmless: the user approved it and it only reads, or says so itself."""
        return self.approved and (self.risk is Risk.READ or self.spec.annotations.get("idempotentHint") is True)


def raised(risk: Risk, hints: Mapping[str, Any]) -> Risk:
    """A risk after a server's hints: that it destroys, or that it does not only read, is believed; nothing else is."""
    if hints.get("destructiveHint") is True or hints.get("readOnlyHint") is False:
        return max(risk, Risk.WRITE_USER, key=_ORDER.index)
    return risk


def every(tx: ReadTx) -> list[Pin]:
    """Every pinned tool."""
    return [_pin(row) for row in tx.all("agents.mcp.all")]


def of_server(tx: ReadTx, server: str) -> list[Pin]:
    """The pinned tools of one server."""
    return [_pin(row) for row in tx.all("agents.mcp.of_server", server=server)]


def see(tx: WriteTx, server: str, listed: Sequence[ToolSpec], now: Millis) -> list[Pin]:
    """Compare what a server lists with what is pinned, and note what is new, has changed, or is gone."""
    known = {pin.spec.name: pin for pin in of_server(tx, server)}
    for spec in listed:
        pin = known.pop(spec.name, None)
        if pin is None:
            where = {"server": server, "name": spec.name, "hash": spec.digest(), "definition": _dump(spec)}
            tx.run("agents.mcp.add", **where, risk=NEW_RISK, now=now)
            audit.record(tx, now, EVERYBODY, "mcp.tool.new", None, f"{server}.{spec.name}", hash=spec.digest())
        elif not pin.present or spec != pin.current:
            _see_again(tx, pin, spec, now)
    for pin in known.values():
        tx.run("agents.mcp.absent", server=server, name=pin.spec.name, now=now)
    return of_server(tx, server)


def _see_again(tx: WriteTx, pin: Pin, spec: ToolSpec, now: Millis) -> None:
    differs = spec.digest() != pin.spec.digest()
    drift = {"drift": _dump(spec), "drift_hash": spec.digest()} if differs else {"drift": None, "drift_hash": None}
    tx.run("agents.mcp.seen", server=pin.server, name=spec.name, now=now, **drift)
    what = "mcp.tool.changed" if differs else "mcp.tool.back"
    audit.record(tx, now, EVERYBODY, what, None, f"{pin.server}.{spec.name}", hash=spec.digest())


def approve(
    tx: WriteTx, server: str, name: str, digest: str, risk: Risk, now: Millis, by: str = "", via: str = "cli"
) -> Pin:
    """Pin a tool as the user saw it (`digest`) with the risk they give it. Raises NotApproved."""
    row = tx.one("agents.mcp.get", server=server, name=name)
    if row is None:
        raise NotApproved(f"{server} has no tool {name}")
    if not tx.run("agents.mcp.approve", server=server, name=name, hash=digest, risk=risk, now=now):
        raise NotApproved(f"{server}.{name} has changed since it was shown")
    facts = {"hash": digest, "risk": risk.value, "by": by, "via": via}
    audit.record(tx, now, EVERYBODY, "mcp.tool.approved", None, f"{server}.{name}", **facts)
    return _pin(tx.one("agents.mcp.get", server=server, name=name))


def _pin(row: Any) -> Pin:
    return Pin(
        server=row["server"],
        spec=_load(row["name"], row["definition"]),
        drift=_load(row["name"], row["drift"]) if row["drift"] else None,
        approved=row["state"] == "approved",
        granted=Risk(row["risk"]),
        present=bool(row["present"]),
    )


def _dump(spec: ToolSpec) -> str:
    body = {"description": spec.description, "schema": spec.schema, "annotations": dict(spec.annotations)}
    return json.dumps(body, ensure_ascii=False, sort_keys=True)


def _load(name: str, text: str) -> ToolSpec:
    return ToolSpec(name, **json.loads(text))
