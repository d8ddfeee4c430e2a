"""The MCP servers: how they are, what their tools are, and what the user says of them.

The rule: nothing a server says is believed here, only shown; an approval names the hash of what was looked at.
"""

import time
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from agents.mcp import file, pins
from agents.mcp.pins import NotApproved, Pin
from agents.mcp.servers import Servers, line_limit, try_out
from agents.mcp.state import Pace, State, Status
from agents.mcp.tool import offered_name
from agents.office import agent_profiles
from agents.profile import Profile
from agents.tool import Risk
from bridge.control.ports import StoreDesk
from bridge.control.protocol import BAD_REQUEST, NOT_FOUND, REFUSED, Args, ControlError, Json
from bridge.control.skills import catalogue
from config.load import child_environment
from config.paths import DataFolder

TEST_PACE = Pace(start=15.0, leave=5.0)


class _Time:
    """The time of this machine, UTC milliseconds."""

    def now(self) -> int:
        return time.time_ns() // 1_000_000


async def listed(desk: StoreDesk, args: Args) -> Json:
    """Every server with its state and its tools, who uses it, and what is wrong with the file."""
    args.done()
    servers = _servers(desk)
    profiles = _profiles(desk)
    known = servers.pins()
    told = [_told(status, known.get(status.name, ()), profiles, servers) for status in servers.status()]
    return {"file": str(servers.path), "servers": told, "faults": [asdict(fault) for fault in servers.said.faults]}


async def approve(desk: StoreDesk, args: Args) -> Json:
    """Pin a tool as it was shown (`hash`), with the risk the user gives it."""
    server, tool, digest, risk = (args.text(name) for name in ("server", "tool", "hash", "risk"))
    args.done()
    if risk not in set(Risk):
        raise ControlError(BAD_REQUEST, f"{risk!r} is no risk", f"one of {', '.join(Risk)}")
    try:
        pin = await desk.store.write(lambda tx: pins.approve(tx, server, tool, digest, Risk(risk), tx.now))
    except NotApproved as fault:
        raise ControlError(REFUSED, fault.text, "look at it again: `postroom mcp list`") from None
    if desk.mcp is not None:
        desk.mcp.refresh()
    return _tool_told(pin)


async def enable(desk: StoreDesk, args: Args) -> Json:
    """Write `enabled` into the file, and connect or leave the server."""
    server, on = args.text("server"), args.flag("on")
    args.done()
    path = _servers(desk).path
    if not on and (users := catalogue(desk).using(server)):
        fix = f"`postroom skills disable {users[0]}` first"
        raise ControlError(REFUSED, f"{server} is needed by the skill {', '.join(users)}", fix)
    try:
        file.set_enabled(path, server, on)
    except FileNotFoundError:
        raise ControlError(NOT_FOUND, f"there is no file {path}", "write one; docs/mcp.md says how") from None
    except (KeyError, TypeError):
        raise _no_server(server) from None
    except (OSError, ValueError) as error:
        raise ControlError(REFUSED, f"{path} cannot be changed ({type(error).__name__})", "mend it by hand") from None
    return await reload(desk, Args({}))


async def reload(desk: StoreDesk, args: Args) -> Json:
    """Read the file again; a running server connects and leaves what changed."""
    args.done()
    if desk.mcp is not None:
        await desk.mcp.reload()
    if desk.skills is not None:
        desk.skills.reload()
    return await listed(desk, Args({}))


async def test(desk: StoreDesk, args: Args) -> Json:
    """Connect to a server once, beside the connection there may be, and leave it."""
    server = args.text("server")
    args.done()
    path = _servers(desk).path
    said = file.read(path, child_environment())
    for fault in said.faults:
        if not fault.key or fault.key.split(".")[0] == server:
            raise ControlError(REFUSED, str(fault).split("\n")[0], fault.fix)
    config = said.servers.get(server)
    if config is None:
        raise _no_server(server)
    if not config.enabled:
        raise ControlError(REFUSED, f"{server} is not enabled", f"`postroom mcp enable {server}`")
    return await try_out(config, line_limit(desk.settings.limits.result_file_bytes), TEST_PACE)


def _no_server(name: str) -> ControlError:
    return ControlError(NOT_FOUND, f"there is no MCP server {name}", "`postroom mcp list` shows those there are")


def _servers(desk: StoreDesk) -> Servers:
    """The running server's own, else the same read from file and store."""
    if desk.mcp is not None:
        return desk.mcp
    path, limit = DataFolder(desk.settings.home).mcp_file, line_limit(desk.settings.limits.result_file_bytes)
    made = Servers(path, child_environment(), desk.store.db, _Time(), limit)
    made.load()
    return made


def _profiles(desk: StoreDesk) -> list[Profile]:
    """Every agent and every ready skill."""
    return [*agent_profiles(desk.settings).values(), *catalogue(desk).profiles()]


def _told(status: Status, known: Iterable[Pin], profiles: Iterable[Profile], servers: Servers) -> Json:
    config = servers.said.servers[status.name]
    names = [offered_name(pin.server, pin.spec.name) for pin in known if pin.present]
    users = [each.name for each in profiles if any(each.allows(name) for name in names)]
    unused = status.state is State.CONNECTED and not users
    note = f"connected, but no agent or skill uses it: name {status.name}.* in the tools of one" if unused else ""
    facts: dict[str, Any] = asdict(status)
    tools = [_tool_told(pin) for pin in known]
    return {**facts, "trusted": config.trusted, "tools": tools, "used_by": users, "note": note}


def _tool_told(pin: Pin) -> Json:
    spec = pin.current
    return {
        "name": spec.name,
        "offered_as": offered_name(pin.server, spec.name),
        "state": pin.state,
        "risk": pin.risk.value,
        "description": spec.description,
        "schema": spec.schema,
        "hints": dict(spec.annotations),
        "hash": spec.digest(),
        "before": pin.spec.description if pin.drift else None,
    }
