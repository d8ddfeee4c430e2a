"""Structured values with parameters: Content-Type, Content-Disposition (RFC 2045, 2183, 2231).

One rule: parameters are kept as written (unquoted, one line) for the wire; joining and decoding of RFC 2231
pieces is a reading of them, done on request.
"""

import re
from urllib.parse import unquote_to_bytes

from mailstore.parse.charset import decode
from mailstore.parse.headers import decode_header, unfold

Parameters = tuple[tuple[bytes, bytes], ...]

_MAIN = re.compile(rb"[^;]*")
_PARAM = re.compile(rb";[ \t]*([^\s=;\"]*)[ \t]*(?:=[ \t]*(?:\"((?:[^\"\\]|\\.)*)(?:\"|\\?\Z)|([^;]*)))?[^;]*")
_ESCAPE = re.compile(rb"\\(.)", re.DOTALL)
_TYPE = re.compile(rb"[ \t]*([!#-'*+\-.0-9A-Z^_`a-z{|}~]+)[ \t]*/[ \t]*([!#-'*+\-.0-9A-Z^_`a-z{|}~]+)")
_PIECE = re.compile(r"([^*]+)(?:\*(\d{1,4}))?(\*)?\Z")
MAX_PARAMETERS = 64


def split_parameters(value: bytes) -> tuple[bytes, Parameters]:
    """(the value before the first semicolon, its parameters as (name, value)); comments in the value are dropped.
    Of a parameter that is given twice the first holds."""
    value = unfold(value)
    if b"(" in value:
        value = _without_comments(value)
    head = _MAIN.match(value)
    main = head.group() if head else b""
    found: dict[bytes, tuple[bytes, bytes]] = {}
    for match in _PARAM.finditer(value, len(main)):
        name = match[1]
        if name and (match[2] is not None or match[3] is not None) and name.lower() not in found:
            found[name.lower()] = (name, _value(match))
        if len(found) >= MAX_PARAMETERS:
            break
    return main.strip(b" \t"), tuple(found.values())


def _value(match: re.Match[bytes]) -> bytes:
    quoted: bytes | None = match[2]
    if quoted is None:
        return match[3].strip(b" \t")
    return _ESCAPE.sub(rb"\1", quoted) if b"\\" in quoted else quoted


_COMMENT_MARK = re.compile(rb"\\.|[\"()]", re.DOTALL)


def _without_comments(value: bytes) -> bytes:
    kept: list[bytes] = []
    depth, at, quoted = 0, 0, False
    for match in _COMMENT_MARK.finditer(value):
        mark = match.group()
        if mark == b'"' and not depth:
            quoted = not quoted
        elif mark == b"(" and not quoted:
            if not depth:
                kept.append(value[at : match.start()])
            depth += 1
        elif mark == b")" and not quoted and depth:
            depth -= 1
            at = match.end()
    if depth:  # never closed: it was no comment
        kept.append(value[at:])
        return value if at == 0 else b"".join(kept)
    kept.append(value[at:])
    return b"".join(kept)


def media_type(main: bytes) -> tuple[str, str] | None:
    """("text", "plain") in small letters; None when the value names no type (`text` alone, `;;;`, nothing)."""
    match = _TYPE.match(main)
    return (match[1].decode("latin-1").lower(), match[2].decode("latin-1").lower()) if match else None


def parameter(params: Parameters, name: str) -> str | None:
    """The decoded value of parameter `name`: RFC 2231 pieces joined and decoded, else RFC 2047 words (which
    clients put there against the rules), else the text as it stands."""
    wanted = name.lower()
    pieces: list[tuple[int, bool, bytes]] = []
    for key, value in params:
        match = _PIECE.match(key.decode("latin-1").lower())
        if match and match[1] == wanted:
            if match[2] is None and match[3] is None:
                return decode_header(value)
            pieces.append((int(match[2] or 0), bool(match[3]), value))
    return _join(sorted(pieces, key=lambda piece: piece[0])) if pieces else None


def _join(pieces: list[tuple[int, bool, bytes]]) -> str:
    label: str | None = None
    data: list[bytes] = []
    for position, (_, extended, value) in enumerate(pieces):
        if extended and position == 0 and value.count(b"'") >= 2:
            charset, _, value = value.split(b"'", 2)
            label = charset.decode("latin-1") or None
        data.append(unquote_to_bytes(value) if extended else value)
    return decode(b"".join(data), label)[0]
