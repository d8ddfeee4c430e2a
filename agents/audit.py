"""The audit trail: one row for every decision and every effect that was allowed, refused or in doubt.

The rule: facts are ids, hashes, names and times; never a body, an argument or a secret. Rows are only ever added.
"""

import json
from typing import Any

from agents.ports import WriteTx


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
