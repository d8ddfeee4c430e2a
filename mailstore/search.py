"""Searching a mailbox: the query tree, and its evaluation (`Store.search`).

The rule: a search is set algebra over masks of the mailbox. Flags, keywords, UIDs and modseqs are read from its index
in memory, sizes and internal dates from the facts beside it, words from the text index; what that does not hold yet is
scanned here, so that a message is found as soon as it is there.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import cast

from mailstore import content, masks
from mailstore.cache import Columns
from mailstore.facts import Facts
from mailstore.folding import document
from mailstore.masks import Mask
from mailstore.model import KEY_SHIFT, SYSTEM_FLAGS, ContentId, Mailbox, Millis, Uid
from mailstore.query import (
    Address,
    AllOf,
    And,
    Before,
    Body,
    EmailIdIs,
    HasFlag,
    Header,
    Keyword,
    Larger,
    ModSeqAtLeast,
    Not,
    Nothing,
    Older,
    On,
    Or,
    Query,
    Since,
    Smaller,
    Text,
    ThreadIdIs,
    UidSet,
    Younger,
)
from mailstore.textindex import TextQuery, true_of
from mailstore.transaction import ReadTx

_END = 1 << 62
_FAR = 1 << 35  # days
_DAY = 86_400_000
_EPOCH = date(1970, 1, 1)
_MINUTE = 60_000
_FAST = (AllOf, Nothing, UidSet, HasFlag, Keyword, ModSeqAtLeast)


@dataclass(frozen=True, slots=True)
class Hits:
    """What the text index knew: for each text query the contents it is true of, of those up to `mark`."""

    mark: ContentId
    contents: dict[Query, set[ContentId]]


NO_HITS = Hits(ContentId(0), {})


def leaves(query: Query) -> Iterator[Query]:
    """What a tree asks, without the ands, ors and nots."""
    match query:
        case And(items):
            for item in items:
                yield from leaves(item)
        case Or(a, b):
            yield from leaves(a)
            yield from leaves(b)
        case Not(q):
            yield from leaves(q)
        case _:
            yield query


def text_queries(query: Query) -> Iterator[TextQuery]:
    """The parts of a tree that ask for words."""
    return (leaf for leaf in leaves(query) if isinstance(leaf, (Text, Body, Header, Address)))


def is_fast(query: Query) -> bool:
    """Whether the index in memory answers the whole tree."""
    return all(isinstance(leaf, _FAST) for leaf in leaves(query))


def asks_facts(query: Query) -> bool:
    """Whether a part of the tree asks for sizes or internal dates."""
    return any(map(_asks_facts, leaves(query)))


def is_lasting(query: Query) -> bool:
    """Whether the index and the facts answer the whole tree."""
    return all(isinstance(leaf, _FAST) or _asks_facts(leaf) for leaf in leaves(query))


def _asks_facts(leaf: Query) -> bool:
    dated = isinstance(leaf, (Before, On, Since)) and leaf.which == "internal"
    return dated or isinstance(leaf, (Larger, Smaller, Older, Younger))


class Evaluation:
    """One search over one mailbox, in one snapshot. `facts` are of the same UIDs as the columns; without them (None)
    sizes and dates are asked of the store."""

    def __init__(
        self,
        tx: ReadTx,
        mailbox: Mailbox,
        query: Query,
        columns: Columns,
        hits: Hits,
        now: Millis,
        facts: Facts | None = None,
    ) -> None:
        self._tx = tx
        self._mailbox = mailbox
        self._columns = columns
        self._hits = hits
        self._now = now
        self._facts = facts
        self._every = masks.every(len(columns.uids))
        self._asked = query
        self._beyond: dict[Query, set[int]] | None = None

    def run(self) -> list[Uid]:
        """The UIDs the query is true of, ascending."""
        return cast("list[Uid]", masks.chosen(self._mask(self._asked), self._columns.uids))

    def _mask(self, query: Query) -> Mask:
        match query:
            case And(items):
                return self._and(items)
            case Or(a, b):
                return self._mask(a) | self._mask(b)
            case Not(q):
                return self._every ^ self._mask(q)
            case AllOf():
                return self._every
            case Text() | Body() | Header() | Address():
                return self._of_uids(self._worded(query))
            case HasFlag() | Keyword():
                return self._flagged(query)
            case _:
                return self._valued(query)

    def _and(self, items: Iterable[Query]) -> Mask:
        """Cheap ones first; nothing more is asked once nothing is left."""
        result = self._every
        for item in sorted(items, key=_cost):
            result &= self._mask(item)
            if not result:
                break
        return result

    def _of_uids(self, found: Container[int]) -> Mask:
        return masks.made(map(found.__contains__, self._columns.uids))

    def _flagged(self, query: HasFlag | Keyword) -> Mask:
        """Decided once for each set of flags, not once for each message."""
        columns = self._columns
        if isinstance(query, HasFlag) and query.flag.lower() == "\\recent":
            count = len(columns.uids)
            return masks.of_spans([(bisect_left(columns.uids, columns.recent_from), count)], count)
        test = self._flag_test(query)
        if columns.kinds is None:
            truth = {key: test(key) for key in columns.present}
            return masks.made(map(truth.__getitem__, columns.keys))
        return masks.made(columns.kinds.translate(bytes(map(test, columns.present)).ljust(256, b"\0")))

    def _flag_test(self, query: HasFlag | Keyword) -> Callable[[int], bool]:
        if isinstance(query, HasFlag):
            bit = {name.lower(): bit for name, bit in SYSTEM_FLAGS.items()}.get(query.flag.lower(), 0)
            return lambda key: bool(key & bit)
        name, sets = query.name.casefold(), self._columns.sets
        return lambda key: key >> KEY_SHIFT > 0 and name in (each.casefold() for each in sets[key].keywords)

    def _valued(self, query: Query) -> Mask:
        match query:
            case UidSet(ranges):
                uids = self._columns.uids
                spans = [(bisect_left(uids, first), bisect_right(uids, last)) for first, last in ranges]
                return masks.of_spans(spans, len(uids))
            case ModSeqAtLeast(n):
                return masks.made(map(n.__le__, self._columns.modseqs))
            case Before(day, which):
                return self._dated(which, -_FAR, _days(day))
            case On(day, which):
                return self._dated(which, _days(day), _days(day) + 1)
            case Since(day, which):
                return self._dated(which, _days(day), _FAR)
            case Larger(n):
                return self._sized(n + 1, _END)
            case Smaller(n):
                return self._sized(0, n)
            case Older(seconds):
                return self._arrived(-_END, self._now - seconds * 1000 + 1)
            case Younger(seconds):
                return self._arrived(self._now - seconds * 1000, _END)
            case EmailIdIs(object_id):
                return self._query("origin", origin=_number(object_id, "M"))
            case ThreadIdIs(object_id):
                return self._query("thread", thread=_number(object_id, "T"))
            case _:
                return masks.NONE

    # From the first up to but not including the end

    def _sized(self, first: int, end: int) -> Mask:
        if self._facts is None:
            return self._query("size", above=first - 1, below=end)
        return masks.made([first <= size < end for size in self._facts.sizes])

    def _arrived(self, first: int, end: int) -> Mask:
        if self._facts is None:
            return self._query("arrived", first=first, end=end)
        return masks.made([first <= date < end for date in self._facts.dates])

    def _dated(self, which: str, first: int, end: int) -> Mask:
        """Days since 1970-01-01, for the internal date by the clock that it was given by."""
        scale = 1 if which == "sent" else _DAY
        if which != "internal" or self._facts is None:
            return self._query(which, first=first * scale, end=end * scale)
        dates: Sequence[int] = self._facts.dates
        if any(self._facts.zones):
            dates = [date + zone * _MINUTE for date, zone in zip(dates, self._facts.zones, strict=True)]
        return masks.made([first * scale <= date < end * scale for date in dates])

    def _query(self, name: str, **params: int) -> Mask:
        [uids] = self._tx.columns(f"mailstore.search.{name}", mailbox=self._mailbox.id, **params)
        return self._of_uids(frozenset(uids))

    # Words

    def _worded(self, query: TextQuery) -> set[int]:
        """From the index what it holds, by scanning what it does not."""
        known = sorted(self._hits.contents.get(query, ()))
        rows = self._tx.all("mailstore.search.uids-of-contents", contents=str(known), **self._here())
        return {row["uid"] for row in rows} | self._scanned().get(query, set())

    def _scanned(self) -> dict[Query, set[int]]:
        """For each text query of the tree what is true of messages beyond the index; each is read once."""
        if self._beyond is None:
            self._beyond = {}
            queries = set(text_queries(self._asked))
            for row in self._tx.all("mailstore.search.contents-beyond", mark=self._hits.mark, **self._here()):
                read = document(content.body(self._tx, ContentId(row["content"])))
                for query in queries:
                    if true_of(query, read):
                        self._beyond.setdefault(query, set()).add(row["uid"])
        return self._beyond

    def _here(self) -> dict[str, int]:
        return {"account": self._mailbox.account, "mailbox": self._mailbox.id}


def _cost(query: Query) -> int:
    """What is dearer is asked later."""
    return 0 if is_fast(query) else 2 if any(True for _ in text_queries(query)) else 1


def _days(day: date) -> int:
    return (day - _EPOCH).days


def _number(object_id: str, letter: str) -> int:
    """The number in an object id; -1 for one that this store cannot have given."""
    if not object_id.startswith(letter):
        return -1
    try:
        return min(int(object_id[1:], 16), _END)
    except ValueError:
        return -1
