"""One pace for each model, shared by all runs.

The rule: after a provider has asked for a pause nobody calls it before the pause is over, then one call goes ahead
alone; only its success opens the way for the others. It lives in memory: forgetting it costs one call.
"""

from dataclasses import dataclass
from typing import Final

STEP: Final = 1000
LONGEST: Final = 15 * 60 * 1000


@dataclass(slots=True)
class _Pace:
    level: int = 0
    not_before: int = 0


class Throttle:
    """Paces by model label. Times are UTC ms."""

    def __init__(self) -> None:
        self._paces: dict[str, _Pace] = {}

    def admit(self, label: str, now: int) -> int | None:
        """None: go ahead. Otherwise the time to come back at."""
        pace = self._paces.get(label)
        if pace is None or pace.level == 0:
            return None
        if now < pace.not_before:
            return pace.not_before
        pace.not_before = now + _pause(pace.level)
        return None

    def limited(self, label: str, now: int, until: int) -> None:
        """The provider refused a call because of its rate; `until` is what it asked for, or our own wait."""
        pace = self._paces.setdefault(label, _Pace())
        pace.level = min(pace.level + 1, 10)
        pace.not_before = max(pace.not_before, until, now + _pause(pace.level))

    def passed(self, label: str) -> None:
        """A call went through."""
        self._paces.pop(label, None)


def _pause(level: int) -> int:
    return int(min(STEP * 2 ** (level - 1), LONGEST))
