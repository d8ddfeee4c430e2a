"""Binary parts to base64, for messages that are given as binary literals (RFC 3516 section 4.4).

Rule: what is kept is mail that every client can read: no NUL, no bare line end. The content of every part stays the
same; only how it is written changes.
"""

import re
from base64 import encodebytes
from typing import Final

from mailstore.parse import Part, parse, walk

_ENCODING: Final = re.compile(rb"^content-transfer-encoding:[^\n]*\n(?:[ \t][^\n]*\n)*", re.IGNORECASE | re.MULTILINE)


def without_binary(raw: bytes) -> bytes:
    """The message with its parts of encoding "binary" in base64."""
    message = parse(raw)
    binary = [part for part in walk(message.root) if part.encoding.lower() == "binary"]
    pieces: list[bytes] = []
    at = 0
    for part in sorted(binary, key=lambda part: part.start):
        if part.start < at:  # within a part that has been written anew
            continue
        pieces += (raw[at : part.start], *_rewritten(part, raw))
        at = part.body_end if not part.children else part.header_end
    return b"".join((*pieces, raw[at:]))


def _rewritten(part: Part, raw: bytes) -> tuple[bytes, ...]:
    header = raw[part.start : part.header_end]
    if part.children:  # a multipart cannot be encoded, and need not be once its children are
        return (_ENCODING.sub(b"Content-Transfer-Encoding: 8bit\r\n", header),)
    body = encodebytes(raw[part.body_start : part.body_end]).replace(b"\n", b"\r\n")
    return _ENCODING.sub(b"Content-Transfer-Encoding: base64\r\n", header), body
