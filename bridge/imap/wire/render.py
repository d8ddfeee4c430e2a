"""Values to wire bytes: strings, names, dates, flags, sets of numbers.

Rule: what is written here can always be read back by `cursor`, holds no NUL, no bare CR or LF outside a literal and
no eight-bit byte inside quotes (unless UTF8=ACCEPT is on), and never has a doubled, leading or trailing space.
"""

import re
from collections.abc import Iterable
from datetime import date
from functools import lru_cache
from typing import Final

from bridge.imap.wire import grammar, utf7

_PLAIN: Final = re.compile(rb"[\x01-\x09\x0b\x0c\x0e-!#-\[\]-\x7f]*")  # to be quoted as it is
_QUOTABLE: Final = re.compile(rb"[\x01-\x09\x0b\x0c\x0e-\x7f]*")
_TO_ESCAPE: Final = re.compile(rb'(["\\])')
_CONTROLS: Final = re.compile(rb"[\x00-\x1f\x7f]")
_QUOTED_LIMIT: Final = 1024
_MONTH_NAMES: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_EPOCH: Final = date(1970, 1, 1).toordinal()
# Apple Mail stopped on dates before the birth of SMTP.
_OLDEST_DATE: Final = 398_044_800_000
_NEWEST_DATE: Final = 253_402_300_799_000  # the last second of a year of four digits


def quoted(raw: bytes) -> bytes:
    """A quoted string; `raw` must hold no NUL, CR, LF (see `string` for anything)."""
    return b'"' + (_TO_ESCAPE.sub(rb"\\\1", raw) if b'"' in raw or b"\\" in raw else raw) + b'"'


def literal(raw: bytes) -> bytes:
    """`{n}` CRLF and the bytes; NUL, which RFC 3501 forbids in a literal, is left out."""
    clean = unzeroed(raw)
    return b"{%d}\r\n%b" % (len(clean), clean)


def literal_parts(raw: bytes | None) -> tuple[bytes, bytes]:
    """A literal as what announces it and its bytes, which are not copied; for None `NIL` and nothing."""
    if raw is None:
        return b"NIL", b""
    clean = unzeroed(raw)
    return b"{%d}\r\n" % len(clean), clean


def unzeroed(raw: bytes) -> bytes:
    """Bytes as a literal may have them: without NUL (RFC 3501 section 9, `literal`)."""
    return raw.replace(b"\x00", b"") if b"\x00" in raw else raw


def string(raw: bytes) -> bytes:
    """Quoted where that is legal and short, a literal otherwise."""
    if len(raw) > _QUOTED_LIMIT:
        return literal(raw)
    if _PLAIN.fullmatch(raw):
        return b'"%b"' % raw
    return quoted(raw) if _QUOTABLE.fullmatch(raw) else literal(raw)


def nstring(raw: bytes | None) -> bytes:
    return b"NIL" if raw is None else string(raw)


def astring(raw: bytes) -> bytes:
    """An atom where it can be read as nothing else, a string otherwise."""
    if raw.upper() != b"NIL" and grammar.ASTRING_ATOM.fullmatch(raw):
        return raw
    return string(raw)


def mailbox_name(name: str, utf8: bool = False) -> bytes:
    """A mailbox name, always quoted (every client reads that); modified UTF-7 unless UTF8=ACCEPT is on."""
    if not utf8:
        return quoted(utf7.encode(name))
    return quoted(_CONTROLS.sub(b"", name.encode("utf-8", "replace")))


def flag_list(flags: Iterable[str]) -> bytes:
    """`(\\Seen $Label)`."""
    return b"(%b)" % " ".join(flags).encode("ascii", "replace")


def internal_date(millis: int, zone: int = 0) -> bytes:
    """`"01-Jan-2026 00:00:00 +0100"`, by a clock that many minutes ahead of UTC, quoted, the day padded with a space,
    never before 13-Aug-1982."""
    local = millis + zone * 60_000
    minutes, second = divmod(min(max(local, _OLDEST_DATE), _NEWEST_DATE) // 1000, 60)
    day, minute = divmod(minutes, 1440)
    return _day(day) + _minute(minute) + _seconds(second, zone)


# Whole mailboxes are asked for their dates, and share few days, minutes and seconds.


@lru_cache(maxsize=4096)
def _day(days: int) -> bytes:
    """The date that many days after 1970-01-01."""
    day = date.fromordinal(_EPOCH + days)
    return f'"{day.day:2d}-{_MONTH_NAMES[day.month - 1]}-{day.year:04d} '.encode("ascii")


@lru_cache(maxsize=1440)
def _minute(minutes: int) -> bytes:
    return b"%02d:%02d:" % divmod(minutes, 60)


@lru_cache(maxsize=4096)
def _seconds(seconds: int, zone: int) -> bytes:
    return b'%02d %b%02d%02d"' % (seconds, b"-" if zone < 0 else b"+", *divmod(abs(zone), 60))


def numbers(values: Iterable[int]) -> bytes:
    """Numbers with one space between: a SEARCH answer."""
    all_values = tuple(values)
    return (b" %d" * len(all_values) % all_values)[1:]


def number_set(values: Iterable[int]) -> bytes:
    """The values, in the order given, as a sequence set; runs that rise by one fold into `a:b`."""
    parts: list[str] = []
    first = last = -1
    for value in values:
        if value == last + 1 and first >= 0:
            last = value
            continue
        if first >= 0:
            parts.append(str(first) if first == last else f"{first}:{last}")
        first = last = value
    if first >= 0:
        parts.append(str(first) if first == last else f"{first}:{last}")
    return ",".join(parts).encode("ascii")


def range_set(ranges: Iterable[tuple[int, int]]) -> bytes:
    """Inclusive ranges as a sequence set."""
    return ",".join(str(first) if first == last else f"{first}:{last}" for first, last in ranges).encode("ascii")


def text(words: str) -> bytes:
    """Human-readable text of a response: one line, printable ASCII, never empty (RFC 3501 `text`)."""
    if not (words.isascii() and words.isprintable()):
        words = "".join(char if " " <= char <= "~" else "?" for char in words)
    return words.strip().encode("ascii") or b"-"


def parenthesised(parts: Iterable[bytes]) -> bytes:
    return b"(" + b" ".join(parts) + b")"
