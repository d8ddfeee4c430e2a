"""BINARY (RFC 3516): parts as they are meant, decoded by the server; and binary literals in APPEND (base.append)."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from bridge.imap.command import Refused
from bridge.imap.dialect import Extension, Feature, announces
from bridge.imap.items.item import Batch, FetchItem, Item, Needs
from bridge.imap.items.section import Partial, Section, Span, find_span, header_filter, read_section, render_parts
from bridge.imap.wire.codes import Code
from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.grammar import MAX_NUMBER64
from mailstore.parse import known_encoding, normalise, parse


def content(raw: bytes, section: Section) -> bytes | None:
    """The content of a part, decoded; of anything else (the whole message, a header) its bytes. None: no such part.

    Text has its lines end in CRLF (RFC 9051 section 7.5.2), unless it holds NUL and so is no text.
    Raises Refused with UNKNOWN-CTE for an encoding nobody knows (section 4.3). Sections with a word are beyond the RFC,
    which has only part numbers; other servers take them.
    """
    if section.kind or not section.part:
        return _as_it_is(raw, section)
    part = parse(raw).part(section.part.decode("ascii"))
    if part is None:
        return None
    if part.children or part.embedded is not None:
        return raw[part.body_start : part.body_end]
    if not known_encoding(part.encoding):
        raise Refused("The encoding of this part is unknown", Code.UNKNOWN_CTE.value)
    data = part.content(raw)
    return normalise(data) if part.type == "text" and b"\x00" not in data else data


def _as_it_is(raw: bytes, section: Section) -> bytes | None:
    message = parse(raw)
    if section.part:
        span = find_span(render_parts(message), section)
    else:
        stop = message.header_size if section.kind.startswith(b"HEADER") else len(raw)
        span = Span(message.header_size if section.kind == b"TEXT" else 0, stop)
    if span is None:
        return None
    data = raw[span.start : span.stop]
    return header_filter(section)(data) if section.fields else data


def literal(data: bytes | None) -> bytes:
    """A literal, with "~" where it holds NUL."""
    if data is None:
        return b"NIL"
    mark = b"~" if b"\x00" in data else b""
    return b"%b{%d}\r\n%b" % (mark, len(data), data)


def _column(section: Section, show: Callable[[bytes | None], bytes], batch: Batch) -> Iterable[bytes]:
    if batch.body is None:
        raise ValueError("a plan that needs bodies was given no reader of bodies")
    return [show(content(batch.body(row.content, 0, None), section)) for row in batch.rows]


def _read(cursor: Cursor, *, sets_seen: bool) -> Item:
    section = read_section(cursor)
    piece = _piece(cursor)
    label = b"BINARY[%b]" % section.label + (b"<%d>" % piece.start if piece else b"")
    column = partial(_column, section, partial(_show, piece))
    return Item(label, label.replace(b"%", b"%%") + b" %b", column, Needs(body=True), sets_seen)


def _piece(cursor: Cursor) -> Partial | None:
    """`<start.length>`, or `<start>` for the rest, which some clients send."""
    if not cursor.try_byte(b"<"):
        return None
    start = cursor.number64()
    length = cursor.nz_number(MAX_NUMBER64) if cursor.try_byte(b".") else MAX_NUMBER64
    cursor.byte(b">")
    return Partial(start, length)


def _show(piece: Partial | None, data: bytes | None) -> bytes:
    return literal(piece.cut(data) if piece is not None and data is not None else data)


def _read_size(cursor: Cursor) -> Item:
    section = read_section(cursor)
    label = b"BINARY.SIZE[%b]" % section.label
    return Item(label, label.replace(b"%", b"%%") + b" %b", partial(_column, section, _size), Needs(body=True))


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
