"""PREVIEW (RFC 8970): the first words of a message, without markup and blanks; of an agent's mail, the outcome.

Made when it is asked for, from the first part that is text; a part that is not known to be text gives nothing.
"""

import re
from collections.abc import Iterable
from typing import Final

from bridge.imap.dialect import Extension, announces
from bridge.imap.items.item import Batch, FetchItem, Item, Needs
from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.render import string
from mailstore.parse import Part, parse, walk
from mailstore.parse.searchable import body_text

CHARACTERS: Final = 200  # section 4.1: at most 256; clients show about this much
_LOOKED_AT: Final = 20_000
_BLANKS: Final = re.compile(r"\s+")
_QUOTED: Final = re.compile(r"^>.*$", re.MULTILINE)


def preview(raw: bytes) -> bytes | None:
    """The text; None when the message has no text at all (section 4.3)."""
    message = parse(raw)
    texts = [part for part in walk(message.root) if part.type == "text" and part.disposition != "attachment"]
    part = next((part for part in texts if part.subtype == "plain"), texts[0] if texts else None)
    return None if part is None else shortened(_words(part, raw)).encode("utf-8", "replace")


def _words(part: Part, raw: bytes) -> str:
    return body_text(part, raw)[:_LOOKED_AT]


def shortened(text: str) -> str:
    """On one line and cut at the end of a word; what the writer quotes is left out when he says anything himself."""
    own = _BLANKS.sub(" ", _QUOTED.sub("", text)).strip()
    line = own or _BLANKS.sub(" ", text).strip()
    if len(line) <= CHARACTERS:
        return line
    cut = line[: CHARACTERS + 1].rpartition(" ")[0]
    return cut or line[:CHARACTERS]


def _column(batch: Batch) -> Iterable[bytes]:
    if batch.body is None:
        raise ValueError("a plan that needs bodies was given no reader of bodies")
    for row in batch.rows:
        words = preview(batch.body(row.content, 0, None))
        yield b"NIL" if words is None else string(words)


_ITEM: Final = Item(b"PREVIEW", b"PREVIEW %b", _column, Needs(body=True))


def _read(cursor: Cursor) -> Item:
    """`PREVIEW`, or `PREVIEW (LAZY)`: whoever does not want to wait gets it all the same, as it is quickly made."""
    if cursor.peek(2) == b" (":
        start = cursor.pos
        cursor.sp()
        options = cursor.parenthesised(lambda: cursor.word("a modifier"))
        if options != [b"LAZY"]:
            cursor.pos = start
            cursor.fail("Unknown modifier of PREVIEW")
    return _ITEM


EXTENSION: Final = Extension(
    name="PREVIEW",
    announce=announces(b"PREVIEW"),
    fetch_items=(FetchItem(b"PREVIEW", _read),),
    default=False,
)
