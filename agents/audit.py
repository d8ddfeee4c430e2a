"""The audit trail: one row for every decision and every effect that was allowed, refused or in doubt.

The rule: facts are ids, hashes, names and times; never a body, an argument or a secret. Rows are only ever added.
"""

import json
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


def of_account(tx: ReadTx, account: int, limit: int) -> list[Entry]:
    """The newest rows of an account, newest first."""
    rows = tx.all("agents.audit.of_account", account=account, limit=limit)
    return [
        Entry(row["seq"], row["at"], row["what"], row["run"], row["subject"], json.loads(row["facts"])) for row in rows
    ]
