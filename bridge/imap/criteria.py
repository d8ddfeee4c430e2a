"""SEARCH keys (RFC 3501 section 6.4.4) read into criteria, which become a store query when the search runs.

Rule: what depends on the session (sequence numbers, "*", \\Recent) stays symbolic until `Criteria.query` is called with
the session's resolver, so parsing needs no mailbox and pipelined commands may change it in between.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from types import MappingProxyType
from typing import Final, Protocol

from bridge.imap.wire.cursor import MAX_DEPTH, Cursor
from bridge.imap.wire.errors import ParseError
from bridge.imap.wire.grammar import MAX_NUMBER64
from bridge.imap.wire.seqset import SeqSet
from mailstore import query as store

CHARSETS: Final = ("US-ASCII", "UTF-8")
_KNOWN_CHARSETS: Final = frozenset({b"US-ASCII", b"ASCII", b"UTF-8", b"UTF8"})
MAX_KEYS: Final = 2000


class Resolver(Protocol):
    """What a session knows and a query needs."""

    def numbers(self, seqset: SeqSet) -> store.Query:
        """The messages with these sequence numbers."""

    def uids(self, seqset: SeqSet) -> store.Query:
        """The messages with these UIDs; "*" is the highest in the mailbox."""

    def recent(self) -> store.Query:
        r"""The messages that are \Recent in this session."""


Key = Callable[[Resolver], store.Query]
"""A search key that has been read."""


@dataclass(slots=True)
class SearchReader:
    """The reading of one SEARCH: its cursor, the keys it knows, and how deep it is."""

    cursor: Cursor
    keys: Mapping[bytes, "SearchKey"]
    depth: int = 0
    count: int = 0
    counted: bool = False  # a set of sequence numbers has been read

    def key(self) -> Key:
        """search-key, including a sequence set and a list in parentheses."""
        self.count += 1
        if self.depth >= MAX_DEPTH or self.count > MAX_KEYS:
            self.cursor.fail("Search too complex")
        self.depth += 1
        try:
            return self._key()
        finally:
            self.depth -= 1

    def _key(self) -> Key:
        cursor = self.cursor
        first = cursor.peek()
        if first == b"(":
            return _all_of(cursor.parenthesised(self.key))
        if first.isdigit() or first in (b"*", b"$"):
            seqset = cursor.seqset()
            self.counted |= not seqset.is_saved
            return lambda resolver: resolver.numbers(seqset)
        start = cursor.pos
        known = self.keys.get(cursor.word("a search key"))
        if known is None:
            cursor.pos = start
            cursor.fail("Unknown search key")
        return known.parse(self)

    def text(self) -> str:
        """SP astring, decoded."""
        self.cursor.sp()
        start = self.cursor.pos
        raw = self.cursor.astring()
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            raise ParseError("Search text is not valid UTF-8", start) from None


@dataclass(frozen=True, slots=True)
class SearchKey:
    """A key SEARCH knows by name (upper case). `parse` reads what follows the name, with the space before it."""

    name: bytes
    parse: Callable[[SearchReader], Key]


@dataclass(frozen=True, slots=True)
class Criteria:
    """What a SEARCH asks for. `counted`: with sequence numbers."""

    key: Key = field(repr=False)
    counted: bool = False

    def query(self, resolver: Resolver) -> store.Query:
        """The query for the store, with the session's numbers put in."""
        return self.key(resolver)


def parse_criteria(cursor: Cursor, keys: Mapping[bytes, SearchKey] | None = None, *, charset: bool = True) -> Criteria:
    """`["CHARSET" SP astring SP] search-key *(SP search-key)`, to the end of what the cursor holds.

    An unknown charset deserves NO [BADCHARSET (US-ASCII UTF-8)]. Without a charset 8-bit text is read as UTF-8, which
    clients send regardless; that is an extension of US-ASCII, never a contradiction.
    """
    reader = SearchReader(cursor, BASE_KEYS if keys is None else keys)
    if charset and cursor.try_word(b"CHARSET"):
        _read_charset(cursor)
    found = [reader.key()]
    while not cursor.at_end:
        cursor.sp()
        found.append(reader.key())
    return Criteria(_all_of(found), reader.counted)


def known_charset(name: bytes) -> bool:
    return name.upper() in _KNOWN_CHARSETS


def _read_charset(cursor: Cursor) -> None:
    cursor.sp()
    start = cursor.pos
    if not known_charset(cursor.astring()):
        code = f"BADCHARSET ({' '.join(CHARSETS)})"
        raise ParseError("Unknown charset", start, status="NO", code=code)
    cursor.sp()


def _all_of(keys: list[Key]) -> Key:
    if len(keys) == 1:
        return keys[0]
    return lambda resolver: store.And(tuple(key(resolver) for key in keys))


# Readers of keys


def _fixed(query: store.Query) -> Key:
    return lambda resolver: query


def _simple(name: bytes, query: store.Query) -> SearchKey:
    key = _fixed(query)
    return SearchKey(name, lambda reader: key)


def _flag(name: bytes, flag: str) -> SearchKey:
    return _simple(name, store.HasFlag(flag))


def _no_flag(name: bytes, flag: str) -> SearchKey:
    return _simple(name, store.Not(store.HasFlag(flag)))


def _text(name: bytes, make: Callable[[str], store.Query]) -> SearchKey:
    return SearchKey(name, lambda reader: _fixed(make(reader.text())))


def _date(name: bytes, make: Callable[[date], store.Query]) -> SearchKey:
    def parse(reader: SearchReader) -> Key:
        reader.cursor.sp()
        return _fixed(make(reader.cursor.date()))

    return SearchKey(name, parse)


def _size(name: bytes, make: Callable[[int], store.Query]) -> SearchKey:
    def parse(reader: SearchReader) -> Key:
        reader.cursor.sp()
        return _fixed(make(reader.cursor.number(MAX_NUMBER64)))

    return SearchKey(name, parse)


def _keyword(reader: SearchReader) -> store.Query:
    reader.cursor.sp()
    return store.Keyword(reader.cursor.atom().decode("ascii"))


def _header(reader: SearchReader) -> Key:
    reader.cursor.sp()
    start = reader.cursor.pos
    name = reader.cursor.astring()
    if not name.isascii() or not name:
        raise ParseError("Not a header field name", start)
    return _fixed(store.Header(name.decode("ascii"), reader.text()))


def _not(reader: SearchReader) -> Key:
    reader.cursor.sp()
    inner = reader.key()
    return lambda resolver: store.Not(inner(resolver))


def _or(reader: SearchReader) -> Key:
    reader.cursor.sp()
    first = reader.key()
    reader.cursor.sp()
    second = reader.key()
    return lambda resolver: store.Or(first(resolver), second(resolver))


def _uid(reader: SearchReader) -> Key:
    reader.cursor.sp()
    seqset = reader.cursor.seqset()
    return lambda resolver: resolver.uids(seqset)


def _recent(resolver: Resolver) -> store.Query:
    return resolver.recent()


def _old(resolver: Resolver) -> store.Query:
    return store.Not(resolver.recent())


def _new(resolver: Resolver) -> store.Query:
    return store.And((resolver.recent(), store.Not(store.HasFlag("\\Seen"))))


_KEYS: Final = (
    _simple(b"ALL", store.AllOf()),
    _flag(b"ANSWERED", "\\Answered"),
    _flag(b"DELETED", "\\Deleted"),
    _flag(b"DRAFT", "\\Draft"),
    _flag(b"FLAGGED", "\\Flagged"),
    _flag(b"SEEN", "\\Seen"),
    _no_flag(b"UNANSWERED", "\\Answered"),
    _no_flag(b"UNDELETED", "\\Deleted"),
    _no_flag(b"UNDRAFT", "\\Draft"),
    _no_flag(b"UNFLAGGED", "\\Flagged"),
    _no_flag(b"UNSEEN", "\\Seen"),
    SearchKey(b"RECENT", lambda reader: _recent),
    SearchKey(b"OLD", lambda reader: _old),
    SearchKey(b"NEW", lambda reader: _new),
    SearchKey(b"KEYWORD", lambda reader: _fixed(_keyword(reader))),
    SearchKey(b"UNKEYWORD", lambda reader: _fixed(store.Not(_keyword(reader)))),
    _text(b"BCC", lambda needle: store.Address("bcc", needle)),
    _text(b"CC", lambda needle: store.Address("cc", needle)),
    _text(b"FROM", lambda needle: store.Address("from", needle)),
    _text(b"TO", lambda needle: store.Address("to", needle)),
    _text(b"SUBJECT", lambda needle: store.Header("subject", needle)),
    _text(b"BODY", store.Body),
    _text(b"TEXT", store.Text),
    SearchKey(b"HEADER", _header),
    _date(b"BEFORE", lambda day: store.Before(day, "internal")),
    _date(b"ON", lambda day: store.On(day, "internal")),
    _date(b"SINCE", lambda day: store.Since(day, "internal")),
    _date(b"SENTBEFORE", lambda day: store.Before(day, "sent")),
    _date(b"SENTON", lambda day: store.On(day, "sent")),
    _date(b"SENTSINCE", lambda day: store.Since(day, "sent")),
    _size(b"LARGER", store.Larger),
    _size(b"SMALLER", store.Smaller),
    SearchKey(b"NOT", _not),
    SearchKey(b"OR", _or),
    SearchKey(b"UID", _uid),
)

BASE_KEYS: Final[Mapping[bytes, SearchKey]] = MappingProxyType({key.name: key for key in _KEYS})
"""The keys of RFC 3501; a dialect adds those of its extensions."""
