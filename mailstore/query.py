"""What can be searched for: a neutral tree, made by whoever reads a client's words and evaluated by `search`.

The rule: text in a tree is as the user wrote it; folding (DECISIONS 20) happens on evaluation, to needle and text.
"""

import datetime
from dataclasses import dataclass
from typing import Literal

from mailstore.model import ModSeq

Which = Literal["internal", "sent", "saved"]
Field = Literal["from", "to", "cc", "bcc"]


class Query:
    """Base of all nodes."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class And(Query):
    """All of the items; of none, every message."""

    items: tuple[Query, ...]


@dataclass(frozen=True, slots=True)
class Or(Query):
    a: Query
    b: Query


@dataclass(frozen=True, slots=True)
class Not(Query):
    q: Query


@dataclass(frozen=True, slots=True)
class AllOf(Query):
    """Every message."""


@dataclass(frozen=True, slots=True)
class Nothing(Query):
    """No message."""


@dataclass(frozen=True, slots=True)
class UidSet(Query):
    """UIDs in any of the inclusive ranges."""

    ranges: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class HasFlag(Query):
    """A system flag, spelled "\\\\Seen" ... ("\\\\Recent": unclaimed)."""

    flag: str


@dataclass(frozen=True, slots=True)
class Keyword(Query):
    """A keyword, in any case."""

    name: str


@dataclass(frozen=True, slots=True)
class Before(Query):
    """The day of `which` date is earlier. Internal and save dates are taken in UTC, sent ones as written."""

    date: datetime.date
    which: Which = "internal"


@dataclass(frozen=True, slots=True)
class On(Query):
    date: datetime.date
    which: Which = "internal"


@dataclass(frozen=True, slots=True)
class Since(Query):
    date: datetime.date
    which: Which = "internal"


@dataclass(frozen=True, slots=True)
class Larger(Query):
    """More than n bytes."""

    n: int


@dataclass(frozen=True, slots=True)
class Smaller(Query):
    """Fewer than n bytes."""

    n: int


@dataclass(frozen=True, slots=True)
class Header(Query):
    """A field of this name whose value contains the needle; an empty needle: that has the field."""

    name: str
    needle: str


@dataclass(frozen=True, slots=True)
class Text(Query):
    """The needle in the header or the text of the message."""

    needle: str


@dataclass(frozen=True, slots=True)
class Body(Query):
    """The needle in the text of the message."""

    needle: str


@dataclass(frozen=True, slots=True)
class Address(Query):
    """The needle in an address field: names, comments and addresses."""

    field: Field
    needle: str


@dataclass(frozen=True, slots=True)
class ModSeqAtLeast(Query):
    n: ModSeq | int


@dataclass(frozen=True, slots=True)
class EmailIdIs(Query):
    """The message with this RFC 8474 EMAILID."""

    object_id: str


@dataclass(frozen=True, slots=True)
class ThreadIdIs(Query):
    """Messages with this RFC 8474 THREADID."""

    object_id: str


@dataclass(frozen=True, slots=True)
class Older(Query):
    """Internal date at least this many seconds ago (RFC 5032)."""

    seconds: int


@dataclass(frozen=True, slots=True)
class Younger(Query):
    """Internal date at most this many seconds ago."""

    seconds: int


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
]
