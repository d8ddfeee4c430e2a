"""What one session has been told about its mailbox: the frozen list of UIDs whose positions are its sequence numbers.

Rule: a number moves only when the client is told so. The change log is folded in (`note`) whenever it is read, and
told (`tell`) when the protocol allows it; what may not be told yet is kept, so nothing is told twice or forgotten.
Pure: no store, no wire. The lists are shared between sessions that believe the same (`Shelf`), as 200 idle sessions on
a large mailbox would otherwise hold 200 copies.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final
from weakref import WeakValueDictionary

from mailstore.model import Delta, ModSeq, Uid

UID_CODE: Final = "I"
FEW: Final = 32  # up to here single deletions in a copy, and single look-ups, beat going through the whole list


def uid_list(uids: Iterable[int]) -> "array[int]":
    """The list a View holds, made of any ascending numbers."""
    return array(UID_CODE, uids)


def position(uids: Sequence[int], uid: int) -> int:
    """The index of `uid` in an ascending list, or -1."""
    at = bisect_left(uids, uid)
    return at if at < len(uids) and uids[at] == uid else -1


def positions(uids: "array[int]", wanted: Sequence[int]) -> Sequence[int]:
    """The indexes of many ascending numbers in an ascending list, -1 for those that are not there."""
    if len(wanted) > FEW:
        first = position(uids, wanted[0])
        if first >= 0 and uids[first : first + len(wanted)] == array(UID_CODE, wanted):
            return range(first, first + len(wanted))
    return [position(uids, uid) for uid in wanted]


@dataclass(frozen=True, slots=True)
class Told:
    """One round of news in the order it must be said: departures (number, uid), counts, then flags (number, uid).

    Departures have descending numbers, so each number is right when it is read; the numbers of `flags` hold after them.
    """

    gone: tuple[tuple[int, Uid], ...] = ()
    exists: int | None = None
    recent: int | None = None
    flags: tuple[tuple[int, Uid], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.gone or self.flags or self.exists is not None or self.recent is not None)


class Shelf:
    """The UID lists in use, by mailbox and log position; a position names one list, so equal beliefs share one."""

    __slots__ = ("_lists",)

    def __init__(self) -> None:
        self._lists: WeakValueDictionary[tuple[int, int], array[int]] = WeakValueDictionary()

    def put(self, mailbox: int, modseq: int, uids: "array[int]") -> "array[int]":
        """The list for this position: the one already there when it is equal, else the given one."""
        there = self._lists.setdefault((mailbox, modseq), uids)
        return there if there is uids or there == uids else uids


class View:
    """One selected mailbox as one client knows it."""

    __slots__ = ("_changed", "_gone", "_recent", "_shelf", "known", "mailbox", "modseq", "settled", "uids")

    def __init__(self, mailbox: int, uids: "array[int]", modseq: ModSeq, shelf: Shelf) -> None:
        self.mailbox = mailbox
        self.uids = shelf.put(mailbox, modseq, uids)
        self.modseq = modseq  # the log has been folded in up to here
        self.settled = modseq  # all that happened up to here has been told
        self.known = len(uids)  # how many of `uids` the client has been told of by EXISTS
        self._gone: set[Uid] = set()
        self._changed: set[Uid] = set()
        self._recent: tuple[tuple[int, int], ...] = ()
        self._shelf = shelf

    def __len__(self) -> int:
        return len(self.uids)

    @property
    def pending(self) -> bool:
        """Whether something has been folded in that the client has not been told."""
        return bool(self._gone or self._changed or self.known != len(self.uids))

    @property
    def withheld(self) -> Collection[int]:
        """UIDs that have left the mailbox while the client still counts them."""
        return self._gone

    def number(self, uid: int) -> int:
        """The sequence number of a UID, or 0 when the client does not know it."""
        return position(self.uids, uid) + 1

    def numbers(self, uids: Sequence[int]) -> Sequence[int]:
        """The sequence numbers of ascending UIDs, 0 for those that the client does not know."""
        return [at + 1 for at in positions(self.uids, uids)]

    def numbers_of(self, uids: Sequence[int]) -> list[int]:
        """The same of UIDs in any order."""
        if len(uids) <= FEW:
            return [self.number(uid) for uid in uids]
        numbers = dict(zip(self.uids, range(1, len(self.uids) + 1), strict=True))
        return [numbers.get(uid, 0) for uid in uids]

    def within(self, uids: Sequence[Uid]) -> list[Uid]:
        """Those of the UIDs that the client knows, order kept."""
        mine = self.uids
        return [uid for uid in uids if position(mine, uid) >= 0]

    def claim(self, first: int, last: int) -> None:
        """From now on the messages first..last are \\Recent in this session (RFC 3501 2.3.2: in no other)."""
        if first > last:
            return
        ranges = self._recent
        if ranges and ranges[-1][1] + 1 >= first:
            ranges, first = ranges[:-1], ranges[-1][0]
        self._recent = (*ranges, (first, last))

    def is_recent(self, uid: int) -> bool:
        return any(first <= uid <= last for first, last in self._recent)

    @property
    def recent(self) -> tuple[tuple[int, int], ...]:
        """The inclusive ranges of UIDs that are \\Recent here."""
        return self._recent

    def recent_count(self) -> int:
        mine = self.uids
        return sum(bisect_right(mine, last) - bisect_left(mine, first) for first, last in self._recent)

    def note(self, delta: Delta, *, silent: bool = False) -> None:
        """Fold a piece of the log in. `silent`: its flag changes are the client's own and it knows them already."""
        if not self.pending:
            self.settled = self.modseq
        fresh = self._fresh(delta)
        if fresh:
            self.uids = self.uids + uid_list(fresh)
        mine = self.uids
        self._gone.update(_known(mine, delta.gone))
        if not silent:
            self._changed.update(set(_known(mine, delta.changed)).difference(fresh))
        self.modseq = max(self.modseq, delta.highest)

    def _fresh(self, delta: Delta) -> list[Uid]:
        """Arrivals beyond the end of the list; a number once given is never given again, so no other can be new."""
        last = self.uids[-1] if self.uids else 0
        return [uid for uid in delta.arrived if uid > last]

    def forget_flags(self, uids: Iterable[Uid]) -> None:
        """The client has just been given the flags of these messages; they need not be told again."""
        self._changed.difference_update(uids)

    def tell(self, *, gone: bool, flags: bool = True) -> Told:
        """What to say now; whether departures may be told, and flags. What is told is believed from here on."""
        self._drop_untold()
        said = self._expunge() if gone and self._gone else ()
        exists = len(self.uids) if len(self.uids) != self.known else None
        self.known = len(self.uids)
        recent = self.recent_count() if exists is not None else None
        changed = self._flags() if self._changed and flags else ()
        if not self._gone:
            self.uids = self._shelf.put(self.mailbox, self.modseq, self.uids)
            self.settled = self.modseq
        return Told(said, exists, recent, changed)

    def _drop_untold(self) -> None:
        """What came and went between two rounds of news never existed for the client."""
        if self._gone and self.known < len(self.uids):
            untold = self.uids[self.known :]
            self._changed.difference_update(self._gone.intersection(untold))
            self.uids = self.uids[: self.known] + uid_list(uid for uid in untold if uid not in self._gone)
            self._gone.difference_update(untold)

    def _expunge(self) -> tuple[tuple[int, Uid], ...]:
        leaving = sorted(self._gone)
        mine = self.uids
        said = tuple(zip((at + 1 for at in reversed(positions(mine, leaving))), reversed(leaving), strict=True))
        self.uids = _without(mine, said, self._gone)
        self.known -= len(said)
        self._changed.difference_update(self._gone)
        self._gone.clear()
        return said

    def _flags(self) -> tuple[tuple[int, Uid], ...]:
        uids = sorted(self._changed - self._gone)
        told = tuple(zip(self.numbers(uids), uids, strict=True))
        self._changed.clear()
        return told


def _known(uids: "array[int]", wanted: Sequence[Uid]) -> Iterable[Uid]:
    """Those of many ascending UIDs that are in a list."""
    at = positions(uids, wanted)
    return wanted if isinstance(at, range) else [uid for uid, there in zip(wanted, at, strict=True) if there >= 0]


def _without(uids: "array[int]", said: Sequence[tuple[int, Uid]], gone: Collection[int]) -> "array[int]":
    if len(said) > FEW:
        return uid_list(uid for uid in uids if uid not in gone)
    left = uids[:]
    for number, _ in said:  # descending, so earlier deletions do not move later ones
        del left[number - 1]
    return left
