"""What comes after DATA: taking the dots off, and the bytes that are not taken.

The rule: only CRLF ends a line. A bare CR or LF or a NUL means different things to different programs (smuggling), so
such mail is refused and never mended.
"""

from typing import Final

MAX_LINE: Final = 1024 * 1024  # RFC 5322 allows 998, real clients send whole paragraphs and base64 without breaks
END: Final = b"\r\n.\r\n"


def unstuff(received: bytes | bytearray) -> bytes:
    """The mail out of what was read up to and with the final CRLF.CRLF, when a CRLF was put in front of it.

    The CRLF in front makes the first line like any other: a mail may begin with a dot or be empty.
    """
    return bytes(received[: -len(END) + 2]).replace(b"\r\n.", b"\r\n")[2:]


def fault(raw: bytes) -> str | None:
    """Why these bytes are no mail, or None."""
    if b"\0" in raw:
        return "the message holds a NUL byte"
    ends = raw.count(b"\r\n")
    if raw.count(b"\n") != ends:
        return "the message holds a bare LF; lines must end with CRLF"
    if raw.count(b"\r") != ends:
        return "the message holds a bare CR; lines must end with CRLF"
    return "a line is longer than 1 MB" if _has_long_line(raw) else None


def header_of(raw: bytes) -> bytes:
    """The header: all up to the first empty line."""
    if raw.startswith(b"\r\n"):
        return b""
    end = raw.find(b"\r\n\r\n")
    return raw if end < 0 else raw[: end + 2]


def _has_long_line(raw: bytes) -> bool:
    if len(raw) <= MAX_LINE:
        return False
    start = 0
    while len(raw) - start > MAX_LINE:
        end = raw.rfind(b"\r\n", start, start + MAX_LINE + 2)
        if end < start:
            return True
        start = end + 2
    return False
