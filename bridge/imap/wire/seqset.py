"""Sequence sets (RFC 3501 section 9, `sequence-set`): parsed once, resolved against a session's own list.

Rule: "*" stays symbolic until resolved, and a resolved set is a list of ascending, disjoint `range` objects of
positions (0-based indexes into the session's message list), whatever order or overlap the client wrote.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Self

from bridge.imap.wire.errors import ParseError
from bridge.imap.wire.grammar import MAX_NUMBER

STAR: Final = 0


@dataclass(frozen=True, slots=True)
class SeqSet:
    """Ranges as written; `STAR` stands for "*". A single number is a range of itself."""

    ranges: tuple[tuple[int, int], ...]

    @property
    def is_saved(self) -> bool:
        """Whether this is "$", the result of the last SEARCH RETURN (SAVE) (RFC 5182), which only a session knows."""
        return not self.ranges

    @classmethod
    def parse(cls, raw: bytes, position: int = 0) -> Self:
        """Read text that already matched `grammar.SEQUENCE_SET`; only the size of the numbers is left to check."""
        if raw.isdigit():
            only = _number(raw, position)
            return cls(((only, only),))
        ranges = []
        for part in raw.split(b","):
            first, colon, last = part.partition(b":")
            low = _number(first, position)
            ranges.append((low, _number(last, position) if colon else low))
        return cls(tuple(ranges))

    def resolve_uids(self, uids: Sequence[int]) -> list[range]:
        """Positions of the named UIDs within `uids` (ascending). Unknown UIDs are passed over; "*" is the highest."""
        if not uids:
            return []
        return merge([(bisect_left(uids, low), bisect_right(uids, high)) for low, high in self._bounds(uids[-1])])

    def resolve_numbers(self, count: int) -> list[range]:
        """Positions named by sequence numbers in a list of `count` messages; numbers above `count` are passed over."""
        if not count:
            return []
        return merge([(low - 1, min(high, count)) for low, high in self._bounds(count)])

    def exceeds(self, count: int) -> bool:
        """Whether a number is named that is above `count` (for whoever wants to answer BAD, RFC 3501 section 9)."""
        return max(map(max, self.ranges), default=0) > count

    def contains(self, number: int, highest: int) -> bool:
        """Whether `number` is in the set, where "*" means `highest`."""
        return any(low <= number <= high for low, high in self._bounds(highest))

    def uid_ranges(self, highest: int) -> list[tuple[int, int]]:
        """The numbers themselves as ascending disjoint inclusive ranges, "*" being `highest`; for queries by UID."""
        merged = merge((low, high + 1) for low, high in self._bounds(highest))
        return [(span.start, span.stop - 1) for span in merged]

    def render(self) -> bytes:
        """Back to the wire, as written."""
        if self.is_saved:
            return b"$"
        return b",".join(_render_range(low, high) for low, high in self.ranges)

    def _bounds(self, highest: int) -> Iterable[tuple[int, int]]:
        for first, last in self.ranges:
            low, high = first or highest, last or highest
            yield (low, high) if low <= high else (high, low)


SAVED: Final = SeqSet(())
"""What "$" is read as."""


def merge(spans: Iterable[tuple[int, int]]) -> list[range]:
    """Ascending disjoint ranges that cover the half-open spans; empty spans vanish, touching ones join."""
    there = [span for span in spans if span[0] < span[1]]
    if len(there) == 1:
        return [range(*there[0])]
    merged: list[range] = []
    for start, stop in sorted(there):
        if merged and start <= merged[-1].stop:
            if stop > merged[-1].stop:
                merged[-1] = range(merged[-1].start, stop)
        else:
            merged.append(range(start, stop))
    return merged


Ranges = list[tuple[int, int]]
"""Inclusive ranges of numbers, ascending and disjoint."""


def overlap(some: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]]) -> Ranges:
    """What two lists of ranges have in common."""
    common: Ranges = []
    at = other = 0
    while at < len(some) and other < len(others):
        low, high = max(some[at][0], others[other][0]), min(some[at][1], others[other][1])
        if low <= high:
            common.append((low, high))
        if some[at][1] < others[other][1]:
            at += 1
        else:
            other += 1
    return common


def without(ranges: Iterable[tuple[int, int]], numbers: Sequence[int]) -> Ranges:
    """The ranges less these numbers (ascending)."""
    left: Ranges = []
    for low, high in ranges:
        for number in numbers[bisect_left(numbers, low) : bisect_right(numbers, high)]:
            if low < number:
                left.append((low, number - 1))
            low = number + 1
        if low <= high:
            left.append((low, high))
    return left


def _number(raw: bytes, position: int) -> int:
    if raw == b"*":
        return STAR
    if len(raw) > 10 or not 1 <= (number := int(raw)) <= MAX_NUMBER:
        raise ParseError("Message number out of range", position)
    return number


def _render_range(low: int, high: int) -> bytes:
    first, last = (str(end).encode("ascii") if end != STAR else b"*" for end in (low, high))
    return first if low == high else first + b":" + last
