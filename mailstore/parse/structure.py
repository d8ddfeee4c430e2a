"""A message as a tree of parts with exact positions in its bytes (RFC 2045, 2046; part numbers of RFC 3501, 6.4.5).

One rule: the CRLF before a boundary line belongs to the boundary, so `raw[body_start:body_end]` is exactly what
FETCH BODY[n] answers, and its length is the size in BODYSTRUCTURE.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from mailstore.parse.charset import decode
from mailstore.parse.content import decode_transfer
from mailstore.parse.envelope import Envelope
from mailstore.parse.headers import Headers, decode_header
from mailstore.parse.parameters import Parameters, parameter, split_parameters


@dataclass(frozen=True, slots=True)
class Part:
    """One body part. Positions are offsets into the bytes of the whole (outermost) message.

    `section` is the number by which FETCH names it: a multipart root has the number of what encloses it ("" for the
    message itself), a single-part root is "1" of it.
    """

    section: str
    type: str
    subtype: str
    params: Parameters
    """Of Content-Type, as written but unquoted and on one line: ((b"charset", b"utf-8"), ...)."""
    encoding: str
    """Content-Transfer-Encoding in small letters; "7bit" when the field is missing."""
    headers: Headers
    """The fields of this part; for a root those of its message."""
    start: int
    header_end: int
    body_start: int
    body_end: int
    lines: int
    """Line ends in the body (what BODYSTRUCTURE wants for text and message/rfc822)."""
    children: tuple["Part", ...] = ()
    embedded: "Message | None" = None
    """The enclosed message of a message/rfc822 part."""

    @property
    def media_type(self) -> str:
        return f"{self.type}/{self.subtype}"

    @property
    def size(self) -> int:
        """Bytes of the body as transferred."""
        return self.body_end - self.body_start

    @property
    def charset(self) -> str | None:
        """The charset parameter as written; None when there is none."""
        return parameter(self.params, "charset")

    @property
    def disposition(self) -> str | None:
        """`attachment`, `inline` ... in small letters."""
        value = self.headers.raw("content-disposition")
        main = split_parameters(value[0])[0] if value else b""
        return main.decode("latin-1").lower() or None

    @property
    def disposition_params(self) -> Parameters:
        value = self.headers.raw("content-disposition")
        return split_parameters(value[0])[1] if value else ()

    @property
    def filename(self) -> str | None:
        """The file's name, decoded (RFC 2231, and RFC 2047 where clients put it), without any folder."""
        name = parameter(self.disposition_params, "filename") or parameter(self.params, "name")
        return name.replace("\\", "/").rpartition("/")[2] or None if name else None

    @property
    def content_id(self) -> bytes | None:
        return self.headers.first("content-id")

    @property
    def description(self) -> bytes | None:
        return self.headers.first("content-description")

    @property
    def md5(self) -> bytes | None:
        return self.headers.first("content-md5")

    @property
    def location(self) -> bytes | None:
        return self.headers.first("content-location")

    @property
    def language(self) -> tuple[bytes, ...]:
        """The tags of Content-Language."""
        value = self.headers.first("content-language") or b""
        return tuple(tag for piece in value.split(b",") if (tag := piece.strip()))

    @property
    def description_text(self) -> str | None:
        return decode_header(self.description) if self.description else None

    def encoded(self, raw: bytes) -> bytes:
        """The body as transferred."""
        return raw[self.body_start : self.body_end]

    def content(self, raw: bytes) -> bytes:
        """The body with its transfer encoding undone."""
        return decode_transfer(raw[self.body_start : self.body_end], self.encoding)

    def text(self, raw: bytes) -> str:
        """The body as text; what cannot be read is replaced."""
        return self.text_checked(raw)[0]

    def text_checked(self, raw: bytes) -> tuple[str, bool]:
        """The body as text, and whether every byte was read as its label promises."""
        return decode(self.content(raw), self.charset)


@dataclass(frozen=True, slots=True)
class Head:
    """What the header of a message says to whoever keeps it: by what it is found, threaded and sorted."""

    header_size: int
    """With the empty line."""
    message_id: str | None
    in_reply_to: tuple[str, ...]
    references: tuple[str, ...]
    thread_index: bytes | None
    topic: str
    """Thread-Topic: Outlook's name of the conversation, which it keeps when the subject is changed."""
    subject: str
    base_subject: str
    sent: int | None
    """The Date field, UTC milliseconds."""
    sent_day: int | None
    """Its day as written, in its own zone; days since 1970-01-01."""


@dataclass(frozen=True, slots=True)
class Message(Head):
    """A parsed message. `size` counts from its first header byte to its end; the root part holds the positions."""

    headers: Headers
    root: Part
    size: int
    envelope: Envelope

    def part(self, section: str) -> Part | None:
        """The part that FETCH names `section` ("1", "2.1"); for message/rfc822 the part itself. None: no such part."""
        return next((part for part in walk(self.root) if part.section == section), None)


def walk(part: Part) -> Iterator[Part]:
    """`part` and everything in it, outer before inner, into enclosed messages too."""
    stack = [part]
    while stack:
        here = stack.pop()
        yield here
        if here.embedded is not None:
            stack.append(here.embedded.root)
        stack.extend(reversed(here.children))
