"""The index of a mailbox in memory: UIDs, flag sets and modseqs, shared by all sessions that look at it.

The rule: it follows what was committed. After each commit it is handed what the transaction did (`follow`); where that
is not known or not enough it is stale, and reads the change log at the next question, as sessions do. `uids` is
replaced, never changed in place, so that many sessions can hold one list.
"""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TypeVar

from mailstore import changes, facts, lookup
from mailstore import keywords as words
from mailstore.model import KEY_SHIFT, SEEN, FlagSet, Mailbox, ModSeq, Snapshot, Uid
from mailstore.shifts import Came, Flagged, Shift, Went
from mailstore.standing import spans
from mailstore.transaction import ReadTx

T = TypeVar("T")
_KINDS = 256  # flag sets in one mailbox that a byte can tell apart
Read = Callable[[Callable[[ReadTx], T]], T]


class FlagSets:
    """Every flag set in use, by its id; the same flags are the same object."""

    def __init__(self) -> None:
        self._sets: dict[int, FlagSet] = {}
        self._keywords: dict[int, tuple[str, ...]] = {0: ()}

    def learn(self, tx: ReadTx, keys: Sequence[int]) -> None:
        """Make the sets for these keys."""
        for key in set(keys) - self._sets.keys():
            number = key >> KEY_SHIFT
            if number not in self._keywords:
                self._keywords[number] = words.names(tx, number)
            self._sets[key] = FlagSet(key & ((1 << KEY_SHIFT) - 1), self._keywords[number], key)

    def knows(self, shift: Shift) -> bool:
        """Whether the keyword sets in a shift have been met before, so that their names need not be read."""
        match shift:
            case Came(keys=keys):
                return all(key >> KEY_SHIFT in self._keywords for key in set(keys))
            case Flagged(keywords=int(keywords)):
                return keywords in self._keywords
            case _:
                return True

    def make(self, keys: Iterable[int]) -> None:
        """Make the sets for these keys, all of whose keyword sets are known."""
        for key in set(keys) - self._sets.keys():
            self._sets[key] = FlagSet(key & ((1 << KEY_SHIFT) - 1), self._keywords[key >> KEY_SHIFT], key)

    def __getitem__(self, key: int) -> FlagSet:
        return self._sets[key]

    def column(self, keys: Sequence[int]) -> list[FlagSet]:
        """The sets of these keys, in order."""
        return list(map(self._sets.__getitem__, keys))


@dataclass(frozen=True, slots=True)
class Columns:
    """A mailbox's index at one moment: parallel columns, UIDs ascending.

    `kinds` says for each message, in one byte, which of `present` is its flag set; None when there are too many sets.
    """

    uids: "array[int]"
    keys: "array[int]"
    modseqs: "array[int]"
    sets: FlagSets
    recent_from: int
    present: tuple[int, ...]
    kinds: bytes | None


class MailboxIndex:
    """The present state of one mailbox. Get it from `Store.index`; use it in the loop only."""

    def __init__(self, mailbox: Mailbox, read: "Read[None]", flag_sets: FlagSets) -> None:
        self.mailbox = mailbox
        self._read = read
        self._sets = flag_sets
        self._uids: array[int] = array("I")
        self._keys: array[int] = array("I")
        self._modseqs: array[int] = array("Q")
        self._highest = ModSeq(0)
        self._first_unseen: tuple[ModSeq, Uid | None] | None = None
        self._kinds: tuple[ModSeq, tuple[int, ...], bytes | None] | None = None
        self.facts = facts.NOTHING  # of the UIDs that `facts.uids` says, which may be older ones; see Store.facts
        self.stale = True

    @property
    def uids(self) -> "array[int]":
        """All UIDs, ascending; this list is never changed in place."""
        self._refresh()
        return self._uids

    @property
    def highest_modseq(self) -> ModSeq:
        self._refresh()
        return self._highest

    def flag_set(self, uid: Uid) -> FlagSet | None:
        """The flags of a message, or None when it is gone."""
        self._refresh()
        at = self._at(uid)
        return None if at < 0 else self._sets[self._keys[at]]

    def flag_sets(self, uids: Sequence[int]) -> list[FlagSet | None]:
        """The flags of many messages (UIDs ascending), None for those that are gone."""
        self._refresh()
        span = self._span(uids)
        if span is not None:
            return [*self._sets.column(self._keys[span])]
        return [None if (at := self._at(uid)) < 0 else self._sets[self._keys[at]] for uid in uids]

    def positions(self, uids: Sequence[int]) -> Sequence[int]:
        """Where those of the messages stand in `uids` that are there (UIDs ascending)."""
        self._refresh()
        span = self._span(uids)
        if span is not None:
            return range(span.start, span.stop)
        return [at for uid in uids if (at := self._at(uid)) >= 0]

    def modseq(self, uid: Uid) -> ModSeq | None:
        """When a message last changed in this mailbox, or None when it is gone."""
        self._refresh()
        at = self._at(uid)
        return None if at < 0 else ModSeq(self._modseqs[at])

    def modseqs(self, uids: Sequence[int]) -> list[ModSeq | None]:
        """The modseqs of many messages, None for those that are gone."""
        self._refresh()
        return [None if (at := self._at(uid)) < 0 else ModSeq(self._modseqs[at]) for uid in uids]

    def changed_since(self, modseq: int) -> list[Uid]:
        """The UIDs of messages that changed after a modseq, ascending (CHANGEDSINCE)."""
        self._refresh()
        return [Uid(uid) for uid, last in zip(self._uids, self._modseqs, strict=True) if last > modseq]

    def first_unseen(self) -> Uid | None:
        """The first message without \\Seen."""
        self._refresh()
        if self._first_unseen is None or self._first_unseen[0] != self._highest:
            found = next((Uid(uid) for uid, key in zip(self._uids, self._keys, strict=True) if not key & SEEN), None)
            self._first_unseen = (self._highest, found)
        return self._first_unseen[1]

    def columns(self, recent_from: int) -> Columns:
        """A copy of the index, for a search that may run on another thread."""
        self._refresh()
        present, kinds = self._flag_kinds()
        return Columns(self._uids, self._keys[:], self._modseqs[:], self._sets, recent_from, present, kinds)

    def _flag_kinds(self) -> tuple[tuple[int, ...], bytes | None]:
        """See Columns; made again only after a change."""
        if self._kinds is None or self._kinds[0] != self._highest:
            present = tuple(set(self._keys))
            number = {key: at for at, key in enumerate(present)}
            kinds = bytes(map(number.__getitem__, self._keys)) if len(present) <= _KINDS else None
            self._kinds = (self._highest, present, kinds)
        return self._kinds[1:]

    def _at(self, uid: int) -> int:
        at = bisect_left(self._uids, uid)
        return at if at < len(self._uids) and self._uids[at] == uid else -1

    def _span(self, uids: Sequence[int]) -> slice | None:
        """Where these UIDs stand, when they stand in one piece."""
        if not uids:
            return slice(0, 0)
        first = self._at(uids[0])
        if first < 0:
            return None
        span = slice(first, first + len(uids))
        wanted = uids if isinstance(uids, array) and uids.typecode == "I" else None
        if wanted is None:
            if first + len(uids) > len(self._uids) or self._uids[span.stop - 1] != uids[-1]:
                return None
            wanted = array("I", uids)
        return span if self._uids[span] == wanted else None

    # Following what is committed

    def follow(self, shifts: Sequence[Shift]) -> None:
        """Take in what one committed transaction did to this mailbox; all of it, in order."""
        if self.stale or max(shift.modseq for shift in shifts) <= self._highest:
            return  # it will be read, or was read already
        if min(shift.modseq for shift in shifts) <= self._highest or not all(map(self._sets.knows, shifts)):
            self.stale = True
            return
        for shift in shifts:
            self._take(shift)
        self._highest = max(shift.modseq for shift in shifts)

    def _take(self, shift: Shift) -> None:
        match shift:
            case Came(_, modseq, first, keys):
                self._uids = self._uids + array("I", range(first, first + len(keys)))
                self._keys.extend(keys)
                self._modseqs.extend([modseq] * len(keys))
                self._sets.make(keys)
            case Went(_, _, uids):
                self._remove(uids)
            case Flagged(_, modseq, uids, added, taken, keywords):
                self._reflag(uids, modseq, _flagger(added, taken, keywords))

    def _reflag(self, uids: Sequence[int], modseq: ModSeq, changed: Callable[[int], int]) -> None:
        span = self._span(uids)
        if span is not None:
            before = self._keys[span]
            after = {key: changed(key) for key in set(before)}
            self._keys[span] = array("I", map(after.__getitem__, before))
            self._modseqs[span] = array("Q", [modseq]) * len(before)
            self._sets.make(after.values())
            return
        fresh = set()
        for uid in uids:
            if (at := self._at(uid)) >= 0:
                self._keys[at], self._modseqs[at] = key, _ = changed(self._keys[at]), modseq
                fresh.add(key)
        self._sets.make(fresh)

    def _refresh(self) -> None:
        if self.stale:
            self._read(self.catch_up)

    def catch_up(self, tx: ReadTx) -> None:
        """Fold in what happened since the last time."""
        self.stale = False
        if self._highest == 0:
            self.load(tx)
            return
        delta = changes.since(tx, self.mailbox, self._highest)
        if not delta.complete or len(delta.gone) + len(delta.arrived) + len(delta.changed) > len(self._uids) // 2 + 64:
            self.load(tx)
            return
        self._remove(delta.gone)
        self._change(tx, delta.changed)
        self._add(tx, delta.arrived)
        self._highest = delta.highest

    def load(self, tx: ReadTx) -> None:
        """Read the whole mailbox."""
        uids, keys, modseqs = tx.columns("mailstore.changes.rows", mailbox=self.mailbox.id)
        self._sets.learn(tx, keys)
        self._uids, self._keys, self._modseqs = array("I", uids), array("I", keys), array("Q", modseqs)
        self._highest = lookup.status(tx, self.mailbox).highest_modseq
        self.stale = False

    def snapshot(self, tx: ReadTx) -> Snapshot:
        """The mailbox as `tx` sees it, with the UIDs shared."""
        self.catch_up(tx)
        row = tx.one("mailstore.mailboxes.status", mailbox=self.mailbox.id)
        if row is None:
            lookup.get(tx, self.mailbox.id)
            raise AssertionError("a mailbox without a status row")
        return Snapshot(
            uids=self._uids,
            highest_modseq=self._highest,
            uidvalidity=row["uidvalidity"],
            uidnext=Uid(row["uidnext"]),
            recent=row["recent"],
            recent_from=Uid(row["recent_from"]),
            first_unseen=self.first_unseen() if row["unseen"] else None,
        )

    def _remove(self, gone: Sequence[int]) -> None:
        if not gone:
            return
        span = self._span(gone)
        if span is not None:
            self._uids = self._uids[: span.start] + self._uids[span.stop :]
            del self._keys[span], self._modseqs[span]
            return
        leaving = set(gone)
        kept = [uid not in leaving for uid in self._uids]
        self._uids = array("I", compress(self._uids, kept))
        self._keys = array("I", compress(self._keys, kept))
        self._modseqs = array("Q", compress(self._modseqs, kept))

    def _change(self, tx: ReadTx, changed: Sequence[int]) -> None:
        for uid, key, modseq in self._rows(tx, changed):
            at = self._at(uid)
            if at >= 0:
                self._keys[at], self._modseqs[at] = key, modseq

    def _add(self, tx: ReadTx, arrived: Sequence[int]) -> None:
        rows = self._rows(tx, arrived)
        if rows:
            self._uids = self._uids + array("I", [row[0] for row in rows])
            self._keys.extend(row[1] for row in rows)
            self._modseqs.extend(row[2] for row in rows)

    def _rows(self, tx: ReadTx, uids: Sequence[int]) -> list[tuple[int, int, int]]:
        if not uids:
            return []
        rows = tx.all("mailstore.changes.rows-at", mailbox=self.mailbox.id, uids=spans(uids))
        self._sets.learn(tx, [key for _, key, _ in rows])
        return [(uid, key, modseq) for uid, key, modseq in rows]


def _flagger(added: int, taken: int, keywords: int | None) -> Callable[[int], int]:
    """What a change of flags makes of a flag set."""
    kept = ~taken if keywords is None else ~taken & ((1 << KEY_SHIFT) - 1)
    also = added if keywords is None else added | keywords << KEY_SHIFT
    return lambda key: key & kept | also
