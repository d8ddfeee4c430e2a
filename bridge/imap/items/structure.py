"""BODY and BODYSTRUCTURE (RFC 3501 section 7.4.2), rendered once from the part tree and stored.

Rule: every field has its place whatever the message lacks: parameters are NIL and never `()`, a multipart has at least
one child, only text and message/rfc822 parts have a line count, strings hold no line end.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from bridge.imap.items.envelope import render_envelope
from bridge.imap.items.item import FetchItem, Item, Needs, plain
from bridge.imap.items.section import read_body_section
from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.render import nstring, string
from mailstore.parse import Part

BODY_RENDERING: Final = "imap.body.1"
BODYSTRUCTURE_RENDERING: Final = "imap.bodystructure.1"

# A multipart must not be empty on the wire; this is what Dovecot shows for one that is.
_EMPTY: Final = b'("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 0 0'


def render_body(part: Part) -> bytes:
    """The form without extension data."""
    return _part(part, extended=False)


def render_bodystructure(part: Part) -> bytes:
    """The form with MD5 (or parameters of a multipart), disposition, language and location."""
    return _part(part, extended=True)


def _part(part: Part, *, extended: bool) -> bytes:
    if part.type == "multipart":
        return _multipart(part, extended=extended)
    embedded = part.embedded if part.subtype == "rfc822" else None
    fields = [
        *_media_type(part),
        _single_params(part),
        nstring(part.content_id or None),
        nstring(part.description or None),
        _text(part.encoding),
        b"%d" % part.size,
    ]
    if embedded is not None:
        fields += [render_envelope(embedded.envelope), _part(embedded.root, extended=extended)]
    if part.type == "text" or embedded is not None:
        fields.append(b"%d" % part.lines)
    if extended:
        fields += [nstring(part.md5 or None), *_extension(part)]
    return b"(" + b" ".join(fields) + b")"


def _multipart(part: Part, *, extended: bool) -> bytes:
    children = b"".join(_part(child, extended=extended) for child in part.children)
    if not children:
        children = _EMPTY + (b" NIL NIL NIL NIL)" if extended else b")")
    fields = [children, _text(part.subtype)]
    if extended:
        fields += [_params(part.params), *_extension(part)]
    return b"(" + b" ".join(fields) + b")"


def _media_type(part: Part) -> tuple[bytes, bytes]:
    """A message/rfc822 nested too deep to be opened must not look like one: an envelope would have to follow."""
    if part.media_type == "message/rfc822" and part.embedded is None:
        return b'"application"', b'"octet-stream"'
    return _text(part.type), _text(part.subtype)


def _single_params(part: Part) -> bytes:
    """A text part always names its charset; clients guess wildly where it is missing (RFC 2045 section 5.2)."""
    if part.type == "text" and not any(name.lower().startswith(b"charset") for name, _ in part.params):
        return _params((*part.params, (b"charset", b"us-ascii")))
    return _params(part.params)


def _extension(part: Part) -> Iterable[bytes]:
    yield _disposition(part)
    yield _languages(part.language)
    yield nstring(part.location or None)


def _disposition(part: Part) -> bytes:
    kind = (part.disposition or "").strip('"')
    return b"(%b %b)" % (_text(kind), _params(part.disposition_params)) if kind else b"NIL"


def _languages(tags: Sequence[bytes]) -> bytes:
    if not tags:
        return b"NIL"
    return b"(" + b" ".join(map(string, tags)) + b")"


def _params(params: Sequence[tuple[bytes, bytes]]) -> bytes:
    if not params:
        return b"NIL"
    return b"(" + b" ".join(string(name) + b" " + string(value) for name, value in params) + b")"


def _text(value: str) -> bytes:
    return string(value.encode("latin-1", "replace"))


_BODY: Final = Item(
    label=b"BODY",
    template=b"BODY %b",
    column=lambda batch: batch.rendering(BODY_RENDERING),
    needs=Needs(renderings=(BODY_RENDERING,)),
)


def _read_body(cursor: Cursor) -> Item:
    """`BODY` alone is the structure, `BODY[` a section."""
    return read_body_section(cursor) if cursor.peek() == b"[" else _BODY


ITEMS: Final[tuple[FetchItem, ...]] = (
    FetchItem(b"BODY", _read_body),
    plain(
        b"BODYSTRUCTURE",
        lambda batch: batch.rendering(BODYSTRUCTURE_RENDERING),
        Needs(renderings=(BODYSTRUCTURE_RENDERING,)),
    ),
)
