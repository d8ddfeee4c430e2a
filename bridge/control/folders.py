"""Granted folders from the command line: grant, list, revoke.

The rule: whoever may use the command line owns the data folder, and so may grant what they can read themselves.
"""

from agents.folders import grants
from agents.folders.grants import Folder, Wish
from agents.folders.rules import NotGranted
from bridge.control.ports import StoreDesk
from bridge.control.protocol import NOT_FOUND, REFUSED, Args, ControlError, Json
from bridge.control.who import chosen

_VIA = "the command line"


async def listed(desk: StoreDesk, args: Args) -> Json:
    """The granted folders of an account."""
    account = chosen(desk, args.optional("account"))
    args.done()
    found = desk.store.read(lambda tx: grants.of_account(tx, account.id))
    return {"account": account.name, "folders": [_told(folder) for folder in found]}


async def grant(desk: StoreDesk, args: Args) -> Json:
    """Grant a folder to the agents of an account, or to one of them."""
    account, path = chosen(desk, args.optional("account")), args.text("path")
    name, agent = args.optional("name") or "", args.optional("agent") or grants.EVERY_AGENT
    writes, own = args.flag("writes"), args.flag("own")
    args.done()
    if agent and agent not in desk.settings.agents:
        raise ControlError(NOT_FOUND, f"there is no agent {agent}", f"one of {', '.join(sorted(desk.settings.agents))}")
    wish, home = Wish(account.id, path, name, agent, writes, own), desk.settings.home
    try:
        made = await desk.store.write(lambda tx: grants.grant(tx, tx.now, wish, home, account.address, _VIA))
    except NotGranted as no:
        raise ControlError(REFUSED, f"not granted: {no.why}", "") from None
    return _told(made)


async def revoke(desk: StoreDesk, args: Args) -> Json:
    """Take a grant back; it holds at once, also for work under way."""
    account, name = chosen(desk, args.optional("account")), args.text("name")
    args.done()
    done = await desk.store.write(lambda tx: grants.revoke(tx, tx.now, account.id, name, account.address, _VIA))
    if not done:
        raise ControlError(
            NOT_FOUND, f"account {account.name} has no granted folder {name}", "`postroom folders list` shows them"
        )
    return {"revoked": name}


def _told(folder: Folder) -> Json:
    plain = {name: getattr(folder, name) for name in ("name", "agent", "writes", "own", "created")}
    return {**plain, "path": str(folder.path)}
