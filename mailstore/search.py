"""Searching a mailbox: the query tree, and its evaluation (`Store.search`).

The rule: a search is set algebra over UIDs. Flags, keywords, UIDs and modseqs are read from the mailbox's index in
memory, dates and sizes by one query each, words from the text index; what that does not hold yet is scanned here, so
that a message is found as soon as it is there.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date

from mailstore import content
from mailstore.cache import Columns
from mailstore.folding import document
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

__all__ = [
    "Address",
    "AllOf",
    "And",
    "Before",
    "Body",
    "EmailIdIs",
    "HasFlag",
    "Header",
    "Keyword",
    "Larger",
    "ModSeqAtLeast",
    "Not",
    "Nothing",
    "Older",
    "On",
    "Or",
    "Query",
    "Since",
    "Smaller",
    "Text",
    "ThreadIdIs",
    "UidSet",
    "Younger",
    "Evaluation",
    "Hits",
    "is_fast",
    "text_queries",
]


_END = 1 << 62
_FAR = 1 << 35  # days
_DAY = 86_400_000
_EPOCH = date(1970, 1, 1)
_FAST = (AllOf, Nothing, UidSet, HasFlag, Keyword, ModSeqAtLeast)


@dataclass(frozen=True, slots=True)
class Hits:
    """What the text index knew: for each text query the contents it is true of, of those up to `mark`."""

    mark: ContentId
    contents: dict[Query, set[ContentId]]


NO_HITS = Hits(ContentId(0), {})


def text_queries(query: Query) -> Iterator[TextQuery]:
    """The parts of a tree that ask for words."""
    match query:
        case And(items):
            for item in items:
                yield from text_queries(item)
        case Or(a, b):
            yield from text_queries(a)
            yield from text_queries(b)
        case Not(q):
            yield from text_queries(q)
        case Text() | Body() | Header() | Address():
            yield query
        case _:
            return


def is_fast(query: Query) -> bool:
    """Whether the index in memory answers the whole tree."""
    match query:
        case And(items):
            return all(is_fast(item) for item in items)
        case Or(a, b):
            return is_fast(a) and is_fast(b)
        case Not(q):
            return is_fast(q)
        case _:
            return isinstance(query, _FAST)


class Evaluation:
    """One search over one mailbox, in one snapshot."""

    def __init__(
        self, tx: ReadTx, mailbox: Mailbox, query: Query, columns: Columns, hits: Hits, now: Millis
    ) -> None:
        self._tx = tx
        self._mailbox = mailbox
        self._columns = columns
        self._hits = hits
        self._now = now
        self._everything: set[int] | None = None
        self._asked = query
        self._beyond: dict[Query, set[int]] | None = None

    def run(self) -> list[Uid]:
        """The UIDs the query is true of, ascending."""
        found = self._set(self._asked)
        return [Uid(uid) for uid in self._columns.uids if uid in found]

    def _all(self) -> set[int]:
        if self._everything is None:
            self._everything = set(self._columns.uids)
        return self._everything

    def _set(self, query: Query) -> set[int]:
        match query:
            case And(items):
                return self._and(items)
            case Or(a, b):
                return self._set(a) | self._set(b)
            case Not(HasFlag() | Keyword() as q):
                return self._flagged(q, wanted=False)
            case Not(q):
                return self._all() - self._set(q)
            case AllOf():
                return self._all()
            case Text() | Body() | Header() | Address():
                return self._worded(query)
            case HasFlag() | Keyword():
                return self._flagged(query, wanted=True)
            case _:
                return self._valued(query)

    def _and(self, items: Iterable[Query]) -> set[int]:
        """Cheap ones first; nothing more is asked once nothing is left."""
        result: set[int] | None = None
        for item in sorted(items, key=_cost):
            found = self._set(item)
            result = found if result is None else result & found
            if not result:
                return set()
        return self._all() if result is None else result

    def _flagged(self, query: HasFlag | Keyword, *, wanted: bool) -> set[int]:
        columns = self._columns
        if isinstance(query, HasFlag) and query.flag.lower() == "\\recent":
            return {uid for uid in columns.uids if (uid >= columns.recent_from) == wanted}
        test = self._flag_test(query)
        keys = {key for key in set(columns.keys) if test(key) == wanted}
        return {uid for uid, key in zip(columns.uids, columns.keys, strict=True) if key in keys}

    def _flag_test(self, query: HasFlag | Keyword) -> Callable[[int], bool]:
        if isinstance(query, HasFlag):
            bit = {name.lower(): bit for name, bit in SYSTEM_FLAGS.items()}.get(query.flag.lower(), 0)
            return lambda key: bool(key & bit)
        name, sets = query.name.casefold(), self._columns.sets
        return lambda key: key >> KEY_SHIFT > 0 and name in (each.casefold() for each in sets[key].keywords)

    def _valued(self, query: Query) -> set[int]:
        match query:
            case UidSet(ranges):
                return _within(self._columns.uids, ranges)
            case ModSeqAtLeast(n):
                return {
                    uid for uid, last in zip(self._columns.uids, self._columns.modseqs, strict=True) if last >= n
                }
            case Before(day, which):
                return self._dated(which, -_FAR, _days(day))
            case On(day, which):
                return self._dated(which, _days(day), _days(day) + 1)
            case Since(day, which):
                return self._dated(which, _days(day), _FAR)
            case Larger(n):
                return self._query("size", above=n, below=_END)
            case Smaller(n):
                return self._query("size", above=-1, below=n)
            case Older(seconds):
                return self._query("arrived", first=-_END, end=self._now - seconds * 1000 + 1)
            case Younger(seconds):
                return self._query("arrived", first=self._now - seconds * 1000, end=_END)
            case EmailIdIs(object_id):
                return self._query("origin", origin=_number(object_id, "M"))
            case ThreadIdIs(object_id):
                return self._query("thread", thread=_number(object_id, "T"))
            case _:
                return set()

    def _dated(self, which: str, first: int, end: int) -> set[int]:
        """Days since 1970-01-01 from `first` up to but not including `end`."""
        scale = 1 if which == "sent" else _DAY
        return self._query(which, first=first * scale, end=end * scale)

    def _query(self, name: str, **params: int) -> set[int]:
        return {row["uid"] for row in self._tx.all(f"mailstore.search.{name}", mailbox=self._mailbox.id, **params)}

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


def _within(uids: "array[int]", ranges: Iterable[tuple[int, int]]) -> set[int]:
    found: set[int] = set()
    for first, last in ranges:
        found.update(uids[bisect_left(uids, first) : bisect_right(uids, last)])
    return found


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
