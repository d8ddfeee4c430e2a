"""Which messages of a mailbox: one byte for each, 1 or 0, held as a whole number.

The rule: a mask is as long as the mailbox, and byte `n` speaks of the message at position `n`. And, or and not are then
single operations on numbers, and nothing is done a message at a time but making a mask and reading it.
"""

from collections.abc import Iterable, Sequence
from itertools import compress
from typing import TypeVar

T = TypeVar("T")
Mask = int

NONE: Mask = 0


def every(count: int) -> Mask:
    """All of so many messages."""
    return made(b"\1" * count)


def made(marks: Iterable[int]) -> Mask:
    """From a 1 or 0 (or True or False) for each message."""
    return int.from_bytes(bytes(marks), "little")


def of_spans(spans: Iterable[tuple[int, int]], count: int) -> Mask:
    """The messages at the positions from each first up to but not including each end."""
    marks = bytearray(count)
    for first, end in spans:
        if end > first:
            marks[first:end] = b"\1" * (end - first)
    return made(marks)


def chosen(mask: Mask, column: Sequence[T]) -> list[T]:
    """The entries of a column that the mask chooses, in their order."""
    return list(compress(column, mask.to_bytes(len(column), "little")))
