"""Modified UTF-7, the notation of mailbox names (RFC 3501 section 5.1.3), both ways.

Rule: `decode(encode(name)) == name` for every name without control characters and lone surrogates, encode never
raises, and decode raises nothing but ParseError.
"""

import re
from base64 import b64decode, b64encode
from typing import Final

from bridge.imap.wire.errors import ParseError

_TO_SHIFT: Final = re.compile(r"[^\x20-\x7e]+|&")
_SHIFT: Final = re.compile(rb"&([A-Za-z0-9+,]*)-")
_PLAIN: Final = re.compile(rb"[\x20-\x25\x27-\x7e]*")


def encode(name: str) -> bytes:
    """The name as it goes on the wire; printable ASCII stays, "&" becomes "&-", the rest is shifted."""
    if name.isascii() and "&" not in name and name.isprintable():
        return name.encode("ascii")
    return _TO_SHIFT.sub(_shift, name).encode("ascii")


def decode(raw: bytes) -> str:
    """The text of a name from the wire.

    Two shifts in a row and an unusual split are accepted (they decode to one name); everything that has no single
    reading is refused: eight-bit bytes, an open shift, odd bits, lone surrogates, ASCII written in base64. Control
    characters are refused too: no mailbox name can hold them without spoiling a listing.
    """
    pieces: list[str] = []
    position = 0
    while position < len(raw):
        plain = _PLAIN.match(raw, position)
        if plain and plain.end() > position:
            pieces.append(plain[0].decode("ascii"))
            position = plain.end()
            continue
        shift = _SHIFT.match(raw, position)
        if not shift:
            raise _not_utf7(position)
        pieces.append(_unshift(shift[1], position))
        position = shift.end()
    return "".join(pieces)


def decode_lenient(raw: bytes) -> str:
    """For LIST patterns: what cannot be decoded stays as written, so that it matches no mailbox, without error."""
    try:
        return decode(raw)
    except ParseError:
        return raw.decode("latin-1")


def _shift(match: re.Match[str]) -> str:
    text = match[0]
    if text == "&":
        return "&-"
    coded = b64encode(text.encode("utf-16-be", "replace"), b"+,").rstrip(b"=")
    return f"&{coded.decode('ascii')}-"


def _unshift(coded: bytes, position: int) -> str:
    if not coded:
        return "&"
    if len(coded) % 4 == 1:
        raise _not_utf7(position)
    units = b64decode(coded + b"=" * (-len(coded) % 4), b"+,")
    if len(units) % 2 or b64encode(units, b"+,").rstrip(b"=") != coded:
        raise _not_utf7(position)
    try:
        text = units.decode("utf-16-be")
    except UnicodeDecodeError:
        raise _not_utf7(position) from None
    if any(char <= "\x7f" for char in text):
        raise _not_utf7(position)
    return text


def _not_utf7(position: int) -> ParseError:
    return ParseError("Mailbox name is not valid modified UTF-7", position, status="NO", code="CANNOT")
