"""Again and again from a first time on: "every month from 2026-01-31T09:00".

The rule: the first time's hour, weekday or day of the month is kept; a month too short for the day has it on its last.
"""

import calendar
import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from agents.rule import DAYS, MINUTE, SpecFault, ordinal, to_key

KIND: Final = "recurring"
EVERY: Final = ("hour", "day", "weekday", "week", "month")
_FORM: Final = re.compile(r"every (hour|day|weekday|week|month) from (\d{4}-\d{2}-\d{2}T\d{2}:\d{2})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Recurring:
    """Fires at `start` (for "weekday": on the first weekday from it on), and then every hour, day, ..."""

    every: str
    start: datetime

    @property
    def spec(self) -> str:
        return f"every {self.every} from {to_key(self.start)}"

    def after(self, wall: datetime) -> datetime | None:
        wall = max(wall, self.start - MINUTE)
        if self.every == "hour":
            here = wall.replace(minute=self.start.minute)
            return here if here > wall else here + timedelta(hours=1)
        if self.every == "month":
            here = self._in_month(wall.year, wall.month)
            return here if here > wall else self._in_month(wall.year + wall.month // 12, wall.month % 12 + 1)
        here = wall.replace(hour=self.start.hour, minute=self.start.minute)
        while here <= wall or not self._on(here):
            here += timedelta(days=1)
        return here

    def _in_month(self, year: int, month: int) -> datetime:
        day = min(self.start.day, calendar.monthrange(year, month)[1])
        return datetime.combine(date(year, month, day), self.start.time())

    def _on(self, day: datetime) -> bool:
        if self.every == "weekday":
            return day.weekday() < 5
        return self.every == "day" or day.weekday() == self.start.weekday()

    def words(self) -> str:
        time = f"{self.start:%H:%M}"
        return {
            "hour": f"every hour at :{self.start:%M}",
            "day": f"every day, {time}",
            "weekday": f"Monday to Friday, {time}",
            "week": f"every {DAYS[self.start.weekday()]}, {time}",
            "month": f"{monthly(self.start.day)}, {time}",
        }[self.every]


def monthly(day: int) -> str:
    """A day of the month in words; days that not every month has stand for its last one."""
    return "the last day of each month" if day == 31 else f"the {ordinal(day)} of each month"


def read(text: str) -> Recurring | None:
    found = _FORM.fullmatch(" ".join(text.split()))
    if found is None:
        return None
    try:
        return Recurring(found[1].lower(), datetime.fromisoformat(found[2]))
    except ValueError:
        raise SpecFault(f'"{found[2]}" is no date and time like 2026-03-31T09:00') from None
