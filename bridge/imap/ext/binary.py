"""BINARY (RFC 3516): parts as they are meant, decoded by the server; and binary literals in APPEND (base.append)."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from bridge.imap.command import Refused
from bridge.imap.dialect import Extension, Feature, announces
from bridge.imap.items.item import Batch, FetchItem, Item, Needs
from bridge.imap.items.section import Partial, read_partial, read_section
from bridge.imap.wire.codes import Code
from bridge.imap.wire.cursor import Cursor
from mailstore.parse import known_encoding, parse


def content(raw: bytes, section: str) -> bytes | None:
    """The content of a part, decoded; of the whole message its bytes. None: there is no such part.

    Raises Refused with UNKNOWN-CTE for an encoding nobody knows (section 4.3).
    """
    if not section:
        return raw
    part = parse(raw).part(section)
    if part is None:
        return None
    if part.children or part.embedded is not None:
        return raw[part.body_start : part.body_end]
    if not known_encoding(part.encoding):
        raise Refused("The encoding of this part is unknown", Code.UNKNOWN_CTE.value)
    return part.content(raw)


def literal(data: bytes | None) -> bytes:
    """A literal, with "~" where it holds NUL."""
    if data is None:
        return b"NIL"
    mark = b"~" if b"\x00" in data else b""
    return b"%b{%d}\r\n%b" % (mark, len(data), data)


def _column(section: str, show: Callable[[bytes | None], bytes], batch: Batch) -> Iterable[bytes]:
    if batch.body is None:
        raise ValueError("a plan that needs bodies was given no reader of bodies")
    return [show(content(batch.body(row.content, 0, None), section)) for row in batch.rows]


def _section(cursor: Cursor) -> str:
    start = cursor.pos
    section = read_section(cursor)
    if section.kind:
        cursor.pos = start
        cursor.fail("Only a part number can stand here")
    return section.part.decode("ascii")


def _read(cursor: Cursor, *, sets_seen: bool) -> Item:
    section = _section(cursor)
    piece = read_partial(cursor)
    label = b"BINARY[%b]" % section.encode("ascii") + (b"<%d>" % piece.start if piece else b"")
    show = partial(_show, piece)
    return Item(label, label + b" %b", partial(_column, section, show), Needs(body=True), sets_seen)


def _show(piece: Partial | None, data: bytes | None) -> bytes:
    return literal(piece.cut(data) if piece is not None and data is not None else data)


def _read_size(cursor: Cursor) -> Item:
    section = _section(cursor)
    label = b"BINARY.SIZE[%b]" % section.encode("ascii")
    show = partial(_size)
    return Item(label, label + b" %b", partial(_column, section, show), Needs(body=True))


def _size(data: bytes | None) -> bytes:
    return b"%d" % len(data or b"")


EXTENSION: Final = Extension(
    name="BINARY",
    announce=announces(b"BINARY"),
    fetch_items=(
        FetchItem(b"BINARY", partial(_read, sets_seen=True)),
        FetchItem(b"BINARY.PEEK", partial(_read, sets_seen=False)),
        FetchItem(b"BINARY.SIZE", _read_size),
    ),
    features=frozenset({Feature.BINARY_LITERALS}),
    default=False,
)
