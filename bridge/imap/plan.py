"""FETCH compiled: names to a plan once, then one template times the rows of a batch.

Rule: a plan says what it needs before anything is read, drops repeated items, keeps the order asked for, and renders
without looking at single items again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import chain
from operator import add, or_
from types import MappingProxyType
from typing import Final, Self

from bridge.imap.items import envelope, flags, section, structure
from bridge.imap.items.item import Batch, BodyReader, Column, FetchItem, Item, Needs, Row
from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.render import literal_parts, unzeroed

BASE_ITEMS: Final[Mapping[bytes, FetchItem]] = MappingProxyType(
    {item.name: item for module in (flags, envelope, structure, section) for item in module.ITEMS}
)
"""The items of RFC 3501; a dialect adds those of its extensions."""

MACROS: Final[Mapping[bytes, tuple[bytes, ...]]] = MappingProxyType(
    {
        b"ALL": (b"FLAGS", b"INTERNALDATE", b"RFC822.SIZE", b"ENVELOPE"),
        b"FAST": (b"FLAGS", b"INTERNALDATE", b"RFC822.SIZE"),
        b"FULL": (b"FLAGS", b"INTERNALDATE", b"RFC822.SIZE", b"ENVELOPE", b"BODY"),
    }
)

MAX_ITEMS: Final = 200

Cells = Iterable[bytes | int]

_UID: Final = flags.UID.parse(Cursor(b""))
_FLAGS: Final = flags.FLAGS.parse(Cursor(b""))


@dataclass(frozen=True, slots=True)
class FetchPlan:
    """What to render for each message, in order. `adds_uid`: UID is among it, and was not asked for."""

    items: tuple[Item, ...]
    adds_uid: bool = False
    needs: Needs = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "needs", reduce(or_, (item.needs for item in self.items), Needs()))

    @classmethod
    def compile(cls, cursor: Cursor, names: Mapping[bytes, FetchItem] = BASE_ITEMS, *, uid: bool = False) -> Self:
        """Read a macro, one item, or a list of items in parentheses; with `uid` (UID FETCH) UID is always told."""
        plan = cls(_distinct(_read_items(cursor, names)))
        return plan.with_uid() if uid else plan

    @property
    def sets_seen(self) -> bool:
        r"""Whether fetching this marks the messages `\Seen`."""
        return any(item.sets_seen for item in self.items)

    def with_uid(self) -> Self:
        """The same with UID in front, unless it is asked for already."""
        return self if _UID in self.items else replace(self, items=(_UID, *self.items), adds_uid=True)

    def with_flags(self) -> Self:
        """The same with FLAGS at the end, unless it is asked for already."""
        return self if _FLAGS in self.items else replace(self, items=(*self.items, _FLAGS))

    def with_item(self, item: FetchItem) -> Self:
        """The same with an item that takes no arguments at the end, unless it is asked for already."""
        made = item.parse(Cursor(b""))
        return self if made in self.items else replace(self, items=(*self.items, made))

    def without_uid(self) -> Self:
        """The same without a UID that was not asked for (RFC 9586: it leads the answer)."""
        others = tuple(item for item in self.items if item != _UID)
        return replace(self, items=others, adds_uid=False) if self.adds_uid else self

    def render(self, batch: Batch, *, by_uid: bool = False) -> bytes:
        """One `* n FETCH (...)` line a message, or `* uid UIDFETCH (...)`."""
        count = len(batch.numbers)
        if not count:
            return b""
        template = b"* %%d %b (%b)\r\n" % (_word(by_uid), b" ".join(item.template for item in self.items))
        columns: Iterable[Cells] = (item.column(batch) for item in self.items)
        first = batch.uids if by_uid else batch.numbers
        cells = chain.from_iterable(zip(first, *columns, strict=True))
        return template * count % tuple(cells)

    def pieces(self, batch: Batch, *, by_uid: bool = False) -> list[bytes]:
        """The same lines in pieces, to be sent one after the other: what may be large is a piece of its own, the very
        bytes that were read. A piece may end one line and begin the next."""
        if not batch.numbers or all(item.octets is None for item in self.items):
            return [self.render(batch, by_uid=by_uid)]
        columns: list[Iterable[bytes]] = []
        cells: list[Cells] = [batch.uids if by_uid else batch.numbers]
        template = b"* %%d %b (" % _word(by_uid)
        for at, item in enumerate(self.items):
            template += (b" " if at else b"") + item.template
            if item.octets is None:
                cells.append(item.column(batch))
            else:
                end, heads, data = _announced(item.octets(batch))
                columns += (_filled(template.removesuffix(b"%b") + end, [*cells, heads]), data)
                template, cells = b"", []
        ends = _filled(template + b")\r\n", cells) if cells else [b")\r\n"] * len(batch.numbers)
        begins, *between = columns
        first, *others = begins
        joined = [first, *map(add, ends, others)]  # the end of a line goes out with the beginning of the next
        return [*chain.from_iterable(zip(joined, *between, strict=True)), ends[-1]]


def _word(by_uid: bool) -> bytes:
    return b"UIDFETCH" if by_uid else b"FETCH"


def _announced(octets: Iterable[bytes | None]) -> tuple[bytes, Cells, Sequence[bytes]]:
    """What announces literals, as the end of a template and its column, and their bytes, which are not copied."""
    found = list(octets)
    if all(found):
        data = [unzeroed(each) for each in found if each]
        return b"{%d}\r\n", map(len, data), data
    heads, parts = zip(*map(literal_parts, found), strict=True)
    return b"%b", heads, parts


def _filled(template: bytes, cells: Iterable[Cells]) -> list[bytes]:
    return [template % each for each in zip(*cells, strict=True)]


def _read_items(cursor: Cursor, names: Mapping[bytes, FetchItem]) -> list[Item]:
    if cursor.peek() == b"(":
        items = cursor.parenthesised(lambda: _read_item(cursor, names))
        if len(items) > MAX_ITEMS:
            cursor.fail("Too many FETCH items")
        return items
    macro = cursor.try_word(*MACROS)
    if macro is None:
        return [_read_item(cursor, names)]
    return [names[name].parse(cursor) for name in MACROS[macro]]


def _read_item(cursor: Cursor, names: Mapping[bytes, FetchItem]) -> Item:
    start = cursor.pos
    known = names.get(cursor.word("a FETCH item"))
    if known is None:
        cursor.pos = start
        cursor.fail("Unknown FETCH item")
    return known.parse(cursor)


def _distinct(items: Iterable[Item]) -> tuple[Item, ...]:
    """The first of each label; that a later twin marks messages read is kept."""
    found: dict[bytes, Item] = {}
    for item in items:
        first = found.setdefault(item.label, item)
        if item.sets_seen and not first.sets_seen:
            found[item.label] = item
    return tuple(found.values())


__all__ = [
    "BASE_ITEMS",
    "MACROS",
    "Batch",
    "BodyReader",
    "Column",
    "FetchItem",
    "FetchPlan",
    "Item",
    "Needs",
    "Row",
]
