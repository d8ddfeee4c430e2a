"""Accounts and their passwords, as the command line manages them.

The rule: a generated password is told once, in the answer of the command that made it; removing an account needs its
name twice, because its mail goes with it.
"""

import asyncio
import re
import time
from dataclasses import dataclass
from typing import Final

from agents.folders import grants
from bridge import passwords
from bridge.control.ports import Desk, StoreDesk
from bridge.control.protocol import BAD_REQUEST, NOT_FOUND, REFUSED, Args, ControlError, Json
from bridge.control.skills import catalogue
from bridge.control.who import chosen
from mailstore import accounts
from mailstore.model import Account
from mailstore.sqlite import ReadTx, WriteTx

NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?")
RESERVED: Final = frozenset({"action", "hook", "schedule", "help", "postmaster"})
FIRST_LABEL: Final = "first"


@dataclass(frozen=True, slots=True)
class Kept:
    """A password as it is kept: its label and its hash."""

    label: str
    prepared: passwords.Prepared
    hooks_only: bool = False


async def listed(desk: StoreDesk, args: Args) -> Json:
    """Every account with the number of its passwords."""
    args.done()
    return desk.store.read(
        lambda tx: {
            "accounts": [
                {"name": each.name, "address": each.address, "passwords": len(passwords.all_of(tx, each.id))}
                for each in accounts.all(tx)
            ]
        }
    )


async def add(desk: StoreDesk, args: Args) -> Json:
    """Make an account with its mailboxes and a password: the given one, or a generated one that is told now.

    With `ensure` an account that is there keeps its mail, and its password of this label becomes the given one.
    """
    name = args.text("name").strip().lower()
    given, label = args.optional("password"), args.optional("label") or FIRST_LABEL
    ensure = args.flag("ensure")
    args.done()
    password, prepared = await _prepare(desk, name, given)
    gone = _known(desk, name, label)
    account = await create(desk, name, Kept(label, prepared), ensure=ensure)
    _end_sessions(desk, gone)
    told = {"name": account.name, "address": account.address, "label": label}
    return told if given is not None else told | {"password": password}


def _known(desk: StoreDesk, name: str, label: str) -> list[int]:
    """The password that an account of this name has under the label, if both are there."""

    def read(tx: ReadTx) -> list[int]:
        account = accounts.find(tx, name, desk.settings.domain)
        return [] if account is None else _of_label(tx, account, label)

    return desk.store.read(read)


async def create(desk: StoreDesk, name: str, kept: Kept | None = None, *, ensure: bool = False) -> Account:
    """Make an account and its first password in one transaction. Raises ControlError, StoreError."""
    _check_name(desk, name)
    displays = [agent.display or agent.name.capitalize() for agent in desk.settings.agents.values()]

    def make(tx: WriteTx) -> Account:
        account = accounts.find(tx, name, desk.settings.domain) if ensure else None
        account = account or accounts.create(tx, name, desk.settings.address(name), displays)
        if kept is not None:
            _keep(tx, account, kept, replace=ensure)
        return account

    return await desk.store.write(make)


def _check_name(desk: StoreDesk, name: str) -> None:
    if not NAME.fullmatch(name):
        fix = "use up to 64 small letters, digits, dots and dashes, beginning and ending with a letter or digit"
        raise ControlError(BAD_REQUEST, f"{name!r} cannot be the name of an account", fix)
    if name in RESERVED or name in desk.settings.agents:
        whose = "an agent's address" if name in desk.settings.agents else "an address of Postroom itself"
        raise ControlError(REFUSED, f"{desk.settings.address(name)} is {whose}", "choose another name")
    if name in catalogue(desk):
        fix = f"choose another name, or `postroom skills disable {name}`"
        raise ControlError(REFUSED, f"{desk.settings.address(name)} is the address of a skill", fix)


async def remove(desk: Desk, args: Args) -> Json:
    """Remove an account with all its mail and work, and end its sessions; `confirm` repeats its name."""
    account = chosen(desk, args.text("name"))
    confirm = args.text("confirm")
    args.done()
    if confirm not in (account.name, account.address):
        raise ControlError(
            REFUSED, f"{confirm!r} is not {account.name}; nothing was removed", "repeat the account's name"
        )

    def erase(tx: WriteTx) -> list[int]:
        gone = [each.id for each in passwords.all_of(tx, account.id)]
        passwords.revoke_all(tx, account.id)
        desk.runtime.automations.forget(tx, account.id)
        desk.runtime.memory.forget_account(tx, account.id)
        grants.forget_account(tx, account.id)
        for row in tx.all("bridge.look.threads", account=account.id):
            desk.runtime.forget_thread(tx, account.id, row["thread"])
        accounts.remove(tx, account.id)
        return gone

    _end_sessions(desk, await desk.store.write(erase))
    return {"name": account.name, "address": account.address}


async def passwords_of(desk: StoreDesk, args: Args) -> Json:
    """The passwords of an account by label; never one itself. Times are UTC ms."""
    account = chosen(desk, args.optional("account"))
    args.done()
    there = desk.store.read(lambda tx: passwords.all_of(tx, account.id))
    rows = [
        {name: getattr(each, name) for name in ("label", "generated", "created", "used", "hooks_only")}
        for each in there
    ]
    return {"account": account.name, "passwords": rows}


async def add_password(desk: StoreDesk, args: Args) -> Json:
    """A password for one more device: the given one, or a generated one that is told now."""
    account = chosen(desk, args.optional("account"))
    label, given, replace = args.text("label"), args.optional("password"), args.flag("replace")
    hooks_only = args.flag("hooks_only")
    args.done()
    password, prepared = await _prepare(desk, account.name, given)

    def keep(tx: WriteTx) -> list[int]:
        gone = _of_label(tx, account, label)
        _keep(tx, account, Kept(label, prepared, hooks_only), replace=replace)
        return gone

    _end_sessions(desk, await desk.store.write(keep))
    told = {"account": account.name, "address": account.address, "label": label}
    return told if given is not None else told | {"password": password}


async def revoke_password(desk: StoreDesk, args: Args) -> Json:
    """Take a password away, and end the sessions that were opened with it."""
    account = chosen(desk, args.optional("account"))
    label = args.text("label")
    args.done()

    def take(tx: WriteTx) -> list[int]:
        gone = _of_label(tx, account, label)
        passwords.revoke(tx, account.id, label)
        return gone

    gone = await desk.store.write(take)
    if not gone:
        fix = "`postroom password list` shows those there are"
        raise ControlError(NOT_FOUND, f"account {account.name} has no password {label!r}", fix)
    _end_sessions(desk, gone)
    return {"account": account.name, "label": label}


def _of_label(tx: ReadTx, account: Account, label: str) -> list[int]:
    return [each.id for each in passwords.all_of(tx, account.id) if each.label == label]


def _end_sessions(desk: StoreDesk, password_ids: list[int]) -> None:
    """After the commit: who logged in with one of these is out."""
    for password_id in password_ids:
        desk.end_sessions(password_id)


async def _prepare(desk: StoreDesk, name: str, given: str | None) -> tuple[str, passwords.Prepared]:
    """The password of an account, made here unless given, and what is kept of it (a second, off the loop). Raises
    ControlError."""
    hasher, salt = passwords.default_hasher(), None
    if desk.settings.imap.offers_scram:
        salt = desk.store.read(lambda tx: passwords.scram_salt(tx, name))
    if given is not None:
        try:
            return given, await asyncio.to_thread(passwords.prepare_given, given, hasher, salt)
        except passwords.BadPassword as error:
            raise ControlError(REFUSED, str(error)) from None
    password = passwords.generate()
    return password, await asyncio.to_thread(passwords.prepare_generated, password, hasher, salt)


def _keep(tx: WriteTx, account: Account, kept: Kept, *, replace: bool) -> None:
    try:
        now, hooks_only = _now(), kept.hooks_only
        passwords.add(tx, account.id, kept.label, kept.prepared, now, replace=replace, hooks_only=hooks_only)
    except passwords.BadPassword as error:
        raise ControlError(REFUSED, str(error)) from None


def _now() -> int:
    return time.time_ns() // 1_000_000
