"""`status` and `check`: what the server is doing, in numbers, and whether the store holds together.

The rule: nothing of a mail's text but titles of requests, which their owner has to know.
"""

import os
from sqlite3 import Row

from bridge.control.ports import ListeningPorts, StoreDesk
from bridge.control.protocol import Args, Json
from bridge.control.skills import catalogue
from mailstore import accounts
from mailstore.sqlite import ReadTx


async def status(desk: StoreDesk, args: Args) -> Json:
    """Process, ports, accounts, runs by state, open requests, and what waits in the queues."""
    args.done()
    facts = desk.store.read(_facts)
    left_out = {one.name: f"{one.state}: {'; '.join(one.why)}" for one in catalogue(desk).left_out()}
    named = {account["name"] for account in facts["accounts"]} & desk.settings.agents.keys()
    left_out |= dict.fromkeys(sorted(named), "not reached: an account has the address of this agent")
    running = {"pid": os.getpid(), "running": desk.ports is not None, "ports": _ports(desk.ports)}
    return {**running, **facts, "left_out": left_out}


async def check(desk: StoreDesk, args: Args) -> Json:
    """The invariants of the store that do not hold; none when all do."""
    args.done()
    return {"faults": await desk.store.check()}


def _facts(tx: ReadTx) -> Json:
    outbox = tx.all("bridge.look.outbox")
    return {
        "accounts": [{"name": account.name, "address": account.address} for account in accounts.all(tx)],
        "runs": {row["state"]: row["n"] for row in tx.all("bridge.look.runs")},
        "requests": [dict(row) for row in tx.all("bridge.look.requests")],
        "queues": {
            "mail to be acted on": tx.value("bridge.arrivals.waiting"),
            "mail for you": _count(outbox, "inside", {"queued"}),
            "mail for the relay": _count(outbox, "outside", {"queued", "sending", "data_sent"}),
        },
        "relayed": {row["state"]: row["n"] for row in outbox if row["way"] == "outside"},
    }


def _count(rows: list[Row], way: str, states: set[str]) -> int:
    return sum(row["n"] for row in rows if row["way"] == way and row["state"] in states)


def _ports(ports: ListeningPorts | None) -> Json | None:
    if ports is None:
        return None
    return {name: getattr(ports, name) for name in ("imap", "imaps", "smtp", "smtps", "web", "ca")}
