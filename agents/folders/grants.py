"""The granted folders as rows: to whom, under which name, and how far.

The rule: a grant belongs to one account, is read-only unless it says otherwise, and holds until it is revoked; it is
looked up at every use, so that a revocation holds at once.
"""

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agents import audit, ids
from agents.folders import rules
from agents.folders.rules import NotGranted
from agents.ports import ReadTx, WriteTx

EVERY_AGENT: Final = ""
MAX_FOLDERS: Final = 50


@dataclass(frozen=True, slots=True)
class Folder:
    """One granted folder; agents know it by `name`. `own`: what is in it counts as the owner's own words."""

    id: str
    account: int
    agent: str
    name: str
    path: Path
    writes: bool
    own: bool
    created: int


@dataclass(frozen=True, slots=True)
class Wish:
    """A folder to be granted. `name` is made from the path when it is empty; `agent` is one, or every one."""

    account: int
    path: str
    name: str = ""
    agent: str = EVERY_AGENT
    writes: bool = False
    own: bool = False


def grant(tx: WriteTx, now: int, wish: Wish, data_folder: Path, by: str = "", via: str = "") -> Folder:
    """Grant a folder. Raises NotGranted."""
    there = of_account(tx, wish.account)
    if len(there) >= MAX_FOLDERS:
        raise NotGranted(f"{MAX_FOLDERS} folders are granted already; revoke one first")
    real = rules.checked(wish.path, data_folder, [folder.path for folder in there])
    name = wish.name or rules.folded(real.name).replace(" ", "-").replace("_", "-")
    if rules.NAME.fullmatch(name) is None:
        raise NotGranted(f'"{name}" is no name for a folder; give one of small letters, digits and dashes')
    if any(folder.name == name for folder in there):
        raise NotGranted(f"a folder named {name} is granted already; give another name")
    made = Folder(ids.new_id(now), wish.account, wish.agent, name, real, wish.writes, wish.own, now)
    tx.run(
        "agents.folders.add",
        path=str(real),
        writes=int(wish.writes),
        own=int(wish.own),
        now=now,
        **{field: getattr(made, field) for field in ("id", "account", "agent", "name")},
    )
    facts = {"path": str(real), "name": name, "agent": wish.agent, "writes": wish.writes, "own": wish.own}
    audit.record(tx, now, wish.account, "folder.granted", None, made.id, by=by, via=via, **facts)
    return made


def revoke(tx: WriteTx, now: int, account: int, name: str, by: str = "", via: str = "") -> bool:
    """Take a grant back. False: there is none of that name."""
    found = next((folder for folder in of_account(tx, account) if folder.name == name.strip().lower()), None)
    if found is None:
        return False
    tx.run("agents.folders.remove", id=found.id)
    audit.record(tx, now, account, "folder.revoked", None, found.id, name=found.name, by=by, via=via)
    return True


def of_account(tx: ReadTx, account: int) -> list[Folder]:
    """The granted folders of an account, by name."""
    return [_folder(row) for row in tx.all("agents.folders.of_account", account=account)]


def open_to(tx: ReadTx, account: int, agent: str) -> list[Folder]:
    """The folders that an agent may use, by name."""
    return [folder for folder in of_account(tx, account) if folder.agent in (agent, EVERY_AGENT)]


def mark_foreign(tx: WriteTx, account: int, sha: str) -> None:
    """A run that had read untrusted text writes these bytes: the mark follows them, whatever they are named and in
    whatever folder they are, also when their folder is granted anew.
    """
    tx.run("agents.folders.mark", account=account, sha=sha)


def is_foreign(tx: ReadTx, account: int, sha: str) -> bool:
    """Whether bytes were written by a run of the account that had read untrusted text."""
    return tx.value("agents.folders.is_marked", account=account, sha=sha) is not None


def forget_account(tx: WriteTx, account: int) -> None:
    """Take back everything of an account that is removed."""
    tx.run("agents.folders.forget_account", account=account)
    tx.run("agents.folders.forget_marks", account=account)


def _folder(row: sqlite3.Row) -> Folder:
    plain = {name: row[name] for name in ("id", "account", "agent", "name", "created")}
    return Folder(path=Path(row["path"]), writes=bool(row["writes"]), own=bool(row["own"]), **plain)
