"""The clock: one timer for the next moment that any row names.

The rule: nothing polls. The timer is set to the earliest moment and set again after a commit that may have moved it;
it looks at the wall clock at least every half minute while anything is pending, because a suspended machine stops the
loop's clock. A wall clock that does not go with the other one was set, or the machine slept: then schedules are looked
at anew.
"""

import asyncio
import logging
import time
from typing import Final

from agents import ending, requests, store, trigger_fire
from agents.office import Office
from agents.ports import Database, ReadTx, WriteTx
from agents.states import RunState

_log = logging.getLogger(__name__)
LONGEST: Final = 30.0
JUMP_MS: Final = 5_000


class Timer:
    """Does what is due when it is due."""

    def __init__(self, office: Office, db: Database) -> None:
        self._office = office
        self._db = db
        self._handle: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        self._before = (office.now(), time.monotonic())

    def arm(self) -> None:
        """Set the timer to the next moment that matters."""
        if self._closed:
            return
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
        at = self._db.read(next_moment)
        if at is not None:
            delay = min(max(0.0, (at - self._office.now()) / 1000), LONGEST)
            self._handle = asyncio.get_running_loop().call_later(delay, self.fire)

    def fire(self) -> None:
        """Look at the clock now."""
        if not self._closed and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self.tick(), name="timer")
            self._task.add_done_callback(self._look_again)

    def _look_again(self, task: asyncio.Task[None]) -> None:
        """After a fault (a full disk, say) the clock is looked at again half a minute later."""
        if not task.cancelled() and task.exception() is not None and not self._closed:
            _log.error("what was due could not be done", exc_info=task.exception())
            self._handle = asyncio.get_running_loop().call_later(LONGEST, self.fire)

    async def tick(self) -> None:
        """Do everything that is due, then set the timer again."""
        if jumped := self._jumped():
            _log.info("the clock was set, or the machine slept", extra={"milliseconds": jumped})
            await self._db.write(lambda tx: trigger_fire.realign(tx, self._office))
        await self._db.write(lambda tx: due(tx, self._office))
        await trigger_fire.fire_due(self._db, self._office)
        self.arm()

    def _jumped(self) -> int:
        """By how many milliseconds the wall clock left the loop's since the last look; 0 for a trifle."""
        wall, steady = self._before
        self._before = (self._office.now(), time.monotonic())
        off = self._before[0] - wall - int((self._before[1] - steady) * 1000)
        return off if abs(off) > JUMP_MS else 0

    async def close(self) -> None:
        self._closed = True
        if self._handle is not None:
            self._handle.cancel()
        if self._task is not None and not self._task.done():
            await asyncio.wait({self._task})


def next_moment(tx: ReadTx) -> int | None:
    """The earliest time that a row names, UTC ms."""
    names = (
        "agents.runs.next_wake",
        "agents.requests.next_time",
        "agents.outbox.next_time",
        "agents.triggers.next_time",
    )
    return min((at for name in names if (at := tx.value(name)) is not None), default=None)


def due(tx: WriteTx, office: Office) -> None:
    """Wake runs whose time has come, expire and repeat requests, end runs that are too old."""
    now = office.now()
    for row in tx.all("agents.requests.due", now=now):
        requests.expire(tx, office, store.to_request(row))
    for row in tx.all("agents.requests.to_remind", now=now):
        requests.remind(tx, office, store.to_request(row))
    for row in tx.all("agents.runs.overdue", now=now):
        ending.finish(
            tx,
            office,
            store.get_run(tx, row["id"]),
            RunState.EXPIRED,
            "It was not finished in time, and nothing is done any more.",
        )
    for row in tx.all("agents.runs.due", now=now):
        requests.requeue(tx, office, row["id"])
    tx.after(office.bells.mail)
