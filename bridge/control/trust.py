"""What was decided and what is always allowed: the audit trail and the standing approvals.

The rule: looking changes nothing, and what can be changed here only takes leave away.
"""

import json
import time
from typing import Any

from agents import audit as trail
from agents import grants as leaves
from agents import requests
from bridge.control.ports import Desk, StoreDesk
from bridge.control.protocol import NOT_FOUND, Args, ControlError, Json
from bridge.control.who import DEVICE, chosen
from mailstore.sqlite import ReadTx


async def audit(desk: StoreDesk, args: Args) -> Json:
    """The newest rows of the trail, or with a code everything about that request, its exact arguments included."""
    account = chosen(desk, args.optional("account"))
    code, count = args.optional("code"), args.number("count", 50)
    args.done()
    if code is None:
        found = desk.store.read(lambda tx: trail.of_account(tx, account.id, count))
        return {"account": account.name, "entries": [_entry(each) for each in reversed(found)], "asked": []}
    return {"account": account.name, **desk.store.read(lambda tx: _about(tx, account.id, code))}


def _about(tx: ReadTx, account: int, code: str) -> Json:
    entries, asked = trail.of_code(tx, account, code), trail.arguments(tx, account, code)
    if not entries:
        fix = "`postroom audit` lists the newest entries"
        raise ControlError(NOT_FOUND, f"nothing is known of a request [{code.strip('[] ').upper()}]", fix)
    info = requests.find(tx, account, code=code)
    return {
        "title": info.title if info else "",
        "state": info.state.value if info else "",
        "entries": [_entry(each) for each in entries],
        "asked": [_asked(each) for each in asked],
    }


def _entry(entry: trail.Entry) -> Json:
    names = ("seq", "at", "what", "run", "subject")
    return {**{name: getattr(entry, name) for name in names}, "facts": dict(entry.facts)}


def _asked(asked: trail.Asked) -> Json:
    names = ("revision", "number", "tool", "args_hash", "state")
    arguments: Any = None if asked.args is None else json.loads(asked.args)
    return {**{name: getattr(asked, name) for name in names}, "arguments": arguments}


async def grants(desk: StoreDesk, args: Args) -> Json:
    """The standing approvals that hold."""
    account = chosen(desk, args.optional("account"))
    args.done()
    now = time.time_ns() // 1_000_000
    found = desk.store.read(lambda tx: leaves.of_account(tx, account.id, now))
    return {"account": account.name, "grants": [_grant(each) for each in found]}


def _grant(grant: leaves.Grant) -> Json:
    names = ("id", "code", "agent", "tool", "uses_left", "expires")
    return {**{name: getattr(grant, name) for name in names}, "arguments": dict(grant.args)}


async def revoke(desk: Desk, args: Args) -> Json:
    """Take a standing approval back, by its code or id."""
    account = chosen(desk, args.optional("account"))
    name = args.text("grant")
    args.done()
    by = account.address
    if not await desk.store.write(lambda tx: desk.runtime.revoke_grant(tx, account.id, name, by, DEVICE)):
        fix = "`postroom grants list` shows those there are"
        raise ControlError(NOT_FOUND, f"account {account.name} has no standing approval {name}", fix)
    return {"account": account.name, "revoked": name}
