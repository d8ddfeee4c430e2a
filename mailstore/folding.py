"""What a message says, as text to be searched.

The rule (DECISIONS 20): text and needle are folded alike: decoded, NUL removed, NFC, casefolded, header folds to one
space. Both the text index and the scan of what is not indexed yet look at the same Document.
"""

import re
import unicodedata
from dataclasses import dataclass

from mailstore.parse import Message, parse, walk
from mailstore.parse.headers import Headers, decode_header
from mailstore.parse.searchable import body_text

MOST_ADDRESSES = 300  # of a field that are spelled out; each costs a look through the header
_FOLD = re.compile(r"[ \t]*[\r\n]+[ \t]*")


@dataclass(frozen=True, slots=True)
class Document:
    """Folded text. `head` is "\\nname: value\\nname: value\\n" of the message itself, `parts` the same of its parts."""

    head: str
    parts: str
    body: str

    def text_has(self, needle: str) -> bool:
        return needle in self.body or needle in self.head or needle in self.parts


def fold(text: str) -> str:
    """Text or needle in the form in which they are compared."""
    text = text.replace("\0", "")
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def fold_needle(needle: str) -> str:
    """A needle as a client wrote it, perhaps broken over lines."""
    return fold(_FOLD.sub(" ", needle))


def document(raw: bytes) -> Document:
    """Read a message for searching; takes any bytes."""
    return document_of(parse(raw), raw)


def document_of(message: Message, raw: bytes) -> Document:
    """The same of a message that has been parsed."""
    embedded = _embedded_roots(message)
    parts: list[str] = []
    body: list[str] = []
    for part in walk(message.root):
        if part is not message.root:
            (body if id(part) in embedded else parts).append(_lines(part.headers))
        if part.type == "text" or (part.type == "message" and part.embedded is None):  # a delivery report is read too
            body.append(body_text(part, raw))
    return Document(_valid(fold(_head(message))), _valid(fold("".join(parts))), _valid(fold("\n".join(body))))


def field_has(head: str, name: str, needle: str) -> bool:
    """Whether a field of this name, in a document's head, contains the needle (both folded)."""
    mark = f"\n{name}:"
    at = head.find(mark)
    while at >= 0:
        end = head.find("\n", at + 1)
        if head.find(needle, at + len(mark), end if end >= 0 else len(head)) >= 0:
            return True
        at = head.find(mark, at + 1)
    return False


def _embedded_roots(message: Message) -> set[int]:
    """The header of a message within the message is text of it, unlike that of a part."""
    return {id(part.embedded.root) for part in walk(message.root) if part.embedded is not None}


def _head(message: Message) -> str:
    """The fields, and behind them the addresses that a search would miss: with comments, quotes or blanks within."""
    written = _lines(message.headers)
    envelope = message.envelope
    fields = (("From", envelope.from_), ("To", envelope.to), ("Cc", envelope.cc), ("Bcc", envelope.bcc))
    meant = [
        f"{name}: {text}\n"
        for name, addresses in fields
        for address in addresses[:MOST_ADDRESSES]
        for text in (address.display, address.spec)
        if text and text not in written
    ]
    return written + "".join(meant)


def _lines(headers: Headers) -> str:
    lines = (f"\n{name}: {_FOLD.sub(' ', decode_header(value))}" for name, value in headers)
    return "".join(lines) + "\n"


def _valid(text: str) -> str:
    """Without lone surrogates, which UTF-8 cannot hold."""
    return text.encode("utf-8", "replace").decode("utf-8")
