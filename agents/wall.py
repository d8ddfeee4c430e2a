"""Between the clock on the wall and the one line of time: when a local minute is, in a zone whose clocks change.

The rule: one moment for one local minute. A minute that the clock skips is the first one after the gap, a minute that
comes twice is the first of the two, and a day that does not exist has no minutes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from agents.rule import Rule, to_key

LONGEST_GAP: Final = timedelta(hours=12)
"""A longer gap is a day that a country left out; nobody waits for its minutes on the next day."""

_TRIES: Final = 5000


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One time at which a rule fires: UTC ms, and the local minute that is its key ("2026-11-30T08:00")."""

    at: int
    key: str


def to_wall(millis: int, zone: tzinfo) -> datetime:
    """The local time of a moment, without zone, to the minute."""
    return datetime.fromtimestamp(millis / 1000, zone).replace(tzinfo=None, second=0, microsecond=0)


def wall_after(millis: int, step: timedelta, zone: tzinfo) -> datetime:
    """The local minute, without zone, that is `step` after the minute of a moment: so much time, not so many minutes of
    the wall. One that comes the second time is the first after those that do, as it fires only the first time.
    """
    end = datetime.fromtimestamp(millis // 60_000 * 60, UTC) + step
    while (local := end.astimezone(zone)).fold:
        end += timedelta(minutes=1)
    return local.replace(tzinfo=None)


def moment_of(wall: datetime, zone: tzinfo) -> datetime | None:
    """The moment (UTC) of a local minute; None on a day that does not exist in the zone."""
    first = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if first.astimezone(zone).replace(tzinfo=None) == wall:
        return first
    early = wall.replace(tzinfo=zone, fold=1).astimezone(UTC)
    return None if first - early > LONGEST_GAP else _end_of_gap(early, first, zone)


def _end_of_gap(before: datetime, after: datetime, zone: tzinfo) -> datetime:
    """The change of the clocks that lies between two moments, found by halving."""
    offset = after.astimezone(zone).utcoffset()
    low, high = 0, int((after - before).total_seconds())
    while high - low > 1:
        middle = (low + high) // 2
        if (before + timedelta(seconds=middle)).astimezone(zone).utcoffset() == offset:
            high = middle
        else:
            low = middle
    return before + timedelta(seconds=high)


def next_occurrence(rule: Rule, zone: tzinfo, after: int) -> Occurrence | None:
    """The first time of a rule that is later than `after` (UTC ms)."""
    try:
        wall: datetime | None = to_wall(after, zone)
        for _ in range(_TRIES):
            wall = rule.after(wall) if wall is not None else None
            if wall is None:
                return None
            moment = moment_of(wall, zone)
            at = int(moment.timestamp() * 1000) if moment is not None else after
            if at > after:
                return Occurrence(at, to_key(to_wall(at, zone)))
    except (OverflowError, ValueError, OSError):  # the end of the calendar
        return None
    return None


def occurrences(rule: Rule, zone: tzinfo, after: int) -> Iterator[Occurrence]:
    """Every time of a rule that is later than `after`, in order."""
    found = next_occurrence(rule, zone, after)
    while found is not None:
        yield found
        found = next_occurrence(rule, zone, found.at)


def shown(at: int, zone: tzinfo, year: bool = False) -> str:
    """A moment as mails show it: "Mon 30 Nov 08:00", with its year where that is not clear."""
    local = datetime.fromtimestamp(at / 1000, zone)
    return f"{local:%a} {local.day} {local:%b} {local.year if year else ''} {local:%H:%M}".replace("  ", " ")


def span(millis: int) -> str:
    """A length of time in its largest unit and the next: "3 h 20 min"."""
    minutes = millis // 60_000
    days, hours, rest = minutes // 1440, minutes // 60 % 24, minutes % 60
    if days:
        return f"{days} d {hours} h" if hours else f"{days} d"
    if hours:
        return f"{hours} h {rest} min" if rest else f"{hours} h"
    return f"{minutes} min"
