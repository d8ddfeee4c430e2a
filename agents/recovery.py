"""What a start finds of the start before it, and what it does about it: the crash matrix.

The rule: the folder's lock proves that the old owner is dead, so its leases are void at once. What cannot have an
effect is done again; what may have had one is asked about. Nothing is ended here that was not stopped before.
"""

from typing import Final

from agents import approvals, audit, ending, sender, store
from agents.office import Office
from agents.ports import WriteTx
from agents.states import CallState, OutboxState, PlanKind, RunState
from agents.store import Call, Run
from agents.tool import Risk

MAX_TRIES: Final = 2
_WHY: Final = "Postroom was stopped while this was under way."


def recover(tx: WriteTx, office: Office, boot: str) -> None:
    """Register this start and take over everything an earlier one held."""
    tx.run("agents.boots.add", boot=boot, now=office.now())
    for row in tx.all("agents.runs.orphans", boot=boot):
        take_over(tx, office, store.get_run(tx, row["id"]))
    for row in tx.all("agents.outbox.unfinished"):
        if row["state"] == OutboxState.SENDING:
            sender.phase(
                tx,
                office,
                row["key"],
                OutboxState.SENDING,
                OutboxState.QUEUED,
                "interrupted before the mail was handed over",
            )
        else:
            sender.uncertain(tx, office, row, "Postroom was stopped while the mail was being handed over.")


def take_over(tx: WriteTx, office: Office, run: Run) -> None:
    """Put a run back into the queue whose worker is gone, with everything it had in hand looked at."""
    for row in tx.all("agents.models.open_of_run", run=run.id):
        ending.lose(tx, office, run, row["id"])
    if run.cancel_at is not None:
        ending.finish(tx, office, run, RunState.CANCELLED, run.cancel_why)
        return
    for call in store.open_calls(tx, run.id):
        if call.state is CallState.STARTED and call.plan is PlanKind.ACT:
            _take_over_call(tx, office, run, call)
    tx.run("agents.runs.recover", run=run.id, now=office.now())
    audit.record(tx, office.now(), run.account, "run.recovered", run.id)


def _take_over_call(tx: WriteTx, office: Office, run: Run, call: Call) -> None:
    tool = office.toolbox.all()[0].get(call.tool)
    repeatable = call.risk is Risk.READ or (tool is not None and tool.idempotent)
    if repeatable and call.attempt < MAX_TRIES:
        tx.run("agents.calls.again", call=call.id)
    else:
        approvals.doubt(tx, office, run, [call], _WHY)
