"""The clock: an alarm at the next moment that any row names.

The rule: nothing polls. The alarm is set to the earliest moment and set again after a commit that may have moved it.
While anything is pending the clock itself is looked at every half minute, because a suspended machine stops the loop's
clock, and a wall clock may be set: when it does not go with the other one, everything is looked at anew.
"""

import asyncio
import logging
import time
from typing import Final

from agents import ending, requests, store, trigger_fire
from agents.alarm import Alarm
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
        self._alarm = Alarm(self.fire)
        self._opening: asyncio.Task[None] | None = None
        self._watch: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None
        self._one = asyncio.Lock()
        self._closed = False
        self._before = (office.now(), time.monotonic())

    def arm(self) -> None:
        """Set the alarm to the next moment that matters."""
        if self._closed:
            return
        at = self._db.read(next_moment)
        if at is None:
            self._alarm.clear()
            self._watch_in(None)
            return
        if self._alarm.is_open:
            self._alarm.set((at - self._office.now()) / 1000)
        elif self._opening is None or self._opening.done():
            self._opening = asyncio.create_task(self._open(), name="alarm")
        if self._watch is None:
            self._watch_in(LONGEST)

    async def _open(self) -> None:
        """Make the alarm ready. Until it is, and should it never be, the half minute's look finds what is due."""
        try:
            await self._alarm.open()
        except ImportError:
            _log.exception("there is no alarm")
        else:
            self.arm()

    def _watch_in(self, seconds: float | None) -> None:
        if self._watch is not None:
            self._watch.cancel()
        self._watch = None if seconds is None else asyncio.get_running_loop().call_later(seconds, self._look)

    def _look(self) -> None:
        """The half minute's look: the alarm goes by the wall clock, and that one may have been set."""
        self._watch_in(LONGEST)  # first, so that a fault of this look is not the last one
        at = self._db.read(next_moment)
        if abs(self._off()) > JUMP_MS or (at is not None and at <= self._office.now()):
            self.fire()
        else:
            self._before = (self._office.now(), time.monotonic())
            self.arm()

    def fire(self) -> None:
        """Look at what is due now."""
        if not self._closed and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self.tick(), name="timer")
            self._task.add_done_callback(self._look_again)

    def _look_again(self, task: asyncio.Task[None]) -> None:
        """After a fault (a full disk, say) the clock is looked at again half a minute later."""
        if not task.cancelled() and task.exception() is not None and not self._closed:
            _log.error("what was due could not be done", exc_info=task.exception())
            self._watch_in(LONGEST)

    async def tick(self) -> None:
        """Do everything that is due, then set the alarm again. One at a time: two would count one failed try twice."""
        async with self._one:
            await self._do_due()
        self.arm()

    async def _do_due(self) -> None:
        off, self._before = self._off(), (self._office.now(), time.monotonic())
        if abs(off) > JUMP_MS:
            _log.info("the clock was set, or the machine slept", extra={"milliseconds": off})
            await self._db.write(lambda tx: trigger_fire.realign(tx, self._office))
        await self._db.write(lambda tx: due(tx, self._office))
        await trigger_fire.fire_due(self._db, self._office)

    def _off(self) -> int:
        """By how many milliseconds the wall clock left the loop's since the last look."""
        wall, steady = self._before
        return self._office.now() - wall - int((time.monotonic() - steady) * 1000)

    async def close(self) -> None:
        self._closed = True
        self._watch_in(None)
        left = {task for task in (self._task, self._opening) if task is not None and not task.done()}
        if left:
            await asyncio.wait(left)
        self._alarm.close()


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
