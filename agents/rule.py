"""A rule: when something happens, by the clock on the wall, and the words for it that the kinds of triggers share.

The rule of the module: local times without zone, to the minute; where the clocks change is `agents.wall`'s to know.
What is set off from outside (an Event) has no time at all.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
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


EVENT_NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")
"""The name of a webhook, hook or mailbox: it stands in addresses and paths, so no dot, plus or slash."""


@dataclass(frozen=True, slots=True)
class Event:
    """A rule that no clock knows: something outside sets it off. `said` is the rule in words."""

    kind: str
    name: str
    said: str

    @property
    def spec(self) -> str:
        return f"{self.kind} {self.name}"

    def after(self, wall: datetime) -> datetime | None:
        """Never by the clock."""
        return None

    def words(self) -> str:
        return self.said


def read_event(text: str, kind: str, said: str) -> Event | None:
    """The event of a kind that a text names ("webhook deploy"); None for text of another form. Raises SpecFault."""
    words = text.lower().split()
    if len(words) != 2 or words[0] != kind:
        return None
    if EVENT_NAME.fullmatch(words[1]) is None:
        raise SpecFault(f'"{words[1]}" is no name for a {kind}; use up to 40 small letters, digits and dashes')
    return Event(kind, words[1], said.format(name=words[1]))


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
