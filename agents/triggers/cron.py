"""Cron text, as POSIX has it (crontab, "The five fields"): "0 8 * * 1-5", with names, steps and @daily.

The rule: when both days are restricted, either suffices; 0 and 7 are Sunday; what other crons add (L, W, #, ?, a sixth
field) is refused, never guessed at, and so is a time that never comes.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Final

from agents.rule import DAYS, MINUTE, SpecFault, listed, ordinal

KIND: Final = "cron"
_SHORT: Final[Mapping[str, str]] = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_FIELDS: Final = (
    ("minute", 0, 59, ()),
    ("hour", 0, 23, ()),
    ("day of the month", 1, 31, ()),
    ("month", 1, 12, MONTHS),
    ("day of the week", 0, 7, WEEKDAYS),
)
_PART: Final = re.compile(r"(\*|\w+)(?:-(\w+))?(?:/(\d+))?")
_LOOKS: Final = re.compile(r"@\w+|[\d*][\d*,/\-]*\s+[\d*][\d*,/\-]*(?:\s+[\w*,/\-#?]+){2,5}")
_FIRST: Final = datetime.combine(date(2000, 1, 1), time())
_YEARS: Final = 9
"""From one 29 February to the next there are at most eight years."""


@dataclass(frozen=True, slots=True)
class Cron:
    """A parsed line. `weekdays` count from Sunday = 0; `any_day` and `any_weekday` are fields that begin with "*"."""

    spec: str
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    any_day: bool
    any_weekday: bool

    def after(self, wall: datetime) -> datetime | None:
        start = wall + MINUTE
        day = start.date()
        if (found := self._time(day, start)) is not None:
            return found
        while day.year <= wall.year + _YEARS:
            day = self._next_day(day)
            if (found := self._time(day, None)) is not None:
                return found
        return None

    def _next_day(self, day: date) -> date:
        if day.month not in self.months:
            return date(day.year + day.month // 12, day.month % 12 + 1, 1)
        return day + timedelta(days=1)

    def _time(self, day: date, start: datetime | None) -> datetime | None:
        """The first time of a day, from `start` on."""
        if not self._on(day):
            return None
        least = (start.hour, start.minute) if start is not None else (0, 0)
        for hour in self.hours:
            if hour >= least[0]:
                for minute in self.minutes:
                    if (hour, minute) >= least:
                        return datetime.combine(day, time(hour, minute))
        return None

    def _on(self, day: date) -> bool:
        if day.month not in self.months:
            return False
        of_month, of_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return of_month and of_week if self.any_day or self.any_weekday else of_month or of_week

    def words(self) -> str:
        """In plain words where those are short and exact, else the cron text itself."""
        days, times = self._day_words(), self._time_words()
        if days == "every day" and times.startswith("every"):
            return times
        return f"{days}, {times}" if days and times else f'cron "{self.spec}"'

    def _day_words(self) -> str:
        if len(self.months) < 12 or not (self.any_day or self.any_weekday):
            return ""
        if len(self.days) < 31:
            few = sorted(self.days)
            return f"the {listed([ordinal(day) for day in few])} of each month" if len(few) < 4 else ""
        if len(self.weekdays) == 7:
            return "every day"
        if self.weekdays == frozenset(range(1, 6)):
            return "Monday to Friday"
        return "every " + listed([name for number, name in enumerate(DAYS, 1) if number % 7 in self.weekdays])

    def _time_words(self) -> str:
        if len(self.hours) == 24 and len(self.minutes) == 1:
            return f"every hour at :{self.minutes[0]:02}"
        step = self.minutes[1] - self.minutes[0] if len(self.minutes) > 1 else 0
        if len(self.hours) == 24 and step and self.minutes == tuple(range(0, 60, step)) and 60 % step == 0:
            return "every minute" if step == 1 else f"every {step} minutes"
        if len(self.hours) * len(self.minutes) > 4:
            return ""
        return listed([f"{hour:02}:{minute:02}" for hour in self.hours for minute in self.minutes])


def read(text: str) -> Cron | None:
    said = " ".join(text.split())
    if _LOOKS.fullmatch(said) is None:
        return None
    fields = _SHORT.get(said.lower(), said).split()
    if said.startswith("@") and said.lower() not in _SHORT:
        raise SpecFault(f'"{said}" is not known; there are {", ".join(_SHORT)}')
    if len(fields) != 5:
        raise SpecFault(f'"{said}" has {len(fields)} fields; a cron line has five: minute hour day month weekday')
    minutes, hours, days, months, weekdays = (
        _field(value, name, low, high, names) for value, (name, low, high, names) in zip(fields, _FIELDS, strict=True)
    )
    made = Cron(
        spec=" ".join(fields),
        minutes=tuple(sorted(minutes)),
        hours=tuple(sorted(hours)),
        days=days,
        months=months,
        weekdays=frozenset(day % 7 for day in weekdays),
        any_day=fields[2].startswith("*"),
        any_weekday=fields[4].startswith("*"),
    )
    if made.after(_FIRST) is None:
        raise SpecFault(f'"{said}" names a day that never comes')
    return made


def _field(text: str, name: str, low: int, high: int, names: Sequence[str]) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        match = _PART.fullmatch(part)
        if match is None:
            raise SpecFault(f'"{part}" is not understood as {name}; there are numbers, *, lists, ranges and steps')
        start, end, step = match.groups()
        if start == "*" and end is not None:
            raise SpecFault(f'"{part}" is not understood as {name}')
        first = low if start == "*" else _number(start, name, low, high, names)
        whole = start == "*" or (step is not None and end is None)
        last = high if whole else first if end is None else _number(end, name, low, high, names)
        if name == "day of the week":
            last = 6 if whole else 7 if first > last == 0 else last  # "fri-sun"
        if last < first or step == "0" or (step is not None and int(step) > high):
            raise SpecFault(f'"{part}" is no range of {name}s')
        found.update(range(first, last + 1, int(step or 1)))
    return frozenset(found)


def _number(word: str, name: str, low: int, high: int, names: Sequence[str]) -> int:
    if word.lower() in names:
        return names.index(word.lower()) + (1 if low == 1 else 0)
    if not word.isascii() or not word.isdigit() or not low <= int(word) <= high:
        known = f", or {names[0]} to {names[-1]}" if names else ""
        raise SpecFault(f'"{word}" is no {name}: it goes from {low} to {high}{known}')
    return int(word)
