"""The fields that IMAP's ENVELOPE, threading and sorting read from a header.

One rule: ids are found by their angle brackets over the unfolded value, because References come with commas,
without blanks, and folded after the colon.
"""

import base64
import binascii
import re
from dataclasses import dataclass
from datetime import date

from mailstore.parse.address import Address, parse_addresses
from mailstore.parse.headers import Headers, unfold

MAX_IDS = 1000
MAX_DATE = 120
_ID = re.compile(rb"<[^<>]+>")
_BLANK = re.compile(rb"[ \t]+")
_DATE = re.compile(
    rb"(?:[A-Za-z]+\.?[ \t]*,?[ \t]+|[A-Za-z]+,)?[ \t]*(\d{1,2})[ \t\-]+([A-Za-z]{3})[A-Za-z]*\.?[ \t\-]+(\d{2,4})"
    rb"(?:[ \t]+(\d{1,2})[:.](\d{1,2})(?:[:.](\d{1,2}))?)?[ \t]*([+-]\d{4}|[A-Za-z]{1,5})?"
)
_MONTHS = {m: n for n, m in enumerate((b"jan", b"feb", b"mar", b"apr", b"may", b"jun",
                                       b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"), 1)}  # packed  # fmt: skip
_ZONES = {
    b"EST": -300,
    b"EDT": -240,
    b"CST": -360,
    b"CDT": -300,
    b"MST": -420,
    b"MDT": -360,
    b"PST": -480,
    b"PDT": -420,
}
_DAY_MILLIS = 86_400_000
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_FIRST = (1 - _EPOCH_DAY) * _DAY_MILLIS  # the years 1 to 9999
_LAST = (date.max.toordinal() + 1 - _EPOCH_DAY) * _DAY_MILLIS - 1


@dataclass(frozen=True, slots=True)
class Envelope:
    """The ten fields of ENVELOPE (RFC 3501, 7.4.2): text as raw unfolded bytes, None for a missing field.

    `sender` and `reply_to` fall back to `from_`, as the RFC demands."""

    date: bytes | None
    subject: bytes | None
    from_: tuple[Address, ...]
    sender: tuple[Address, ...]
    reply_to: tuple[Address, ...]
    to: tuple[Address, ...]
    cc: tuple[Address, ...]
    bcc: tuple[Address, ...]
    in_reply_to: bytes | None
    message_id: bytes | None


def build_envelope(headers: Headers) -> Envelope:
    """The envelope of a header; never raises."""
    from_ = _addresses(headers, "from")
    return Envelope(
        date=headers.first("date"),
        subject=headers.first("subject"),
        from_=from_,
        sender=_addresses(headers, "sender") or from_,
        reply_to=_addresses(headers, "reply-to") or from_,
        to=_addresses(headers, "to"),
        cc=_addresses(headers, "cc"),
        bcc=_addresses(headers, "bcc"),
        in_reply_to=headers.first("in-reply-to"),
        message_id=headers.first("message-id"),
    )


def _addresses(headers: Headers, name: str) -> tuple[Address, ...]:
    values = headers.raw(name)
    if not values:
        return ()
    return parse_addresses(values[0] if len(values) == 1 else b",".join(values))


def message_ids(value: bytes | None) -> tuple[str, ...]:
    """Every `<...>` of a References or In-Reply-To value, in order, without repeats, blanks inside dropped.
    Of more than 1,000 the first and the last 999 are kept."""
    if not value or b"<" not in value:
        return ()
    found = dict.fromkeys(_clean(match) for match in _ID.findall(unfold(value)))
    ids = tuple(found)
    return ids if len(ids) <= MAX_IDS else (ids[0], *ids[1 - MAX_IDS :])


def _clean(match: bytes) -> str:
    if b" " in match or b"\t" in match:
        match = _BLANK.sub(b"", match)
    return match.decode("utf-8", "replace")


def own_id(value: bytes | None) -> str | None:
    """The Message-ID of a field value: the first `<...>`, else the bare word that some programs write."""
    found = _ID.search(unfold(value)) if value else None
    if found is not None:
        return _clean(found[0])
    words = unfold(value).split() if value else []
    return f"<{_clean(words[0])}>" if words else None


def thread_index(value: bytes | None) -> bytes | None:
    """The decoded Thread-Index (22 bytes name the thread, 5 more each reply); None when it is not one."""
    if not value:
        return None
    text = unfold(value).replace(b" ", b"")
    try:
        data = base64.b64decode(text + b"=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if len(data) >= 22 else None


def parse_date(value: bytes | None) -> int | None:
    """A Date value (RFC 5322, 3.3, and its obsolete forms) as UTC milliseconds; None when it is no date."""
    return parse_moment(value)[0]


def parse_moment(value: bytes | None) -> tuple[int | None, int | None]:
    """The same, and its day as written (days since 1970-01-01), by the zone if that is one in numbers."""
    match = _DATE.match(value.strip()[:MAX_DATE]) if value else None
    month = _MONTHS.get(match[2].lower()) if match else None
    if value is None or match is None or month is None:
        return None, None
    year = int(match[3])
    year += (2000 if year < 50 else 1900) if len(match[3]) <= 3 and year < 1900 else 0
    hour, minute, second = int(match[4] or 0), int(match[5] or 0), min(int(match[6] or 0), 59)
    sent = _utc_millis(year, month, int(match[1]), hour, minute, second, _offset(match[7]))
    return sent, None if sent is None else (sent + _written_zone(value)) // _DAY_MILLIS


def _utc_millis(year: int, month: int, day: int, hour: int, minute: int, second: int, offset: int) -> int | None:
    """UTC milliseconds of a time by a clock that is `offset` minutes ahead; None outside of the calendar or the day."""
    try:
        days = date(year, month, day).toordinal() - _EPOCH_DAY
    except ValueError:
        return None
    millis = days * _DAY_MILLIS + ((hour * 60 + minute - offset) * 60 + second) * 1000
    return millis if hour < 24 and minute < 60 and _FIRST <= millis <= _LAST else None


def _written_zone(value: bytes) -> int:
    """Milliseconds that the zone at the end of a Date value is ahead of UTC; 0 unless it is written in numbers."""
    written = value.partition(b"(")[0].rsplit(None, 1)
    zone = written[-1].strip() if written else b""
    if len(zone) != 5 or zone[:1] not in (b"+", b"-") or not zone[1:].isdigit():
        return 0
    minutes = int(zone[1:3]) * 60 + int(zone[3:])
    return (minutes if zone[:1] == b"+" else -minutes) * 60_000


def _offset(zone: bytes | None) -> int:
    """Minutes east of UTC; letters that name no zone are read as UTC (RFC 5322, 4.3)."""
    if not zone:
        return 0
    if zone[:1] in b"+-":
        minutes = int(zone[1:3]) * 60 + int(zone[3:5])
        return -minutes if zone[:1] == b"-" else minutes
    return _ZONES.get(zone.upper(), 0)
