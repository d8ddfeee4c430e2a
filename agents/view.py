"""A run's View, read from its rows in one snapshot.

The rule: nothing here decides; it only counts and reads.
"""

from agents import budget, requests, store
from agents.loop import View
from agents.office import Office
from agents.ports import ReadTx
from agents.states import StepKind
from agents.store import Run, Step

_LOOK_BACK = 8


def load(tx: ReadTx, office: Office, run: Run) -> View:
    """What `loop.decide` needs to know."""
    now = office.now()
    recent = [store.to_step(row) for row in tx.all("agents.steps.last", run=run.id, limit=_LOOK_BACK)]
    last = recent[0] if recent else None
    seq = last.seq + 1 if last else 0
    wants = last is not None and last.kind is StepKind.MODEL and bool(last.body.get("calls"))
    calls = store.calls_of_step(tx, run.id, last.seq) if last and wants else ()
    root = run if run.root == run.id else store.get_run(tx, run.root)
    bad = {row["fault"]: row["n"] for row in tx.all("agents.calls.bad_since_good", run=run.id)}
    return View(
        state=run.state,
        cancelled=run.cancel_why if run.cancel_at is not None else None,
        overdue=run.deadline <= now,
        now=now,
        seq=seq,
        last=last.kind if last else None,
        text=last.body.get("text", "") if last else "",
        wants_calls=wants,
        calls=calls,
        tries=tuple(store.to_try(row) for row in tx.all("agents.models.tries", run=run.id, seq=seq)),
        letters=tx.value("agents.letters.count_pending", run=run.id),
        empties=_empties(recent),
        unknown_tools=bad.get("unknown_tool", 0),
        bad_args=bad.get("bad_args", 0),
        repeats=max((call.repeats for call in _last_calls(tx, run, recent)), default=0),
        totals=budget.totals(tx, run.root, office.steady()),
        caps=budget.caps(office, run, root.raised),
        unasked=tuple(row["id"] for row in tx.all("agents.calls.unasked", run=run.id)) if wants else (),
        room=requests.room(tx, office, run) > 0,
    )


def _empties(recent: list[Step]) -> int:
    count = 0
    for step in recent:
        if step.kind is not StepKind.NOTE:
            break
        count += 1
    return count


def _last_calls(tx: ReadTx, run: Run, recent: list[Step]) -> tuple[store.Call, ...]:
    """The calls whose results were just collected."""
    if not recent or recent[0].kind is not StepKind.RESULTS:
        return ()
    return store.calls_of_step(tx, run.id, recent[0].seq - 1)
