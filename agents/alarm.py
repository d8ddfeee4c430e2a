"""One time to ring at, kept by APScheduler.

The rule: it knows one moment and nothing of what is due then; what is due are rows, and losing the alarm loses nothing
that a look at them does not find. APScheduler (40 ms and 4 MB) is imported in a thread when a first time is set.
"""

import asyncio
import importlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

_JOB: Final = "next"
_SAME: Final = timedelta(milliseconds=5)
"""Two readings of one moment may differ by this; it is not set anew for so little."""
_OVERLAP: Final = 1000
"""A job that is set again while its last run is being told of must not be left out as one too many; it only rings."""


class Alarm:
    """Calls `ring` in the loop at the time that was set last, once, however late it is by then."""

    def __init__(self, ring: Callable[[], None]) -> None:
        self._ring = ring
        self._scheduler: Any = None
        self._date: Any = None
        self._at: datetime | None = None

    @property
    def is_open(self) -> bool:
        return self._scheduler is not None

    async def open(self) -> None:
        """Import APScheduler and start it in this loop. Raises ImportError."""
        library: Any = await asyncio.to_thread(importlib.import_module, "apscheduler.schedulers.asyncio")
        dates: Any = await asyncio.to_thread(importlib.import_module, "apscheduler.triggers.date")
        defaults = {"misfire_grace_time": None, "coalesce": True, "max_instances": _OVERLAP}
        made = library.AsyncIOScheduler(timezone=UTC, job_defaults=defaults)
        made.start()
        self._scheduler, self._date = made, dates.DateTrigger

    def set(self, seconds: float) -> None:
        """Ring in so many seconds, and not at the time set before."""
        at = datetime.now(UTC) + timedelta(seconds=max(0.0, seconds))
        if self._at is None or abs(at - self._at) > _SAME:
            self._at = at
            self._scheduler.add_job(self._rung, self._date(at, UTC), id=_JOB, replace_existing=True)

    def clear(self) -> None:
        """Do not ring."""
        if self._at is not None:
            self._at = None
            self._scheduler.remove_all_jobs()  # by its name it may be gone already: it is taken out before it rings

    def close(self) -> None:
        """Never ring again."""
        if self._scheduler is not None:
            self.clear()
            self._scheduler.shutdown(wait=False)
            self._scheduler = None

    async def _rung(self) -> None:
        """A coroutine, since APScheduler runs plain functions in a thread; it is over before it could be cancelled."""
        self._at = None
        self._ring()
