"""PARTIAL (RFC 9394, and before it RFC 5267): a piece of a result, counted from its start or, negative, from its end.

Rule: what lies beyond the result is left out, never an error; a range may be written either way round.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from bridge.imap.dialect import Dialect, SearchReturn
from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.render import number_set

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Piece:
    """`first:last`, both from 1, both counted from the end when `reverse`."""

    first: int
    last: int
    reverse: bool = False

    def bounds(self, count: int) -> tuple[int, int]:
        """The half-open range of indexes into a result of `count`."""
        low, high = min(self.first, self.last), max(self.first, self.last)
        if self.reverse:
            return max(count - high, 0), max(count - low + 1, 0)
        return min(low - 1, count), min(high, count)

    def of(self, result: Sequence[T]) -> Sequence[T]:
        start, stop = self.bounds(len(result))
        return result[start:stop]

    def render(self) -> bytes:
        low, high = min(self.first, self.last), max(self.first, self.last)
        return b"-%d:-%d" % (low, high) if self.reverse else b"%d:%d" % (low, high)


def read_piece(cursor: Cursor) -> Piece:
    """SP partial-range."""
    cursor.sp()
    reverse = cursor.try_byte(b"-")
    first = cursor.nz_number()
    cursor.byte(b":")
    if reverse:
        cursor.byte(b"-")
    return Piece(first, cursor.nz_number(), reverse)


def cut(spans: Sequence[range], piece: Piece) -> list[range]:
    """Of the positions in these ranges, in their order, those in the piece."""
    start, stop = piece.bounds(sum(map(len, spans)))
    kept: list[range] = []
    at = 0
    for span in spans:
        inner = span[max(start - at, 0) : max(stop - at, 0)]
        if inner:
            kept.append(inner)
        at += len(span)
    return kept


def _render(found: Sequence[int], piece: Piece) -> bytes:
    part = piece.of(found)
    return b"PARTIAL (%b %b)" % (piece.render(), number_set(part) if part else b"NIL")


def _parse(cursor: Cursor, dialect: Dialect) -> Piece:
    return read_piece(cursor)


PARTIAL: Final = SearchReturn(b"PARTIAL", _render, parse=_parse, part=lambda found, piece: piece.of(found))
"""The return option, which several extensions have."""
