"""Model calls as rows: reserved before, settled after, in the transaction that takes the reply.

The rule: no request leaves without its reservation committed, and no reservation is left behind by a call that
returned.
"""

import random
from dataclasses import dataclass, replace

from agents import audit, budget, chain, compact, ending, ids, journal, loop, proposals, retry, store, turn, view
from agents.budget import Reservation
from agents.context import Prepared
from agents.llm import Model, ModelError, ModelFault, ModelReply, WantedCall
from agents.office import Office
from agents.ports import WriteTx
from agents.profile import Profile
from agents.states import RunState
from agents.store import Run
from agents.wholetext import mended


@dataclass(frozen=True, slots=True)
class Reserved:
    """A model call that may be made now."""

    id: str
    run: Run
    seq: int
    amount: Reservation
    prepared: Prepared


def reserve(
    tx: WriteTx, office: Office, boot: str, due: turn.AskModel, model: Model, prepared: Prepared
) -> Reserved | None:
    """Reserve a call, if it is still due and fits the limits. None: the run has been taken care of otherwise, ask
    `advance` again. Files that the model is shown mark the run as text that it reads does.
    """
    run = store.get_run(tx, due.run.id)
    if run.boot != boot:
        return None
    seen = view.load(tx, office, run)
    if loop.decide(seen) != loop.CallModel(due.seq, due.attempt):
        return None
    now = office.now()
    limits = office.limits(run.agent)
    amount = budget.estimate(prepared.tokens, prepared.request.max_output, model.price, limits.unknown_price_eur)
    over = budget.over_model(seen.totals, seen.caps, amount.tokens, amount.cost_u)
    today = budget.day(now, office.zone)
    over = over or budget.over_day(tx, run, seen.caps, amount.cost_u, today)
    if over is not None:
        turn.pause(tx, office, run, over)
        return None
    call = ids.new_id(now)
    tx.run(
        "agents.models.reserve",
        id=call,
        run=run.id,
        seq=due.seq,
        attempt=due.attempt,
        day=today,
        model=model.label,
        endpoint=model.endpoint,
        reserved_u=amount.cost_u,
        reserved_t=amount.tokens,
        purpose="compact" if prepared.summary is not None else "answer",
        now=now,
    )
    budget.reserve(tx, run, amount, today)
    for source in prepared.foreign:
        journal.mark(tx, office, run.id, source)
    return Reserved(call, run, due.seq, amount, prepared)


def park(tx: WriteTx, office: Office, boot: str, run_id: str, until: int) -> None:
    """The provider wants a pause: wait as a row."""
    run = store.get_run(tx, run_id)
    if run.boot == boot and run.cancel_at is None:
        turn.park(tx, office, run, RunState.WAITING_TIME, until)


def take_reply(
    tx: WriteTx, office: Office, reserved: Reserved, model: Model, profile: Profile, reply: ModelReply
) -> None:
    """Settle the call and append what it said. Of a run that was stopped meanwhile only the bill is kept. An answer
    that was asked for without tools has no calls, whatever a model makes up.
    """
    run = store.get_run(tx, reserved.run.id)
    reply = _mended(reply)
    if run.depth and not reserved.prepared.request.tools:
        reply = replace(reply, calls=())
    unknown_price = office.limits(run.agent).unknown_price_eur
    cost, known = budget.cost_of(reply, model.price, reserved.amount, unknown_price)
    usage = reply.usage
    spent = {
        "tok_in": usage.tokens_in if usage else reserved.amount.tokens,
        "tok_out": usage.tokens_out if usage else 0,
        "cost_u": cost,
    }
    if not _settle(tx, office, reserved, "done", None, None, None, spent, known):
        return
    if run.ended is not None or run.cancel_at is not None or run.boot != reserved.run.boot:
        return
    if reserved.prepared.summary is None:
        proposals.take(tx, office, run, profile, reply)
    else:
        compact.keep(tx, office, run, reserved.prepared.summary, reply.text, model.label)


def _mended(reply: ModelReply) -> ModelReply:
    """The reply in characters that can be written down; the arguments of its calls are mended where they are read."""
    calls = tuple(WantedCall(mended(one.provider_id), mended(one.name), mended(one.raw_args)) for one in reply.calls)
    return replace(reply, text=mended(reply.text), calls=calls, finish=mended(reply.finish))


def take_error(tx: WriteTx, office: Office, reserved: Reserved, error: ModelError) -> int | None:
    """Settle a call that failed. Returns when it is tried again, or None."""
    run = store.get_run(tx, reserved.run.id)
    tries = [store.to_try(row) for row in tx.all("agents.models.tries", run=run.id, seq=reserved.seq)]
    failed = [one for one in tries if one.state == "failed" and one.model == tries[-1].model]
    again = retry.next_try(failed, error, office.now(), run.shrink, random.random())
    if error.kind is ModelFault.CONTEXT:
        tx.run("agents.runs.shrink", run=run.id)
    elif chain.steps_aside(tx, office, run, error, len(failed)):
        chain.step(tx, office, run, error.kind.value)
        again = office.now()
    spent = {"tok_in": 0, "tok_out": 0, "cost_u": 0}
    _settle(tx, office, reserved, "failed", error.kind.value, _told(error), again, spent, True)
    audit.record(tx, office.now(), run.account, "model.failed", run.id, reserved.id, kind=error.kind.value, again=again)
    return again


def step_aside(tx: WriteTx, office: Office, boot: str, run_id: str) -> bool:
    """A model has asked everybody for a pause: let the next one take over. False: there is none, or it may not."""
    run = store.get_run(tx, run_id)
    if run.boot != boot or run.cancel_at is not None or not chain.may_step(tx, office, run):
        return False
    chain.step(tx, office, run, ModelFault.RATE.value)
    return True


def lose(tx: WriteTx, office: Office, reserved: Reserved) -> None:
    """A call that was cut off: it counts as spent."""
    ending.lose(tx, office, store.get_run(tx, reserved.run.id), reserved.id)


def _settle(
    tx: WriteTx,
    office: Office,
    reserved: Reserved,
    state: str,
    fault: str | None,
    text: str | None,
    retry_at: int | None,
    spent: dict[str, int],
    known: bool,
) -> bool:
    row = tx.one("agents.models.get", id=reserved.id)
    where = {"state": state, "fault": fault, "text": text, "retry_at": retry_at}
    if row is None or not tx.run("agents.models.settle", id=reserved.id, now=office.now(), **where, **spent):
        return False
    tx.run("agents.runs.charge", run=reserved.run.id, n_model=1, n_tool=0, cost_unknown=int(not known), **spent)
    tokens = spent["tok_in"] + spent["tok_out"]
    budget.settle(tx, reserved.run, row["day"], row["reserved_u"], spent["cost_u"], tokens)
    return True


def _told(error: ModelError) -> str:
    """The failure in words for the user, with what to do."""
    heads = {
        ModelFault.AUTH: "the model provider refused the key",
        ModelFault.QUOTA: "the model provider says that the account's quota is used up",
        ModelFault.REFUSED: "the model provider refused the request",
        ModelFault.GONE: "the model provider does not know this model",
        ModelFault.CONTEXT: "the task is too long for this model, even shortened",
        ModelFault.RATE: "the model provider kept asking us to wait",
        ModelFault.TRANSIENT: "the model provider could not be reached or kept failing",
        ModelFault.TIMEOUT: "the model provider did not answer in time",
    }
    return f"{heads[error.kind]} ({error.text})." if error.text else f"{heads[error.kind]}."
