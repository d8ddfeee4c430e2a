"""MESSAGELIMIT (RFC 9738): how many messages one command takes, and SEARCH by UIDAFTER and UIDBEFORE.

What the limit does to each command is in base.limit. SAVELIMIT, which would be announced instead, is for servers that
limit only COPY and APPEND.
"""

from collections.abc import Callable
from typing import Final

from bridge.imap.criteria import Key, Resolver, SearchKey, SearchReader
from bridge.imap.dialect import Extension, Feature, Standing
from bridge.imap.wire.grammar import MAX_NUMBER
from mailstore.query import Nothing, Query, UidSet

Span = tuple[int, int]


def _announce(standing: Standing) -> tuple[bytes, ...]:
    return (b"MESSAGELIMIT=%d" % standing.message_limit,) if standing.secure else ()


def _beside(name: bytes, make: Callable[[Span], Span]) -> SearchKey:
    """A key for what lies on one side of a UID, or of all messages of "$" (which a client may not know yet)."""

    def parse(reader: SearchReader) -> Key:
        cursor = reader.cursor
        cursor.sp()
        if cursor.peek() != b"$":
            uid = cursor.nz_number()
            return lambda resolver: _within(make((uid, uid)))
        saved = cursor.seqset()

        def key(resolver: Resolver) -> Query:
            match resolver.uids(saved):
                case UidSet(ranges):
                    return _within(make((ranges[0][0], ranges[-1][1])))
            return Nothing()

        return key

    return SearchKey(name, parse)


def _within(span: Span) -> Query:
    return UidSet((span,)) if span[0] <= span[1] else Nothing()


EXTENSION: Final = Extension(
    name="MESSAGELIMIT",
    announce=_announce,
    search_keys=(
        _beside(b"UIDAFTER", lambda span: (span[1] + 1, MAX_NUMBER)),
        _beside(b"UIDBEFORE", lambda span: (1, span[0] - 1)),
    ),
    features=frozenset({Feature.MESSAGE_LIMIT}),
    default=False,
)
