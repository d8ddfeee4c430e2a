"""The alarm on a real APScheduler, and the timer that sets it: nothing due is lost, whatever the clocks do."""

import asyncio
import logging
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

import pytest
from apscheduler.executors import base as executors
from apscheduler.schedulers import base as schedulers

from agents import alarm, timer, trigger
from agents.alarm import Alarm
from agents.letter import Kind
from agents.trigger import New
from tests.agents.kit import World, world

BOUND = 30.0
HOUR = 3600.0


class Rings:
    """Counts rings, and does something at each."""

    def __init__(self) -> None:
        self.count = 0
        self.then: Callable[[], None] = lambda: None
        self._changed = asyncio.Event()

    def ring(self) -> None:
        self.count += 1
        self._changed.set()
        self.then()

    async def reach(self, count: int) -> None:
        async with asyncio.timeout(BOUND):
            while self.count < count:
                self._changed.clear()
                await self._changed.wait()


@asynccontextmanager
async def opened() -> AsyncIterator[tuple[Alarm, Rings]]:
    rings = Rings()
    made = Alarm(rings.ring)
    await made.open()
    yield made, rings
    made.close()


class Wall:
    """The wall clock of the alarm and of APScheduler, which can be set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.off = timedelta()
        wall = self

        class Moved(datetime):
            @classmethod
            def now(cls, tz: tzinfo | None = None) -> Any:
                return datetime.now(tz) + wall.off

        monkeypatch.setattr(alarm, "datetime", Moved)
        monkeypatch.setattr(schedulers, "datetime", Moved)
        monkeypatch.setattr(executors, "datetime", Moved)


async def passed() -> None:
    """The loop has done what was waiting in it."""
    for _ in range(5):
        await asyncio.sleep(0)


# The alarm


async def test_it_rings_once_for_each_time_that_is_set() -> None:
    async with opened() as (made, rings):
        for count in (1, 2, 3):
            made.set(0.001)
            await rings.reach(count)
        await passed()
        assert rings.count == 3


@pytest.mark.parametrize("late", [5.0, HOUR, 5 * HOUR])
async def test_a_time_that_is_over_rings_at_once_however_late(monkeypatch: pytest.MonkeyPatch, late: float) -> None:
    """APScheduler's own default drops what is more than a second late."""
    wall = Wall(monkeypatch)
    async with opened() as (made, rings):
        made.set(HOUR / 2)
        await passed()
        wall.off += timedelta(seconds=HOUR / 2 + late)
        made._scheduler.wakeup()
        await rings.reach(1)
        assert made._scheduler.get_jobs() == []


async def test_a_new_time_takes_the_place_of_the_one_before() -> None:
    async with opened() as (made, rings):
        made.set(HOUR)
        made.set(0.0)
        await rings.reach(1)
        made.set(0.0)
        made.set(HOUR)
        await passed()
        assert len(made._scheduler.get_jobs()) == 1
        assert rings.count == 1


async def test_a_ring_that_sets_the_next_time_is_never_left_out_as_one_too_many() -> None:
    async with opened() as (made, rings):
        rings.then = lambda: made.set(0.0) if rings.count < 200 else None
        made.set(0.0)
        await rings.reach(200)
        await passed()
        assert rings.count == 200


async def test_a_ring_that_fails_does_not_silence_the_next(caplog: pytest.LogCaptureFixture) -> None:
    async with opened() as (made, rings):

        def fail() -> None:
            raise RuntimeError("no")

        rings.then = fail
        made.set(0.0)
        await rings.reach(1)
        made.set(0.0)
        await rings.reach(2)
    assert "raised an exception" in caplog.text


async def test_cleared_or_closed_it_does_not_ring() -> None:
    async with opened() as (made, rings):
        made.set(0.0)
        made.clear()
        made.clear()
        await passed()
        made.set(0.0)
    await passed()
    assert rings.count == 0


async def test_clearing_as_it_rings_is_no_error() -> None:
    """APScheduler has taken the job out by then, and its run has not begun."""
    async with opened() as (made, rings):
        made.set(0.0)
        made._scheduler._process_jobs()
        made.clear()
        await rings.reach(1)
        await passed()
        assert rings.count == 1


async def test_a_wall_clock_set_back_does_not_make_it_ring_early(monkeypatch: pytest.MonkeyPatch) -> None:
    wall = Wall(monkeypatch)
    async with opened() as (made, rings):
        made.set(60.0)
        await passed()
        wall.off -= timedelta(hours=1)
        made._scheduler.wakeup()
        await passed()
        assert rings.count == 0
        made.set(0.0)
        await rings.reach(1)


def test_a_loop_that_ends_around_it_is_no_error(caplog: pytest.LogCaptureFixture) -> None:
    async def leave() -> None:
        made = Alarm(lambda: None)
        await made.open()
        made.set(HOUR)

    with caplog.at_level(logging.WARNING):
        asyncio.run(leave())
    assert caplog.text == ""


def test_the_runtime_is_imported_without_the_library() -> None:
    code = "import sys, agents.runtime; print([m for m in sys.modules if m.startswith('apscheduler')])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=BOUND)
    assert found.stdout.strip() == "[]"


# The timer


async def remind(w: World, seconds: float) -> None:
    """A reminder that is due in so many seconds by the world's clock."""
    when = datetime.fromtimestamp(w.clock.now() / 1000 + seconds, UTC).strftime("%Y-%m-%dT%H:%M")
    new = New(1, "assistant", "thread-1", "remind", when, "UTC", "Tea", "tea", f"key-{when}")
    await w.db.write(lambda tx: trigger.create(tx, w.clock.now(), new))
    w.runtime._timer.arm()


def opens(w: World) -> "asyncio.Task[None]":
    task = w.runtime._timer._opening
    assert task is not None
    return task


async def test_nothing_pending_needs_no_alarm_and_no_look(tmp_path: Path) -> None:
    async with world(tmp_path, []) as w:
        assert w.runtime._timer._opening is None
        assert w.runtime._timer._watch is None


async def test_what_is_due_is_done_when_the_alarm_rings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The alarm is set for the row's minute; then that minute comes, for it and for the program."""
    wall = Wall(monkeypatch)
    async with world(tmp_path, []) as w:
        await remind(w, 20 * 60)
        await opens(w)
        w.clock.advance(seconds=20 * 60)
        wall.off += timedelta(minutes=20)
        w.runtime._timer._alarm._scheduler.wakeup()
        await w.until(lambda: w.mails(Kind.REMINDER))
        assert w.runtime._timer._watch is None  # nothing is pending any more


@pytest.mark.parametrize("hours", [3, -3])
async def test_a_clock_that_jumped_is_noticed_by_the_look(tmp_path: Path, hours: int) -> None:
    async with world(tmp_path, []) as w:
        await remind(w, 2 * HOUR)
        await opens(w)
        w.clock.advance(hours=hours)
        w.runtime._timer._look()
        task = w.runtime._timer._task
        assert task is not None
        await task
        assert len(w.mails(Kind.REMINDER)) == (hours > 0)
        assert w.runtime._timer._watch is not None or hours > 0


async def test_without_an_alarm_the_look_finds_what_is_due(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(self: Alarm) -> None:
        raise ImportError("not installed")

    monkeypatch.setattr(Alarm, "open", refuse)
    monkeypatch.setattr(timer, "LONGEST", 0.01)
    async with world(tmp_path, []) as w:
        await remind(w, 60)
        w.clock.advance(seconds=120)
        [mail] = await w.until(lambda: w.mails(Kind.REMINDER))
        assert not w.runtime._timer._alarm.is_open
        assert mail.kind is Kind.REMINDER


async def test_a_look_that_fails_is_not_the_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, []) as w:
        await remind(w, 60)
        await opens(w)
        told = timer.next_moment

        def fail(tx: Any) -> int | None:
            raise OSError("the disk")

        monkeypatch.setattr(timer, "next_moment", fail)
        with pytest.raises(OSError, match="the disk"):
            w.runtime._timer._look()
        monkeypatch.setattr(timer, "next_moment", told)
        assert w.runtime._timer._watch is not None
        w.clock.advance(seconds=120)
        w.runtime._timer._look()
        await w.until(lambda: w.mails(Kind.REMINDER))


async def test_a_stop_lets_what_is_being_fired_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """APScheduler cancels the jobs that run when it is shut down; what is due is not done inside of one."""
    async with world(tmp_path, []) as w:
        await remind(w, 60)
        await opens(w)
        w.clock.advance(seconds=120)
        rung = asyncio.Event()

        def ring() -> None:
            w.runtime._timer.fire()
            rung.set()

        monkeypatch.setattr(w.runtime._timer._alarm, "_ring", ring)
        w.runtime._timer._alarm.set(0.0)
        await asyncio.wait_for(rung.wait(), BOUND)
        await w.runtime._timer.close()
        assert len(w.mails(Kind.REMINDER)) == 1


async def test_two_looks_at_once_count_a_failed_try_once(tmp_path: Path) -> None:
    async with world(tmp_path, []) as w:
        new = New(1, "nobody", "thread-1", "run", "0 9 * * *", "UTC", "Summary", "list my mail", "key-1")
        item = await w.db.write(lambda tx: trigger.create(tx, w.clock.now(), new))
        w.clock.advance(hours=24)
        await asyncio.gather(*(w.runtime.tick() for _ in range(5)))
        assert w.rows("SELECT attempts FROM triggers WHERE id = ?", item.id) == [{"attempts": 1}]
        assert w.mails(Kind.FAILURE) == []
