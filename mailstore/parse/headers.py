"""Header fields: splitting a block into fields, unfolding, RFC 2047 words.

One rule: the bytes as written are kept; decoding happens on request, so what goes out over the wire is
what came in. Nothing here raises on any bytes, and every scan moves forward only.
"""

import binascii
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from mailstore.parse.charset import decode

MAX_FIELDS = 5000
_FIELD_BREAK = re.compile(rb"\r\n(?![ \t])")
_FOLD = re.compile(rb"\r?\n(?=[ \t])|[\r\n\0]")
_WORD = re.compile(rb"=\?([^?\s]{1,80})\?([bBqQ])\?([^?\r\n]*)\?=")
_QUOTED = re.compile(rb"=([0-9A-Fa-f]{2})")
_NOT_BASE64 = bytes(b for b in range(256) if not (chr(b).isascii() and (chr(b).isalnum() or chr(b) in "+/")))


@dataclass(frozen=True, slots=True)
class Headers:
    """The fields of one header block, in order. Names are compared without regard to case."""

    fields: tuple[tuple[str, bytes], ...] = ()
    """(name as written, value as written after the colon, folds kept)."""
    _index: dict[str, list[bytes]] = field(default_factory=dict, repr=False, compare=False)

    def raw(self, name: str) -> list[bytes]:
        """Every value of `name` as written, with its folds."""
        return self._index.get(name.lower(), [])

    def first(self, name: str) -> bytes | None:
        """The first value of `name`, unfolded and trimmed, not decoded; None when the field is missing."""
        values = self._index.get(name.lower())
        return unfold(values[0]) if values else None

    def get(self, name: str) -> str | None:
        """The first value of `name`, unfolded and decoded (RFC 2047)."""
        values = self._index.get(name.lower())
        return decode_header(values[0]) if values else None

    def all(self, name: str) -> list[str]:
        """Every value of `name`, unfolded and decoded."""
        return [decode_header(value) for value in self.raw(name)]

    def names(self) -> list[str]:
        """The names as written, in order, with repeats."""
        return [name for name, _ in self.fields]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.lower() in self._index

    def __iter__(self) -> Iterator[tuple[str, bytes]]:
        return iter(self.fields)


def split_headers(block: bytes) -> Headers:
    """The fields of `block` (CRLF lines, with or without the closing empty line).

    A line that is no field (an mbox "From " line, garbage) is passed over together with its folds.
    """
    fields: list[tuple[str, bytes]] = []
    index: dict[str, list[bytes]] = {}
    for line in _FIELD_BREAK.split(block, MAX_FIELDS)[:MAX_FIELDS]:
        name, colon, value = line.partition(b":")
        name = name.rstrip(b" \t")
        if not colon or not name or b" " in name or b"\t" in name or b"\r" in name or b"\n" in name:
            continue
        text = name.decode("latin-1")
        fields.append((text, value))
        index.setdefault(text.lower(), []).append(value)
    return Headers(tuple(fields), index)


def first_values(block: bytes, names: Collection[str]) -> Callable[[str], bytes | None]:
    """`split_headers(block).first` for these names (in small letters) alone, found in one sweep."""
    if block.count(b"\n") >= MAX_FIELDS:
        return split_headers(block).first
    found = _finder(frozenset(names))(b"\r\n" + block)
    values = {name.lower(): value for name, value in reversed(found)}

    def first(name: str) -> bytes | None:
        value = values.get(name.encode())
        return None if value is None else unfold(value)

    return first


@lru_cache(maxsize=8)
def _finder(names: frozenset[str]) -> Callable[[bytes], list[tuple[bytes, bytes]]]:
    """Finds the fields of these names, folds included; each stands behind a line end, with which it is soon found."""
    alternatives = "|".join(map(re.escape, sorted(names))).encode()
    value = rb"((?>[^\r]*(?:\r(?!\n(?![ \t]))[^\r]*)*))"
    return re.compile(rb"\r\n(%b)[ \t]*+:%b" % (alternatives, value), re.IGNORECASE).findall


def unfold(value: bytes) -> bytes:
    """One line: folds opened (RFC 5322, 2.2.3), stray CR, LF and NUL dropped, blanks at both ends trimmed."""
    if b"\n" in value or b"\r" in value or b"\0" in value:
        value = _FOLD.sub(b"", value)
    return value.strip(b" \t")


def decode_header(value: bytes) -> str:
    """Text of an unstructured field or phrase: unfolded, RFC 2047 words decoded, raw 8-bit bytes read as UTF-8
    when they are, else as Windows-1252. A word that cannot be decoded stays as written."""
    value = unfold(value)
    if b"=?" not in value:
        return decode(value, None)[0]
    return _decode_words(value)


def _decode_words(value: bytes) -> str:
    pieces: list[str] = []
    pending: tuple[str, bytes] | None = None  # bytes of adjacent words of one charset: a character may span them
    at = 0
    for match in _WORD.finditer(value):
        gap = value[at : match.start()]
        label, data = _open_word(match)
        if pending is not None and (gap.strip(b" \t") or pending[0] != label):
            pieces.append(decode(pending[1], pending[0])[0])
            pending, gap = None, gap if gap.strip(b" \t") else b""
        if pending is None:
            pieces.append(decode(gap, None)[0])
            pending = (label, data)
        else:
            pending = (label, pending[1] + data) if len(pending[1]) < 65536 else _flush(pieces, pending, label, data)
        at = match.end()
    if pending is not None:
        pieces.append(decode(pending[1], pending[0])[0])
    pieces.append(decode(value[at:], None)[0])
    return "".join(pieces)


def _flush(pieces: list[str], pending: tuple[str, bytes], label: str, data: bytes) -> tuple[str, bytes]:
    """Joining without end would copy the same bytes again and again; a subject of 64 kB is none."""
    pieces.append(decode(pending[1], pending[0])[0])
    return label, data


def _open_word(match: re.Match[bytes]) -> tuple[str, bytes]:
    label = match[1].decode("latin-1").partition("*")[0].lower()
    if match[2] in b"bB":
        return label, _base64_word(match[3])
    text = match[3].replace(b"_", b" ")
    return label, _QUOTED.sub(lambda m: binascii.unhexlify(m[1]), text)


def _base64_word(text: bytes) -> bytes:
    text = text.translate(None, _NOT_BASE64)
    text = text[: len(text) - 1] if len(text) % 4 == 1 else text
    return binascii.a2b_base64(text + b"=" * (-len(text) % 4))
