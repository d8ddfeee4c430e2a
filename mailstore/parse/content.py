"""Content-Transfer-Encoding undone (RFC 2045, 6).

One rule: damaged input gives what can be read of it, in one pass; nothing here raises.
"""

import binascii
import re

_NOT_BASE64 = bytes(b for b in range(256) if not (b < 128 and (chr(b).isalnum() or chr(b) in "+/=")))
_UU_BEGIN = re.compile(rb"begin [0-7]{3,4} [^\r\n]*(?:\r\n|\n|\Z)")


def decode_transfer(data: bytes, encoding: str) -> bytes:
    """The bytes that `data` stands for; an unknown encoding leaves them as they are."""
    if encoding == "base64":
        return _base64(data)
    if encoding == "quoted-printable":
        return _quoted_printable(data)
    if encoding in ("x-uuencode", "uuencode", "x-uue"):
        return _uuencode(data)
    return data


def known_encoding(encoding: str) -> bool:
    """Whether `decode_transfer` knows this encoding (BINARY answers UNKNOWN-CTE when not)."""
    return encoding in (
        "7bit", "8bit", "binary", "base64", "quoted-printable", "x-uuencode", "uuencode", "x-uue",
    )  # packed, to be seen at a glance  # fmt: skip


def _base64(data: bytes) -> bytes:
    clean = data.translate(None, _NOT_BASE64)
    if b"=" not in clean.rstrip(b"="):
        return _quads(clean.rstrip(b"="))
    return b"".join(_quads(piece) for piece in clean.split(b"="))  # several encoded runs pasted together


def _quads(piece: bytes) -> bytes:
    if len(piece) % 4 == 1:
        piece = piece[:-1]
    return binascii.a2b_base64(piece + b"=" * (-len(piece) % 4))


def _quoted_printable(data: bytes) -> bytes:
    """Blanks at a line's end were added in transit (RFC 2045, 6.7, rule 3)."""
    if b" \r\n" in data or b"\t\r\n" in data or data[-1:] in (b" ", b"\t"):
        data = b"\r\n".join(line.rstrip(b" \t") for line in data.split(b"\r\n"))
    return binascii.a2b_qp(data)


def _uuencode(data: bytes) -> bytes:
    begin = _UU_BEGIN.search(data)
    if begin is None:
        return data
    out: list[bytes] = []
    for line in data[begin.end() :].splitlines():
        if line.strip() in (b"end", b"`", b""):
            break
        try:
            out.append(binascii.a2b_uu(line))
        except binascii.Error:
            break
    return b"".join(out)
