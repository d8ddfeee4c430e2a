"""Skills and plugins from the command line: list them, take a ZIP file in, turn one on or off, take one away.

The rule: a change shows in a running server at once, and in no run that has begun but at its next step.
"""

import asyncio
from dataclasses import asdict
from typing import Final

from agents import bundle
from agents.catalogue import Catalogue, Refused, Users, nobody
from agents.guide import with_model
from agents.mcp import file
from bridge.control.ports import StoreDesk
from bridge.control.protocol import BAD_REQUEST, NOT_FOUND, REFUSED, Args, ControlError, Json
from config.load import child_environment
from config.paths import DataFolder
from config.settings import Settings
from mailstore import accounts

_SEEN: Final = ("name", "source", "place", "state", "why")


async def listed(desk: StoreDesk, args: Args) -> Json:
    """Every skill: where it is from, how it is, and what is in its way."""
    args.done()
    return told(desk.settings, catalogue(desk))


async def take(desk: StoreDesk, args: Args, payload: bytes) -> Json:
    """Take skills or a plugin out of a ZIP file (the payload)."""
    replace = args.flag("replace")
    args.done()
    known, folder = catalogue(desk), DataFolder(desk.settings.home)
    try:
        found = await asyncio.to_thread(bundle.read, payload)
        await asyncio.to_thread(bundle.install, found, folder, replace)
    except bundle.Refused as no:
        raise ControlError(REFUSED, f"nothing was taken in: {no.why}", "") from None
    await _reload(desk, known, servers=bool(found.servers))
    taken = [asdict(one) | {"profile": None} for one in known.listed if one.name in found.skills]
    return {"plugin": found.name, "skills": taken, "servers": sorted(found.servers), "unused": list(found.unused)}


async def turn(desk: StoreDesk, args: Args) -> Json:
    """Turn a skill on or off; refused when others need it, or when it would not be ready."""
    name, on = args.text("name"), args.flag("on")
    args.done()
    known = catalogue(desk)
    try:
        known.turn(name, on)
    except Refused as no:
        raise ControlError(REFUSED, no.why, no.fix) from None
    return {"name": name, "on": on}


async def remove(desk: StoreDesk, args: Args) -> Json:
    """Take away a skill or a plugin that was imported, with the servers it brought."""
    name = args.text("name")
    args.done()
    known, folder = catalogue(desk), DataFolder(desk.settings.home)
    needed = [agent.name for agent in desk.settings.agents.values() if name in agent.skills]
    if needed:
        raise ControlError(REFUSED, f"{name} is needed by the agent {needed[0]}", "take it out of its skills first")
    try:
        what = await asyncio.to_thread(bundle.remove, name, folder)
    except bundle.Refused as no:
        raise ControlError(NOT_FOUND if "no skill" in no.why else BAD_REQUEST, no.why, "") from None
    await _reload(desk, known, servers=what == "plugin")
    return {"name": name, "what": what}


def catalogue(desk: StoreDesk) -> Catalogue:
    """The running server's skills, else the same read now."""
    if desk.skills is not None:
        return desk.skills
    return of_settings(desk.settings, lambda: desk.store.read(lambda tx: {each.name for each in accounts.all(tx)}))


def of_settings(settings: Settings, users: Users = nobody) -> Catalogue:
    """The skills of an installation without a server around them."""
    path = DataFolder(settings.home).mcp_file
    return Catalogue(
        settings,
        lambda: file.usable(file.read(path, child_environment())),
        lambda profile: with_model(settings, profile),
        users,
    )


async def _reload(desk: StoreDesk, known: Catalogue, servers: bool) -> None:
    if servers and desk.mcp is not None:
        await desk.mcp.reload()
    known.reload()


def told(settings: Settings, known: Catalogue) -> Json:
    """Every skill as the command line shows it."""
    rows = []
    for one in known.listed:
        facts = {name: getattr(one, name) for name in _SEEN} | {"why": list(one.why)}
        facts["description"] = one.profile.description if one.profile else ""
        facts["address"] = settings.address(one.name) if one.name in known else None
        facts["tools"] = list(one.profile.tools or ()) if one.profile else []
        facts["asks"] = sorted(one.profile.interrupt_on) if one.profile else []
        rows.append(facts)
    return {"skills": rows}
