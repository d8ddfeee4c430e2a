"""A rule: when something happens, by the clock on the wall, and the words for it that the kinds of triggers share.

The rule of the module: local times without zone, to the minute; where the clocks change is `agents.wall`'s to know.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, Protocol

MINUTE: Final = timedelta(minutes=1)
DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class SpecFault(ValueError):
    """A time that cannot be kept; the text says why, for the user."""


class Rule(Protocol):
    """When something happens, by the clock on the wall."""

    @property
    def spec(self) -> str:
        """The rule in its one spelling, from which it can be read again."""
        ...

    def after(self, wall: datetime) -> datetime | None:
        """The first time later than `wall`, both without zone and to the minute. None: never again."""
        ...

    def words(self) -> str:
        """The rule as people read it: "Monday to Friday, 08:00"."""
        ...


def to_key(wall: datetime) -> str:
    """A local minute as text, and as a key: "2026-11-30T08:00"."""
    return f"{wall:%Y-%m-%dT%H:%M}"


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def listed(words: Sequence[str]) -> str:
    """One, two and three."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
