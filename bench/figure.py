"""What a measurement yields: a figure with its goal, for Postroom alone or beside another server.

The rule: a goal is part of the figure, so that a report cannot show one without the other.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

MEASURABLE: Final = 50.0  # ms of processor time; the kernel counts in steps of ten


@dataclass(frozen=True, slots=True)
class Figure:
    """One result of Postroom's own; `value` and `goal` are in `unit`, and the goal is the most that is allowed."""

    name: str
    value: float
    goal: float
    unit: str

    @property
    def met(self) -> bool:
        return self.value <= self.goal

    @property
    def margin(self) -> float:
        """How many times better than asked; below 1 it is missed."""
        return self.goal / self.value if self.value else float("inf")


@dataclass(frozen=True, slots=True)
class Sample:
    """The runs of one row on one server: milliseconds each, or kilobytes a connection. `first` is the unwarmed run."""

    runs: tuple[float, ...]
    first: float | None = None
    hits: int | None = None

    @property
    def median(self) -> float:
        return statistics.median(self.runs)


@dataclass(frozen=True, slots=True)
class Goal:
    """What Postroom shall reach: `ratio` times as good as the other server, or at most `most`, in the row's unit."""

    ratio: float | None = None
    most: float | None = None

    def __str__(self) -> str:
        if self.most is not None:
            return f"<= {self.most:g}"
        return f">= {self.ratio:g}x" if self.ratio is not None else ""

    def met(self, ours: float, ratio: float | None) -> bool | None:
        """None when the other server is not there to compare with, or nothing is asked."""
        if self.most is not None:
            return ours <= self.most
        if self.ratio is None or ratio is None:
            return None
        return ratio >= self.ratio


@dataclass(frozen=True, slots=True)
class Compared:
    """One row measured on both servers; None where a server cannot do it."""

    title: str
    unit: str
    goal: Goal
    ours: Sample | None
    theirs: Sample | None
    spent: tuple[float, float] | None = None
    """Milliseconds of processor time that both took for the whole row; other programs lengthen it less."""

    @property
    def work_ratio(self) -> float | None:
        """How many times less processor time Postroom took; None when it is too little to be measured."""
        if self.ours is None or self.theirs is None or self.spent is None or min(self.spent) < MEASURABLE:
            return None
        return self.spent[1] / self.spent[0]

    @property
    def ratio(self) -> float | None:
        """How many times less Postroom needs."""
        if self.ours is None or self.theirs is None or not self.ours.median:
            return None
        return self.theirs.median / self.ours.median

    @property
    def met(self) -> bool | None:
        return None if self.ours is None else self.goal.met(self.ours.median, self.ratio)

    @property
    def agree(self) -> bool:
        """Whether both servers found the same number of messages, where that was counted."""
        both = [each.hits for each in (self.ours, self.theirs) if each is not None]
        return len(set(both)) <= 1


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which this share of the values lies."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]
