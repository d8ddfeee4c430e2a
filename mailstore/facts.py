"""What never changes of a mailbox's messages, in memory: where the bytes are, how many, and the internal date.

The rule: a UID never comes to mean another message and nothing here of a message ever changes, so what was read once
stays right; only which messages are there is brought up to date, by the index that the facts belong to. Thirty bytes a
message, and only of mailboxes that were asked for.
"""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import compress, repeat
from typing import Final

from mailstore.model import Mailbox
from mailstore.standing import spans
from mailstore.transaction import ReadTx


@dataclass(frozen=True, slots=True)
class Facts:
    """Parallel columns, UIDs ascending; `uids` is the list of the index that they were read for. Sizes in bytes, dates
    in UTC milliseconds, `zones` in minutes that the clock of the internal date was ahead of UTC."""

    uids: "array[int]"
    contents: "array[int]"
    sizes: "array[int]"
    header_sizes: "array[int]"
    dates: "array[int]"
    zones: "array[int]"

    def at(self, positions: Sequence[int]) -> "Facts":
        """The facts at these positions; a range is cut out whole."""
        if isinstance(positions, range) and positions.step == 1:
            cut = slice(positions.start, positions.stop)
            return Facts(
                self.uids[cut],
                self.contents[cut],
                self.sizes[cut],
                self.header_sizes[cut],
                self.dates[cut],
                self.zones[cut],
            )
        return Facts(*(array(column.typecode, [column[at] for at in positions]) for column in self.columns))

    @property
    def columns(self) -> tuple["array[int]", ...]:
        return (self.uids, self.contents, self.sizes, self.header_sizes, self.dates, self.zones)


NOTHING: Final = Facts(array("I"), array("Q"), array("I"), array("I"), array("q"), array("h"))


def following(tx: ReadTx, mailbox: Mailbox, known: Facts, uids: "array[int]") -> Facts | None:
    """The facts of just these UIDs, of which `known` may hold some; None when one of the others is not there (any
    more) in what `tx` sees."""
    if known.uids is uids:
        return known
    kept = _still_there(known, uids)
    new = uids[len(kept.uids) :]
    more = tx.columns("mailstore.messages.lasting", mailbox=mailbox.id, uids=spans(new)) if new else repeat(())
    found = Facts(*map(_extended, kept.columns, more))
    return replace(found, uids=uids) if found.uids == uids else None


def _extended(column: "array[int]", more: Iterable[int]) -> "array[int]":
    return column + array(column.typecode, more)


def _still_there(known: Facts, uids: "array[int]") -> Facts:
    """Those of the known that are among the UIDs; others can only be newer than all of them."""
    if known.uids == uids[: len(known.uids)]:
        return known
    mask = bytes(map(frozenset(uids).__contains__, known.uids))
    return Facts(*(array(column.typecode, compress(column, mask)) for column in known.columns))
