"""Workers: which queued run is carried next, and by whom.

The rule: a run is in at most one hand (its lease is a compare-and-set), hands are few and shared fairly, and nobody
holds one while a run waits. A fault in one run ends that run alone, by a mail.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Final

from agents.office import Office
from agents.ports import Database, ReadTx
from agents.runner import Runner
from agents.states import RunState

_log = logging.getLogger(__name__)
_LOOK: Final = 32
PATIENCE: Final = 30.0
_BROKEN: Final = "A fault of the program stopped it; the log has the details."


class Worker:
    """Carries at most `settings.limits.runs` runs at once, and `runs_per_agent` of one agent."""

    def __init__(self, office: Office, db: Database, runner: Runner) -> None:
        self._office = office
        self._db = db
        self._runner = runner
        self._hands: dict[str, asyncio.Task[None]] = {}
        self._agents: dict[str, str] = {}
        self._closing = False
        self._idle = asyncio.Event()
        self._idle.set()

    def look(self) -> None:
        """Take queued runs in hand while hands are free. Called after every commit that queues one; cheap when there
        is none.
        """
        if self._closing:
            return
        limits = self._office.settings.limits
        if len(self._hands) >= limits.runs:
            return
        for run, agent in self._db.read(_candidates):
            if run in self._hands:
                continue  # its worker is about to let go, and looks again then
            if len(self._hands) < limits.runs and self._busy(agent) < limits.runs_per_agent:
                self._take(run, agent)

    def _busy(self, agent: str) -> int:
        return sum(1 for name in self._agents.values() if name == agent)

    def _take(self, run: str, agent: str, first: Callable[[str], Coroutine[None, None, None]] | None = None) -> None:
        if self._closing or run in self._hands:
            return
        self._agents[run] = agent
        task = asyncio.create_task(first(run) if first else self._carry(run), name=f"run {run}")
        self._hands[run] = task
        self._idle.clear()
        task.add_done_callback(lambda done: self._let_go(run, agent, done))

    async def _carry(self, run: str) -> None:
        try:
            if await self._runner.claim(run):
                await self._runner.carry(run)
        except asyncio.CancelledError:
            # A claim that is cut off is committed all the same, so it counts as ours here too.
            if self._closing:
                raise
            await self._runner.abandon(run, RunState.CANCELLED, "")
        except Exception:
            # A fault in one run, of whatever kind, must end that run with a mail and leave the others alone.
            _log.exception("run %s met a fault of the program", run)
            await self._runner.abandon(run, RunState.FAILED, _BROKEN)

    def _let_go(self, run: str, agent: str, task: asyncio.Task[None]) -> None:
        del self._hands[run]
        del self._agents[run]
        if not self._hands:
            self._idle.set()
        if not task.cancelled() and task.exception() is not None:
            _log.error("run %s could not be brought to a row", run, exc_info=task.exception())
            asyncio.get_running_loop().call_later(PATIENCE, self._take, run, agent, self._runner.take_over)
        self.look()

    def stop_run(self, run: str) -> None:
        """A run was cancelled: end what it does right now."""
        if run in self._hands:
            self._hands[run].cancel()

    async def idle(self) -> None:
        """Wait until no run is in hand."""
        await self._idle.wait()

    async def close(self, grace: float) -> None:
        """Take nothing new; give what is in hand `grace` seconds, then leave it to the next start."""
        self._closing = True
        tasks = list(self._hands.values())
        if tasks:
            await asyncio.wait(tasks, timeout=grace)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


def _candidates(tx: ReadTx) -> list[tuple[str, str]]:
    return [(row["id"], row["agent"]) for row in tx.all("agents.runs.candidates", limit=_LOOK)]
