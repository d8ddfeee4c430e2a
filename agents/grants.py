"""Standing leaves: "always approve" for one tool with exactly these field values.

The rule: a leave is bound to the account, the agent, the tool's definition and the hash of the arguments; it ends
after 30 days, 50 uses, or when it is taken back; a run that has read untrusted text never uses one.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from agents import audit, ids
from agents.office import Office
from agents.ports import ReadTx, WriteTx
from agents.store import Call, Run, json_object

DAYS: Final = 30
USES: Final = 50
_DAY_MS: Final = 86_400_000


@dataclass(frozen=True, slots=True)
class Grant:
    """A leave as it is listed; `expires` is UTC ms."""

    id: str
    agent: str
    tool: str
    args: Mapping[str, Any]
    uses_left: int
    expires: int

    @property
    def code(self) -> str:
        """A short name to write in a mail ("G-7F3KQ2"), made from the id."""
        return ids.short_code("G", self.id)


def add(tx: WriteTx, office: Office, run: Run, call: Call, approval: str) -> str:
    """Make a leave out of an approval; returns its id."""
    now = office.now()
    grant = ids.new_id(now)
    tx.run(
        "agents.grants.add",
        id=grant,
        account=run.account,
        agent=run.agent,
        tool=call.tool,
        def_hash=call.def_hash,
        args=json.dumps(call.args, ensure_ascii=False),
        args_hash=call.args_hash,
        uses=USES,
        expires=now + DAYS * _DAY_MS,
        approval=approval,
        now=now,
    )
    audit.record(tx, now, run.account, "grant.made", run.id, grant, tool=call.tool)
    return grant


def use(tx: WriteTx, office: Office, run: Run, tool: str, args_hash: str, def_hash: str) -> str | None:
    """Use a fitting leave once; its id, or None when there is none."""
    where = {"account": run.account, "agent": run.agent, "tool": tool, "args_hash": args_hash, "def_hash": def_hash}
    grant: str | None = tx.value("agents.grants.find", now=office.now(), **where)
    if grant is None or not tx.run("agents.grants.use", id=grant, now=office.now()):
        return None
    audit.record(tx, office.now(), run.account, "grant.used", run.id, grant, tool=tool)
    return grant


def of_account(tx: ReadTx, account: int, now: int) -> list[Grant]:
    """The leaves of an account that still hold."""
    rows = tx.all("agents.grants.of_account", account=account, now=now)
    return [
        Grant(row["id"], row["agent"], row["tool"], json_object(row["args"]), row["uses_left"], row["expires"])
        for row in rows
    ]


def named(tx: ReadTx, account: int, now: int, name: str) -> Grant | None:
    """The leave of this id or code; None when there is none, or when a code fits several."""
    plain = name.strip("[] .").upper()
    found = [grant for grant in of_account(tx, account, now) if plain in (grant.code, grant.id.upper())]
    return found[0] if len(found) == 1 else None


def revoke(tx: WriteTx, now: int, account: int, grant: str, by: str = "", via: str = "") -> bool:
    """Take a leave back. False: there is none of that id in this account, or it is gone already."""
    if not tx.run("agents.grants.revoke", id=grant, account=account, now=now):
        return False
    audit.record(tx, now, account, "grant.revoked", None, grant, by=by, via=via)
    return True
