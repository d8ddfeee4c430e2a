"""BODY[...] and its elder forms RFC822, RFC822.HEADER, RFC822.TEXT (RFC 3501 sections 6.4.5 and 7.4.2).

Rule: the answer's label is the section as the client wrote it (Apple Mail drops any other), the bytes are a slice of
the stored message, and the map of its parts is made once, at append, and stored.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from bridge.imap.items.fields import FIELDS_RENDERING, are_listed, picker
from bridge.imap.items.item import Batch, BodyReader, FetchItem, Item, Needs, Row
from bridge.imap.wire import render
from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.grammar import MAX_NUMBER64
from mailstore.parse import Message, walk

PARTS_RENDERING: Final = "imap.parts.1"
MAX_PART_NUMBERS: Final = 100

_PART_NUMBER: Final = re.compile(rb"[1-9][0-9]{0,9}(?=[.\]])")
# A header field with its folds; its name is the group.
_FIELD: Final = re.compile(rb"^([^\s:]++)[ \t]*+:[^\n]*+(?>(?:\n[ \t][^\n]*+)*)(?:\n|\Z)", re.MULTILINE)
_KINDS: Final = (b"HEADER", b"HEADER.FIELDS", b"HEADER.FIELDS.NOT", b"TEXT")
_PART_KINDS: Final = (*_KINDS, b"MIME")


@dataclass(frozen=True, slots=True)
class Section:
    """A section-spec: `part` as text ("" for the message, "2.1"), `kind` one of b"", HEADER, HEADER.FIELDS,
    HEADER.FIELDS.NOT, TEXT, MIME, and the field names as written."""

    part: bytes = b""
    kind: bytes = b""
    fields: tuple[bytes, ...] = ()

    @property
    def label(self) -> bytes:
        """What stands between the brackets, the field list as the client wrote it."""
        words = b".".join(filter(None, (self.part, self.kind)))
        if not self.fields:
            return words
        return words + b" " + render.parenthesised(map(render.astring, self.fields))


_WHOLE: Final = Section()


@dataclass(frozen=True, slots=True)
class Partial:
    """`<start.length>`, in octets of the section."""

    start: int
    length: int

    def cut(self, data: bytes) -> bytes:
        return data[self.start : self.start + self.length]


@dataclass(frozen=True, slots=True)
class Span:
    """Where bytes stand in the stored message."""

    start: int
    stop: int


# Reading


def read_section(cursor: Cursor) -> Section:
    """`[` section-spec `]`."""
    cursor.byte(b"[")
    part = _read_part(cursor)
    kind: bytes = b""
    fields: tuple[bytes, ...] = ()
    if cursor.peek() != b"]":
        kind = cursor.try_word(*(_PART_KINDS if part else _KINDS)) or b""
        if not kind:
            cursor.fail("Unknown section")
        if kind.startswith(b"HEADER.FIELDS"):
            cursor.sp()
            fields = tuple(cursor.parenthesised(cursor.astring))
    elif part.endswith(b"."):
        cursor.fail("Unknown section")
    cursor.byte(b"]")
    return Section(part.rstrip(b"."), kind, fields)


def _read_part(cursor: Cursor) -> bytes:
    """The part number with the dot that follows it, if one does."""
    start = cursor.pos
    numbers = 0
    while cursor.match(_PART_NUMBER):
        numbers += 1
        if not cursor.try_byte(b"."):
            break
    if numbers > MAX_PART_NUMBERS:
        cursor.fail("Part number too deep")
    return cursor.text[start : cursor.pos]


def read_partial(cursor: Cursor) -> Partial | None:
    """`<start.length>`, if it is there; the length is at least 1. Both may have 63 bits (RFC 9051 appendix D)."""
    if not cursor.try_byte(b"<"):
        return None
    start = cursor.number64()
    cursor.byte(b".")
    length = cursor.nz_number(MAX_NUMBER64)
    cursor.byte(b">")
    return Partial(start, length)


def _read_body(cursor: Cursor, *, sets_seen: bool) -> Item:
    section = read_section(cursor)
    return section_item(section, read_partial(cursor), sets_seen=sets_seen)


def section_item(section: Section, partial_: Partial | None, *, sets_seen: bool) -> Item:
    """BODY[section]<origin>."""
    origin = b"<%d>" % partial_.start if partial_ else b""
    label = b"BODY[%b]%b" % (section.label, origin)
    return _item(label, section, partial_, sets_seen=sets_seen)


def _item(label: bytes, section: Section, partial_: Partial | None, *, sets_seen: bool) -> Item:
    needs = _needs(section)
    listed = _is_listed(section)
    return Item(
        label=label,
        template=label.replace(b"%", b"%%") + b" %b",
        column=partial(_listed_column, section, partial_, picker(section.fields))
        if listed
        else partial(_column, section, partial_),
        needs=needs,
        sets_seen=sets_seen,
        octets=partial(_octets, section, partial_) if needs.body else None,
    )


def _needs(section: Section) -> Needs:
    if section.part:
        return Needs(body=True, renderings=(PARTS_RENDERING,))
    if _is_listed(section):
        return Needs(renderings=(FIELDS_RENDERING,))
    if section.kind.startswith(b"HEADER"):
        return Needs(header=True)
    return Needs(body=True)


def _is_listed(section: Section) -> bool:
    """Whether the section is some of the header fields that are stored apart."""
    return not section.part and section.kind == b"HEADER.FIELDS" and are_listed(section.fields)


# Rendering


def _column(section: Section, partial_: Partial | None, batch: Batch) -> Iterable[bytes]:
    if not section.part and section.kind.startswith(b"HEADER"):
        return _header_column(section, partial_, batch.rows)
    return map(_literal, _octets(section, partial_, batch))


def _octets(section: Section, partial_: Partial | None, batch: Batch) -> list[bytes | None]:
    """What of the message the client asked for; None where it has no such part."""
    if batch.body is None:
        raise ValueError("a plan that needs bodies was given no reader of bodies")
    if partial_ is None and section == _WHOLE:
        body = batch.body
        return [body(content, 0, None) for content in batch.contents or [row.content for row in batch.rows]]
    find = _finder(section, batch)
    wanted = header_filter(section) if section.fields else None
    return [_read(batch.body, row, find(row, at), partial_, wanted) for at, row in enumerate(batch.rows)]


def _listed_column(
    section: Section, partial_: Partial | None, pick: Callable[[Iterable[bytes]], list[bytes]], batch: Batch
) -> list[bytes]:
    """From the fields stored apart; from the message where they could not be."""
    all_stored = batch.rendering(FIELDS_RENDERING)
    if all(all_stored):
        chosen = pick(all_stored)
        if partial_ is None:
            return [b"{%d}\r\n%b" % (len(data), data) for data in chosen]  # no field is stored that has a NUL
    elif (body := batch.body) is None:
        raise ValueError("a plan that needs rows was given no reader of bodies")
    else:
        wanted = header_filter(section)
        chosen = [
            pick((stored,))[0] if stored else wanted(body(row.content, 0, row.header_size))
            for row, stored in zip(batch.rows, all_stored, strict=True)
        ]
    return [render.literal(partial_.cut(data) if partial_ else data) for data in chosen]


def _header_column(section: Section, partial_: Partial | None, rows: Sequence[Row]) -> list[bytes]:
    headers = (row.header or b"" for row in rows)
    wanted = header_filter(section) if section.fields else None
    chosen = map(wanted, headers) if wanted else headers
    return [render.literal(partial_.cut(data) if partial_ else data) for data in chosen]


def _finder(section: Section, batch: Batch) -> Callable[[Row, int], Span | None]:
    """Where the section is in each message of the batch; None: the message has no such part."""
    if section.part:
        maps = batch.rendering(PARTS_RENDERING)
        return lambda row, at: find_span(maps[at], section)
    if section.kind == b"TEXT":
        return lambda row, at: Span(row.header_size, row.size)
    return lambda row, at: Span(0, row.size)


def _read(
    body: BodyReader, row: Row, span: Span | None, partial_: Partial | None, wanted: Callable[[bytes], bytes] | None
) -> bytes | None:
    if span is None:
        return None
    if wanted is not None:
        data = wanted(body(row.content, span.start, span.stop - span.start))
        return partial_.cut(data) if partial_ else data
    start, stop = span.start, span.stop
    if partial_:
        start = min(start + partial_.start, stop)
        stop = min(start + partial_.length, stop)
    return body(row.content, start, stop - start) if stop > start else b""


def _literal(data: bytes | None) -> bytes:
    """Always a literal: client libraries look for message data there and nowhere else."""
    return b"NIL" if data is None else render.literal(data)


def header_filter(section: Section) -> Callable[[bytes], bytes]:
    """Header block to the wanted fields, in the header's order, and the closing empty line."""
    names = frozenset(name.lower() for name in section.fields)
    if section.kind == b"HEADER.FIELDS":
        return lambda header: b"".join([f[0] for f in _FIELD.finditer(header) if f[1].lower() in names]) + b"\r\n"
    return lambda header: _FIELD.sub(lambda f: b"" if f[1].lower() in names else f[0], header)


# The map of parts


def render_parts(message: Message) -> bytes:
    """One line a part: number, start of its MIME header, its end (start of the body), end of the body, and for an
    enclosed message the end of that message's header (its start is the body's). Offsets into the whole message."""
    lines: dict[str, bytes] = {}
    for part in walk(message.root):
        if not part.section or part.section in lines:
            continue
        line = b"%b %d %d %d" % (part.section.encode("ascii"), part.start, part.header_end, part.body_end)
        if part.embedded is not None:
            line += b" %d" % (part.embedded.root.header_end)
        lines[part.section] = line
    return b"\n".join(lines.values())


def find_span(parts: bytes, section: Section) -> Span | None:
    """Look a section with a part number up in the map. None: there is no such part, or it has no such piece."""
    line = re.search(rb"^%b ([0-9 ]+)$" % re.escape(section.part), parts, re.MULTILINE)
    if line is None:
        return None
    start, body, stop, *inner = map(int, line[1].split())
    if section.kind == b"MIME":
        return Span(start, body)
    if not section.kind:
        return Span(body, stop)
    if not inner:
        return None
    return Span(inner[0], stop) if section.kind == b"TEXT" else Span(body, inner[0])


def _elder(name: bytes, section: Section, *, sets_seen: bool) -> FetchItem:
    item = _item(name, section, None, sets_seen=sets_seen)
    return FetchItem(name, lambda cursor: item)


ITEMS: Final[tuple[FetchItem, ...]] = (
    FetchItem(b"BODY.PEEK", partial(_read_body, sets_seen=False)),
    _elder(b"RFC822", Section(), sets_seen=True),
    _elder(b"RFC822.HEADER", Section(kind=b"HEADER"), sets_seen=False),
    _elder(b"RFC822.TEXT", Section(kind=b"TEXT"), sets_seen=True),
)


def read_body_section(cursor: Cursor) -> Item:
    """`BODY[...]`, which marks the message read; for `BODY` alone see `structure`."""
    return _read_body(cursor, sets_seen=True)
