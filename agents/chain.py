"""Which model answers a run: the thread's or the agent's own, then those that stand in for it, in their order.

The rule: a model steps aside only for a failure that another model does not share, and never once an answer was taken
that may have an effect: what has begun to act is not continued by another mind.
"""

from typing import Final

from agents import audit, retry, store
from agents.llm import ModelError, ModelFault
from agents.office import Office
from agents.ports import ReadTx, WriteTx
from agents.profile import Profile
from agents.store import Run
from config.settings import DEMO_MODEL

AT_ONCE: Final = frozenset(
    {ModelFault.AUTH, ModelFault.QUOTA, ModelFault.GONE, ModelFault.RATE, ModelFault.TIMEOUT},
)


def tags(tx: ReadTx, office: Office, run: Run) -> tuple[str, ...]:
    """The tags of a run's models, the first choice first. A specialist has the stand-ins of the agent it works for."""
    root = run if run.root == run.id else store.get_run(tx, run.root)
    head = office.profile(root.agent)
    first = run.model or _own_tag(office, office.profile(run.agent, run.depth), head)
    others = head.fallbacks if head is not None else ()
    return (first, *(tag for tag in dict.fromkeys(others) if tag != first and tag in office.models))


def _own_tag(office: Office, *profiles: Profile | None) -> str:
    """The first that names a model: a run's own profile, the agent it works for, the first agent of the settings (for
    a specialist that is written to directly); the built-in model where none does.
    """
    candidates = (*profiles, next(iter(office.agents.values()), None))
    return next((one.model for one in candidates if one is not None and one.model), DEMO_MODEL)


def current(tx: ReadTx, office: Office, run: Run) -> str:
    """The tag of the model that a run asks now."""
    found = tags(tx, office, run)
    return found[min(run.fallback, len(found) - 1)]


def may_step(tx: ReadTx, office: Office, run: Run) -> bool:
    """Whether another model may take over here."""
    if run.fallback + 1 >= len(tags(tx, office, run)):
        return False
    return tx.value("agents.calls.may_have_acted", run=run.id) is None


def steps_aside(tx: ReadTx, office: Office, run: Run, error: ModelError, failed_before: int) -> bool:
    """Whether a model that failed so leaves the run to the next one. What passes by itself is tried again first."""
    patient = error.kind is ModelFault.TRANSIENT and failed_before + 1 >= len(retry.QUICK)
    return (error.kind in AT_ONCE or patient) and may_step(tx, office, run)


def step(tx: WriteTx, office: Office, run: Run, why: str) -> None:
    """The next model takes over, for the rest of the run."""
    found = tags(tx, office, run)
    tx.run("agents.runs.fall_back", run=run.id, now=office.now())
    names = {"leaves": found[run.fallback], "stands_in": found[run.fallback + 1]}
    audit.record(tx, office.now(), run.account, "model.fallback", run.id, None, why=why, **names)
    tx.after(lambda: office.bells.activity(run.id))
