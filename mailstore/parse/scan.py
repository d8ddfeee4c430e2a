"""Bytes to a message: one walk forward over the boundary lines.

One rule: every position is looked at a bounded number of times, whatever is nested in what; depth and number of
parts are capped, and beyond a cap the rest is body text of the last part.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from mailstore.parse.envelope import build_envelope, message_ids, own_id, parse_moment, thread_index
from mailstore.parse.headers import Headers, decode_header, first_values, split_headers
from mailstore.parse.parameters import Parameters, media_type, parameter, split_parameters
from mailstore.parse.structure import Head, Message, Part
from mailstore.parse.subject import base_subject

MAX_DEPTH = 40
MAX_PARTS = 1000
_NO_LINE_END = bytes(byte for byte in range(256) if byte not in b"\r\n")
_BARE = re.compile(rb"\r\n|\r|\n")
_HeadFields = tuple[  # those of a Head behind its size
    str | None, tuple[str, ...], tuple[str, ...], bytes | None, str, str, str, int | None, int | None
]
_HEAD_FIELDS = ("subject", "message-id", "in-reply-to", "references", "thread-index", "thread-topic", "date")
_TEXT: tuple[str, str] = ("text", "plain")


def normalise(raw: bytes) -> bytes:
    """`raw` with every line end as CRLF and without NUL: the form in which messages are kept."""
    if b"\0" in raw:
        raw = raw.replace(b"\0", b"")
    if len(raw.translate(None, _NO_LINE_END)) == 2 * raw.count(b"\r\n"):  # each CR and each LF is of a pair
        return raw
    return _BARE.sub(b"\r\n", raw)


def parse(raw: bytes) -> Message:
    """The message in `raw` (CRLF line ends); any bytes give one."""
    return _Scanner(raw).message(0, "", 0)


def parse_head(raw: bytes) -> Head:
    """The header alone of the message in `raw`, which says just what `parse` says of it; the body is not looked at."""
    end = _Scanner(raw).header_end(0)
    return Head(end, *_read_head(first_values(raw[:end], _HEAD_FIELDS)))


def _read_head(first: Callable[[str], bytes | None]) -> _HeadFields:
    """`first` gives the first value of a header field."""
    value, topic = first("subject"), first("thread-topic")
    subject = decode_header(value) if value else ""
    return (
        own_id(first("message-id")),
        message_ids(first("in-reply-to")),
        message_ids(first("references")),
        thread_index(first("thread-index")),
        decode_header(topic) if topic else "",
        subject,
        base_subject(subject),
        *parse_moment(first("date")),
    )


def _message(headers: Headers, root: Part, start: int, header_end: int, end: int) -> Message:
    return Message(header_end - start, *_read_head(headers.first), headers, root, end - start, build_envelope(headers))


@dataclass(frozen=True, slots=True)
class _Head:
    start: int
    end: int
    headers: Headers


class _Scanner:
    """Reads forward. A boundary line is (start, end with CRLF, level of its multipart, whether it closes)."""

    __slots__ = ("blank", "dash", "levels", "parts", "raw", "size", "stack")

    def __init__(self, raw: bytes) -> None:
        self.raw, self.size = raw, len(raw)
        self.dash = -1  # where the search for boundary lines stands; -1: not begun
        self.blank = -4  # position of the last empty line found
        self.stack: list[bytes] = []
        self.levels: dict[bytes, list[int]] = {}
        self.parts = 0

    def message(self, start: int, section: str, depth: int) -> Message:
        head = self._head(start)
        if self.stack and head.end == start + 2 and self._is_boundary(start):
            head = _Head(start, start, head.headers)  # its empty line is the CRLF of the boundary around it
        root = self._part(head, section, _TEXT, depth, root=True)
        return _message(head.headers, root, start, head.end, root.body_end)

    def _head(self, start: int) -> _Head:
        end = self.header_end(start)
        return _Head(start, end, split_headers(self.raw[start:end]))

    def header_end(self, start: int) -> int:
        """Just behind the empty line that ends the header at `start`; else the next boundary line or the end."""
        raw = self.raw
        if start == 0 and raw.startswith(b"\r\n"):
            end = 2
        else:
            if self.blank < start - 2:
                found = raw.find(b"\r\n\r\n", max(start - 2, 0))
                self.blank = found if found >= 0 else self.size
            end = min(self.blank + 4, self.size)
        if self.stack:
            line = self._peek(start, end)
            if line is not None:
                return max(start, line[0] - 2)
        return end

    def _part(self, head: _Head, section: str, default: tuple[str, str], depth: int, root: bool) -> Part:
        self.parts += 1
        headers, body = head.headers, head.end
        kind, params = _content_type(headers, default)
        children: tuple[Part, ...] = ()
        embedded: Message | None = None
        boundary = _boundary(kind, params)
        if kind[0] == "multipart" and boundary and depth < MAX_DEPTH and self.parts < MAX_PARTS:
            children = self._children(body, boundary, section, kind[1], depth)
        elif kind[0] == "multipart":
            kind = _TEXT if not boundary else ("application", "octet-stream")
        number = section if not root or kind[0] == "multipart" else _under(section, 1)
        if kind in (("message", "rfc822"), ("message", "global")) and depth < MAX_DEPTH and self.parts < MAX_PARTS:
            embedded = self.message(body, number, depth + 1)
        end = self._body_end(body)
        lines = self.raw.count(b"\n", body, end)
        encoding = _encoding(headers)
        return Part(
            number, *kind, params, encoding, headers, head.start, body, body, end, lines, children, embedded
        )  # packed, to be seen at a glance  # fmt: skip

    def _children(self, at: int, boundary: bytes, section: str, subtype: str, depth: int) -> tuple[Part, ...]:
        level = len(self.stack)
        self.stack.append(boundary)
        self.levels.setdefault(boundary, []).append(level)
        default = ("message", "rfc822") if subtype == "digest" else _TEXT
        children: list[Part] = []
        line = self._peek(at, self.size)
        while line is not None and line[2] == level and not line[3]:
            start = line[1]
            self.dash = start - 2
            head = self._head(start)
            children.append(self._part(head, _under(section, len(children) + 1), default, depth + 1, root=False))
            line = self._peek(head.end, self.size)
        if line is not None and line[2] == level:
            self.dash = line[1] - 2
        self.stack.pop()
        self.levels[boundary].pop()
        return tuple(children)

    def _body_end(self, body_start: int) -> int:
        """Where the body ends: before the CRLF of the next boundary line that is open, else at the end."""
        if not self.stack:
            return self.size
        line = self._peek(body_start, self.size)
        return self.size if line is None else max(body_start, line[0] - 2)

    def _peek(self, at: int, end: int) -> tuple[int, int, int, bool] | None:
        """The next line from `at` that is a boundary of an open multipart and begins before `end`; lines that are none
        are not looked at again. It stays until its owner moves `dash` behind it."""
        raw = self.raw
        if self.dash < at - 2:
            self.dash = at - 2
        while True:
            found = raw.find(b"\r\n--", max(self.dash, 0), min(end + 4, self.size))
            if found < 0 or found + 2 >= end:
                self.dash = max(self.dash, min(end, self.size) - 2)
                return None
            stop = raw.find(b"\r\n", found + 4)
            stop = self.size if stop < 0 else stop
            level = self._level(raw[found + 4 : min(stop, found + 300)].rstrip(b" \t"))
            if level is not None and self.parts >= MAX_PARTS:
                self.dash = self.size
                return None
            if level is not None:
                self.dash = found
                return found + 2, min(stop + 2, self.size), level[0], level[1]
            self.dash = stop

    def _is_boundary(self, at: int) -> bool:
        """Whether a boundary line of an open multipart stands behind the CRLF at `at`."""
        if not self.raw.startswith(b"\r\n--", at):
            return False
        stop = self.raw.find(b"\r\n", at + 4)
        stop = self.size if stop < 0 else stop
        return self._level(self.raw[at + 4 : min(stop, at + 300)].rstrip(b" \t")) is not None

    def _level(self, text: bytes) -> tuple[int, bool] | None:
        """(level, closes) of a line `--text`; the innermost of the multiparts that it could belong to."""
        opens = self.levels.get(text)
        closes = self.levels.get(text[:-2]) if text.endswith(b"--") else None
        inner = opens[-1] if opens else -1
        outer = closes[-1] if closes else -1
        if inner < 0 and outer < 0:
            return None
        return (inner, False) if inner >= outer else (outer, True)


def _under(section: str, number: int) -> str:
    return f"{section}.{number}" if section else str(number)


def _content_type(headers: Headers, default: tuple[str, str]) -> tuple[tuple[str, str], Parameters]:
    """The first usable Content-Type; without one the default, or octet-stream for what is marked as a file."""
    values = headers.raw("content-type")
    for value in values:
        main, params = split_parameters(value)
        if kind := media_type(main):
            return kind, params
    if values:
        disposition = headers.first("content-disposition") or b""
        if disposition[:10].lower() == b"attachment":
            return ("application", "octet-stream"), ()
    return default, ()


def _encoding(headers: Headers) -> str:
    value = headers.first("content-transfer-encoding")
    if not value:
        return "7bit"
    words = value.partition(b";")[0].split()
    return words[0].decode("latin-1").strip("\"'").lower() if words else "7bit"


def _boundary(kind: tuple[str, str], params: Parameters) -> bytes | None:
    if kind[0] != "multipart":
        return None
    text = next((value for name, value in params if name.lower() == b"boundary"), None)
    if text is None and (joined := parameter(params, "boundary")):
        text = joined.encode("utf-8", "replace")
    text = (text or b"").rstrip(b" \t")
    return text if text and len(text) <= 250 else None
