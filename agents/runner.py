"""Performs one run's effects, one after the other: asks the model, uses tools.

The rule: before an effect its rows are committed, after it its outcome is; between the two the effect runs in a task
of its own, and whatever ends it (a result, a failure, a time limit, a cancel) has one place where it is written down.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

from agents import context, ending, modelcalls, parts, recovery, retry, store, turn
from agents.effects import Outcome, watch
from agents.llm import Model, ModelError, ModelFault, ModelReply, Prepares
from agents.modelcalls import Reserved
from agents.office import Office
from agents.ports import Database, Probe, WriteTx
from agents.profile import Profile
from agents.progress import PROGRESS_SECONDS, Telling
from agents.states import RunState
from agents.throttle import Throttle
from agents.tool import Risk, ToolAsks, ToolFailed, ToolResult, ToolUncertain
from agents.turn import AskModel, Effect, UseTools, Work


class Runner:
    """Carries runs forward; keeps nothing of a run between two calls."""

    def __init__(
        self,
        office: Office,
        db: Database,
        boot: str,
        throttle: Throttle,
        probe: Probe | None,
        progress_seconds: float = PROGRESS_SECONDS,
    ) -> None:
        self._seconds = progress_seconds
        self._office = office
        self._db = db
        self._boot = boot
        self._throttle = throttle
        self._probe = probe

    async def claim(self, run: str) -> bool:
        """Lease a queued run to this start of the program."""
        measured = {"now": self._office.now(), "steady": self._office.steady()}
        return bool(await self._db.write(lambda tx: tx.run("agents.runs.claim", run=run, boot=self._boot, **measured)))

    async def carry(self, run: str) -> None:
        """Carry a leased run forward until it waits or ends."""
        effect = await self._advance(run)
        while effect is not None:
            if isinstance(effect, AskModel):
                effect = await self._ask(effect)
            else:
                effect = await self._use(effect)

    async def _advance(self, run: str) -> Effect | None:
        return await self._db.write(lambda tx: turn.advance(tx, self._office, self._boot, run))

    async def _keep(self, run: str, settle: Callable[[WriteTx], None]) -> Effect | None:
        """Write down what came of an effect, and what follows from it, in one commit: each costs a sync of the disk.

        What came of it is not lost where what follows meets a fault of the program. Returns what is next.
        """
        followed = False

        def both(tx: WriteTx) -> Effect | None:
            nonlocal followed
            settle(tx)
            effect = turn.advance(tx, self._office, self._boot, run)
            followed = True
            return effect

        try:
            return await self._db.write(both)
        finally:
            if not followed:
                await self._db.write(settle)

    async def take_over(self, run: str) -> None:
        """Put a run of ours back into the queue, after a fault that could not even be written down."""

        def change(tx: WriteTx) -> None:
            if (found := store.find_run(tx, run)) is not None:
                recovery.take_over(tx, self._office, found)

        await self._db.write(change)

    async def abandon(self, run: str, state: RunState, text: str) -> None:
        """End a run whose worker was stopped, or that met a fault of the program. A deleted run has ended."""

        def change(tx: WriteTx) -> None:
            if (found := store.find_run(tx, run)) is not None:
                ending.finish(tx, self._office, found, state, text)

        await self._db.write(change)

    def _point(self, name: str) -> None:
        if self._probe is not None:
            self._probe.point(name)

    async def _ask(self, due: AskModel) -> Effect | None:
        """Ask the model, unless something is in the way. Returns what is next."""
        profile, tag = self._office.profile(due.run.agent, due.run.depth), due.tag
        model = self._office.models.get(tag)
        if profile is None or model is None:
            what = (
                f'There is no model "{tag}" in the settings.'
                if profile
                else f'There is no agent "{due.run.agent}" any more.'
            )
            await self.abandon(due.run.id, RunState.FAILED, what)
            return await self._advance(due.run.id)
        now = self._office.now()
        if (until := self._throttle.admit(model.label, now)) is not None:
            run, boot = due.run.id, self._boot
            if not await self._db.write(lambda tx: modelcalls.step_aside(tx, self._office, boot, run)):
                await self._db.write(lambda tx: modelcalls.park(tx, self._office, boot, run, until))
            return await self._advance(run)
        if isinstance(model, Prepares):
            await model.prepare()
        built = await self._db.read_slow(lambda tx: context.build(tx, self._office, due.run, profile, model, tag))
        prepared = await parts.attach(self._db, self._office, due.run, model, built)
        reserved = await self._db.write(
            lambda tx: modelcalls.reserve(tx, self._office, self._boot, due, model, prepared)
        )
        if reserved is None:
            return await self._advance(due.run.id)
        return await self._call(reserved, model, profile)

    async def _call(self, reserved: Reserved, model: Model, profile: Profile) -> Effect | None:
        """One request to a model, and what came of it."""
        telling = Telling(self._db, self._office, reserved.run.id, self._seconds)

        def heard(characters: int) -> None:
            telling.hear(lambda tx: tx.run("agents.models.progress", id=reserved.id, progress=f"{characters:,}"))

        request = replace(reserved.prepared.request, progress=heard)
        self._point("model.before")
        outcome = await watch(model.complete(request), self._office.limits(reserved.run.agent).model_seconds)
        self._point("model.after")
        await telling.end()
        return await self._take(reserved, model, profile, outcome)

    async def _take(self, reserved: Reserved, model: Model, profile: Profile, outcome: Outcome) -> Effect | None:
        if isinstance(outcome.value, ModelReply):
            reply = outcome.value
            self._throttle.passed(model.label)
            settle = partial(
                modelcalls.take_reply, office=self._office, reserved=reserved, model=model, profile=profile, reply=reply
            )
            return await self._keep(reserved.run.id, settle)
        error = outcome.error
        if outcome.timed_out:
            error = ModelError(ModelFault.TIMEOUT, "")
        if not isinstance(error, ModelError):
            await self._db.write(lambda tx: modelcalls.lose(tx, self._office, reserved))
            raise error or RuntimeError(f"{model.label} gave {type(outcome.value).__name__}, not a reply")
        fault = error
        again = await self._db.write(lambda tx: modelcalls.take_error(tx, self._office, reserved, fault))
        if fault.kind is ModelFault.RATE:
            # A run that goes on with another model does so at once; this one is left alone as long as it asked.
            now = self._office.now()
            self._throttle.limited(model.label, now, max(again or now, now + (retry.asked(fault) or 0)))
        return await self._advance(reserved.run.id)

    async def _use(self, effect: UseTools) -> Effect | None:
        """Run calls, and write down what came of each as soon as it is there. Returns what is next."""
        run = effect.run.id
        if len(effect.work) == 1:
            settle = await self._do(effect.work[0])
            return await self._keep(run, settle)
        results: list[Awaitable[None]] = [self._do_and_settle(work) for work in effect.work]
        await asyncio.gather(*results)
        return await self._advance(run)

    async def _do_and_settle(self, work: Work) -> None:
        await self._db.write(await self._do(work))

    async def _do(self, work: Work) -> Callable[[WriteTx], None]:
        """One call: act, and say how to write down what came of it."""
        telling = Telling(self._db, self._office, work.call.run, self._seconds)

        def heard(said: str) -> None:
            telling.hear(lambda tx: tx.run("agents.calls.progress", call=work.call.id, progress=said))

        self._point(f"tool.{work.call.tool}.before")
        outcome = await watch(work.tool.run(work.wanted, replace(work.context, progress=heard)), work.timeout)
        self._point(f"tool.{work.call.tool}.after")
        await telling.end()
        return partial(_settle, office=self._office, work=work, outcome=outcome)


def _settle(tx: WriteTx, office: Office, work: Work, outcome: Outcome) -> None:
    """Write down what came of a call."""
    call = work.call.id
    if isinstance(outcome.value, ToolResult):
        turn.complete(tx, office, call, outcome.value)
    elif isinstance(outcome.error, ToolAsks):
        turn.park_call(tx, office, call, outcome.error)
    elif isinstance(outcome.error, ToolFailed):
        turn.fail(tx, office, call, outcome.error)
    elif _harmless(work):
        turn.fail(tx, office, call, ToolFailed(f"Not done: {_why(work, outcome)}"))
    else:
        turn.doubt(tx, office, call, _why(work, outcome))


def _harmless(work: Work) -> bool:
    return work.call.risk is Risk.READ


def _why(work: Work, outcome: Outcome) -> str:
    """Why a call gave no result; the text of an unforeseen exception is nobody's business, its kind is."""
    if outcome.timed_out:
        return f"{work.call.tool} gave no answer within {work.timeout:g} seconds."
    if isinstance(outcome.error, ToolUncertain):
        return outcome.error.text
    return f"{work.call.tool} failed ({type(outcome.error).__name__})."
