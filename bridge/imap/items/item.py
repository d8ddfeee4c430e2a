"""The interface of FETCH items: what a name in the command becomes, and what the plan hands it to render.

Rule: an item renders a whole batch as one column, so that a plan is one template times the rows; it reads only what
its `needs` asked for.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from bridge.imap.wire.cursor import Cursor
from mailstore.model import ContentId

BodyReader = Callable[[ContentId, int, int | None], bytes]
"""(content, start, length or None for the rest) -> the stored bytes."""


class Row(Protocol):
    """What an item may read of one message (mailstore's FetchRow). Times in UTC milliseconds, sizes in bytes."""

    @property
    def content(self) -> ContentId: ...
    @property
    def size(self) -> int: ...
    @property
    def internal_date(self) -> int: ...
    @property
    def zone(self) -> int: ...
    @property
    def header_size(self) -> int: ...
    @property
    def header(self) -> bytes | None: ...
    @property
    def rendered(self) -> tuple[bytes, ...]: ...


class WholeRow(Row, Protocol):
    """What is read of a message beside that when a plan needs `rows`."""

    @property
    def save_date(self) -> int: ...
    @property
    def email_object_id(self) -> str: ...
    @property
    def thread_object_id(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Needs:
    """What a plan wants to be handed. `facts` are what never changes of a message, which with bodies, headers and
    stored renderings is found without looking at the message's row; `rows` is that row. Without any of these the
    in-memory index of the mailbox answers everything."""

    flags: bool = False
    modseq: bool = False
    facts: bool = False
    rows: bool = False
    header: bool = False
    body: bool = False
    renderings: tuple[str, ...] = ()

    def __or__(self, other: "Needs") -> "Needs":
        return Needs(
            flags=self.flags or other.flags,
            modseq=self.modseq or other.modseq,
            facts=self.facts or other.facts,
            rows=self.rows or other.rows,
            header=self.header or other.header,
            body=self.body or other.body,
            renderings=tuple(dict.fromkeys(self.renderings + other.renderings)),
        )

    @property
    def reads_store(self) -> bool:
        """Whether the store must be asked at all."""
        return self.rows or self.facts or self.header or self.body or bool(self.renderings)


@dataclass(frozen=True, slots=True)
class Batch:
    """Messages to render, as parallel columns; only those that the plan's needs name have to be filled.

    `numbers` are sequence numbers in the session's view; `flags` the text between the parentheses of FLAGS;
    `renderings` the names, in order, of what `row.rendered` holds; `body` reads stored bytes, and comes with the rows;
    `whole` are the same rows when the plan needs all of them; `forms` the renderings and `contents` where the bytes are
    as columns, where they are at hand.
    """

    numbers: Sequence[int]
    uids: Sequence[int]
    flags: Sequence[bytes] = ()
    modseqs: Sequence[int] = ()
    rows: Sequence[Row] = ()
    renderings: tuple[str, ...] = ()
    body: BodyReader | None = None
    whole: Sequence[WholeRow] = ()
    forms: Mapping[str, Sequence[bytes]] = field(default_factory=dict)
    contents: Sequence[ContentId] = ()

    def rendering(self, name: str) -> Sequence[bytes]:
        """The column of one stored rendering."""
        if name in self.forms:
            return self.forms[name]
        at = self.renderings.index(name)
        return [row.rendered[at] for row in self.rows]


Column = Callable[[Batch], Iterable[bytes | int]]
Octets = Callable[[Batch], Iterable[bytes | None]]


@dataclass(frozen=True, slots=True)
class Item:
    """One requested item. `template` holds exactly one `%d` or `%b`, to be filled from `column`; `label` is the name
    in the answer, by which repeats are dropped; `sets_seen` whether asking for it marks the message read.

    `octets`, of items that may be large, is what `column` shows as literals, or None for NIL: a plan sends these bytes
    as they are between its lines. The template then ends with its `%b`."""

    label: bytes
    template: bytes
    column: Column
    needs: Needs = field(default_factory=Needs)
    sets_seen: bool = False
    octets: Octets | None = None


@dataclass(frozen=True, slots=True)
class FetchItem:
    """An item FETCH knows by name (upper case). `parse` reads what follows the name: nothing, or a section."""

    name: bytes
    parse: Callable[[Cursor], Item]


def plain(name: bytes, column: Column, needs: Needs, *, value: bytes = b"%b", sets_seen: bool = False) -> FetchItem:
    """An item without arguments: `NAME value`. `value` is the template of the value, as in b"(%d)"."""
    item = Item(name, name.replace(b"%", b"%%") + b" " + value, column, needs, sets_seen)
    return FetchItem(name, lambda cursor: item)
