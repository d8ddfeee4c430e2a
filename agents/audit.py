"""The audit trail: one row for every decision and every effect that was allowed, refused or in doubt.

The rule: facts are ids, hashes, names and times; never a body, an argument or a secret. Rows are only ever added.
"""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agents.ports import ReadTx, WriteTx


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of the trail."""

    seq: int
    at: int
    what: str
    run: str | None
    subject: str | None
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """One item of a request. `args` is the JSON that the hash stands for; None when an edit took its place later."""

    revision: int
    number: int
    tool: str
    args_hash: str
    state: str
    args: str | None


def record(
    tx: WriteTx, at: int, account: int, what: str, run: str | None = None, subject: str | None = None, **facts: Any
) -> None:
    """Add one row; `what` is a dotted word ("approval.approved"), `subject` the id it is about."""
    tx.run(
        "agents.audit.add",
        at=at,
        account=account,
        what=what,
        run=run,
        subject=subject,
        facts=json.dumps(facts, ensure_ascii=False),
    )


def of_code(tx: ReadTx, account: int, code: str) -> list[Entry]:
    """Everything that concerns the request of a code, in every revision of it, oldest first."""
    return [_entry(row) for row in tx.all("agents.audit.of_code", account=account, code=code.strip("[] ").upper())]


def arguments(tx: ReadTx, account: int, code: str) -> list[Asked]:
    """What was asked about under a code, item by item, with the exact arguments where they are still kept."""
    rows = tx.all("agents.audit.arguments", account=account, code=code.strip("[] ").upper())
    names = ("revision", "number", "tool", "args_hash", "state", "args")
    return [Asked(**{name: row[name] for name in names}) for row in rows]


def of_account(tx: ReadTx, account: int, limit: int) -> list[Entry]:
    """The newest rows of an account, newest first."""
    rows = tx.all("agents.audit.of_account", account=account, limit=limit)
    return [_entry(row) for row in rows]


def _entry(row: sqlite3.Row) -> Entry:
    return Entry(row["seq"], row["at"], row["what"], row["run"], row["subject"], json.loads(row["facts"]))
