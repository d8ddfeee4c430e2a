"""Cuts a client's bytes into commands before any grammar sees them (RFC 3501 section 2.2, RFC 7888, RFC 3516).

The framer knows lines and literals and owns every limit; nothing else counts bytes. Its rule: whatever the peer
sends and however it is chunked, the place where the next command starts is the same, and memory stays bounded.

Decisions it records:
* A line ends with LF; one CR before it belongs to the end. A bare LF is therefore an end too, a bare CR is not.
* An empty line between commands is passed over (iOS sends one after an APPEND).
* `{n}` announces a literal only at the end of a line and outside a quoted string: `"x {3}` is a broken line of its
  own, not the start of three bytes.
* A literal is handed on as one NUL in the command's text. A NUL in the peer's text refuses the command, so the mark
  cannot be forged. Inside literals NUL may occur; readers that mind refuse it.
* A command over a limit is skipped to its true end, through all its literals, and refused once, with its tag.
* A literal whose length cannot be known (`{+5}`, `{-1}`) ends the connection: any other reading lets a peer smuggle.
"""

import re
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from bridge.imap.wire.cursor import Blob, Cursor, Literal
from bridge.imap.wire.grammar import (
    BROKEN_LITERAL_END,
    COMMAND,
    LITERAL_END,
    LITERAL_MARK,
    QUOTES_CLOSED,
    TAG,
)

TAKES_MESSAGES: Final = frozenset({b"APPEND", b"REPLACE", b"UID REPLACE"})
"""The commands whose literals are messages, and may be large."""


class Need(Enum):
    """The value that says: no event without further bytes."""

    MORE = "more"


NEED_MORE: Final = Need.MORE


class Fault(Enum):
    """Why a command was refused."""

    SYNTAX = "syntax"
    NUL = "nul"
    LINE = "line"
    LITERAL = "literal"
    UNKNOWN_LENGTH = "unknown length"
    TLS = "tls"


@dataclass(frozen=True, slots=True)
class FramerLimits:
    """Sizes in bytes. `line` is one line of a command, `command` all its lines and the literals kept in memory,
    `literal` one literal outside APPEND, `append` one literal of APPEND, `appends` all
    of one APPEND, `nonsync` one `{n+}` (RFC 7888 LITERAL-: 4096;
    None: no limit of its own), `before_login` everything of one command of a peer who has not logged in."""

    line: int = 64 * 1024
    command: int = 512 * 1024
    literal: int = 64 * 1024
    append: int = 50 * 1024 * 1024
    appends: int = 200 * 1024 * 1024
    stream_above: int = 256 * 1024
    nonsync: int | None = None
    before_login: int = 8 * 1024


@dataclass(slots=True)
class Frame:
    """One whole command. `name` is upper-case, "UID FETCH" being one name; the cursor stands right behind it."""

    tag: bytes
    name: bytes
    cursor: Cursor


@dataclass(frozen=True, slots=True)
class Continue:
    """The peer waits for "+ " before it sends `size` bytes."""

    tag: bytes | None
    size: int


@dataclass(frozen=True, slots=True)
class Refused:
    """A command that will not become a frame. Answer `tag status [code] text`; with `fatal`, say BYE and close."""

    tag: bytes | None
    fault: Fault
    text: str
    status: str = "BAD"
    code: str | None = None
    fatal: bool = False


@dataclass(frozen=True, slots=True)
class BlobStart:
    """A literal of APPEND that is not kept in memory begins; its bytes follow as chunks. `number` counts from 0
    within the command and comes back as `Blob(number, size)` where the cursor reads the literal."""

    tag: bytes
    number: int
    size: int
    binary: bool


@dataclass(frozen=True, slots=True)
class BlobChunk:
    number: int
    data: bytes


@dataclass(frozen=True, slots=True)
class BlobEnd:
    number: int


Event = Frame | Continue | Refused | BlobStart | BlobChunk | BlobEnd

_QUOTE_STEP: Final = re.compile(rb'\\.|["\\]', re.DOTALL)


class _Skipped:
    """What must be remembered of an over-long line: whether a quote is open, and its last bytes."""

    __slots__ = ("_escaped", "_quoted", "_tail")

    def __init__(self) -> None:
        self._quoted = False
        self._escaped = False
        self._tail = b""

    def add(self, data: bytes) -> None:
        start = 1 if self._escaped and data else 0
        self._escaped = self._escaped and not data
        for step in _QUOTE_STEP.finditer(data, start):
            token = step[0]
            if token == b'"':
                self._quoted = not self._quoted
            elif self._quoted and token == b"\\":
                self._escaped = True
            elif not self._quoted and token == b'\\"':
                self._quoted = True
        self._tail = (self._tail + data)[-64:]

    def end(self) -> bytes | None:
        """The end of the line as far as a literal may stand there; None within a quoted string."""
        return None if self._quoted else self._tail.removesuffix(b"\r")


@dataclass(slots=True)
class _Partial:
    """The command under way: its text so far, its literals, and why it will be refused, if so."""

    text: bytearray = field(default_factory=bytearray)
    literals: list[Literal] = field(default_factory=list)
    held: int = 0
    streamed: int = 0
    blobs: int = 0
    tag: bytes | None = None
    append: bool = False
    fault: Refused | None = None
    skipped: _Skipped | None = None


class Framer:
    """Feed bytes in, take events out: `next()` for commands, `next_line()` where a continuation line is due.

    It never looks beyond the event it returns, so the reader may change its mind (IDLE, AUTHENTICATE, STARTTLS)
    after any event; `take_rest()` gives what has arrived beyond it.
    """

    __slots__ = (
        "_authenticated",
        "_blob",
        "_buffer",
        "_events",
        "_fresh",
        "_literal",
        "_literal_left",
        "_over",
        "_partial",
        "_searched",
        "_start",
        "limits",
        "utf8",
    )

    def __init__(self, limits: FramerLimits | None = None) -> None:
        self.limits = limits or FramerLimits()
        self.utf8 = False
        self._authenticated = False
        self._buffer = bytearray()
        self._start = 0
        self._searched = 0
        self._partial = _Partial()
        self._literal_left = 0
        self._literal: tuple[int, bool] | None = None
        self._blob: int | None = None
        self._fresh = True
        self._over = False
        self._events: list[Event] = []

    def set_authenticated(self, authenticated: bool) -> None:
        """Lift or impose the limit for peers who have not logged in."""
        self._authenticated = authenticated

    def feed(self, data: bytes) -> None:
        """Take bytes from the peer. Amortised linear, whatever the chunks. After a fatal refusal they are dropped."""
        if self._over:
            return
        if self._start:
            del self._buffer[: self._start]
            self._searched -= self._start
            self._start = 0
        self._buffer += data

    @property
    def buffered(self) -> int:
        """Bytes that wait to be cut; the transport stops reading when this grows."""
        return len(self._buffer) - self._start

    @property
    def in_command(self) -> bool:
        """Whether a command is under way (a literal is due, or a line is incomplete)."""
        return self._midway() or self.buffered > 0

    def take_rest(self) -> bytes:
        """Everything not yet cut, and forget it (STARTTLS: there must be none; COMPRESS: it is of the new layer)."""
        rest = bytes(self._buffer[self._start :])
        self._buffer.clear()
        self._start = self._searched = 0
        return rest

    def next(self) -> Event | Need:
        """The next event, or NEED_MORE."""
        if self._events:
            return self._events.pop(0)
        if not self._buffer and self._literal is None:
            return NEED_MORE
        while True:
            if self._literal is not None:
                event = self._take_literal()
            elif self._literal_left:
                event = self._skip_literal()
            else:
                event = self._take_line()
            if event is not None:
                return event

    def next_line(self) -> bytes | Refused | Need:
        """A bare line (without its end) where the grammar has no command: DONE, a SASL response, also an empty one."""
        line = self._cut_line(self._line_limit())
        if line is None:
            if self.buffered > self._line_limit():
                return self._end(None, Fault.LINE, "Line too long")
            return NEED_MORE
        return line

    # Lines

    def _take_line(self) -> Event | Need | None:
        partial = self._partial
        # A TLS client on the plain port sends a handshake record first; say so instead of waiting for a line.
        if self._fresh and self._buffer.startswith(b"\x16\x03"):
            return self._end(None, Fault.TLS, "This port speaks STARTTLS, not TLS from the start")
        line = self._cut_line(self._line_limit())
        if line is None:
            if self.buffered <= self._line_limit() and partial.skipped is None:
                return NEED_MORE
            return self._skip_line()
        if partial.skipped is not None:
            partial.skipped.add(line)
            end = partial.skipped.end()
            partial.skipped = None
            return self._end_line(end)
        if self._midway():
            return self._next_line_of_command(line)
        self._fresh = False
        if not line:
            return None
        if not line.endswith(b"}") and b"\x00" not in line:
            return self._frame(line, [])
        return self._first_line(line)

    def _cut_line(self, limit: int) -> bytes | None:
        """The next line within the limit, or None; a longer one is left where it is."""
        end = self._buffer.find(b"\n", max(self._start, self._searched))
        if end < 0:
            self._searched = len(self._buffer)
            return None
        if end - self._start > limit:
            self._searched = self._start
            return None
        stop = end - 1 if end > self._start and self._buffer[end - 1] == 13 else end
        line = bytes(self._buffer[self._start : stop])
        self._advance(end + 1)
        return line

    def _advance(self, start: int) -> None:
        self._start = self._searched = start
        if start == len(self._buffer):
            self._buffer.clear()
            self._start = self._searched = 0

    def _first_line(self, line: bytes) -> Event | Need | None:
        tag = TAG.match(line)
        head = COMMAND.match(line)
        self._partial.tag = tag[0] if tag and line[tag.end() : tag.end() + 1] in (b" ", b"") else None
        self._partial.append = head is not None and head[2].upper() in TAKES_MESSAGES
        return self._next_line_of_command(line)

    def _next_line_of_command(self, line: bytes) -> Event | Need | None:
        partial = self._partial
        if LITERAL_MARK in line:
            self._fault(Fault.NUL, "NUL is not allowed outside literals")
        self._hold(len(line))
        if partial.fault is None:
            partial.text += line
        end = line if line.endswith(b"}") and QUOTES_CLOSED.fullmatch(line) else None
        return self._end_line(end)

    def _end_line(self, end: bytes | None) -> Event | Need | None:
        """A line of a command is complete; `end` is its tail if a literal may be announced there."""
        literal = LITERAL_END.search(end) if end else None
        if literal and end:
            return self._announce(literal, len(end))
        if end and BROKEN_LITERAL_END.search(end):
            return self._end(self._partial.tag, Fault.UNKNOWN_LENGTH, "Literal of unknown length")
        if self._partial.fault is not None:
            return self._finish_refused(self._partial.fault)
        text, literals = bytes(self._partial.text), self._partial.literals
        self._partial = _Partial()
        return self._frame(text, literals)

    def _skip_line(self) -> Event | Need | None:
        """Drop what has come of an over-long line, remembering only what its end will mean."""
        partial = self._partial
        if partial.skipped is None:
            if not self._midway():
                self._fresh = False
                tag = TAG.match(self._buffer, self._start, self._start + min(256, self._line_limit()))
                known = tag is not None and self._buffer[tag.end() : tag.end() + 1] == b" "
                partial.tag = bytes(tag[0]) if tag and known else None
            self._fault(Fault.LINE, "Command line too long")
            partial.skipped = _Skipped()
        newline = self._buffer.find(b"\n", self._start)
        stop = len(self._buffer) if newline < 0 else newline
        partial.skipped.add(bytes(self._buffer[self._start : stop]))
        self._advance(stop)
        if newline < 0:
            return NEED_MORE
        self._advance(self._start + 1)
        end = partial.skipped.end()
        partial.skipped = None
        return self._end_line(end)

    def _frame(self, text: bytes, literals: list[Literal]) -> Event:
        head = COMMAND.match(text)
        if head is not None:
            return Frame(head[1], head[2].upper(), Cursor(text, head.end(), literals, utf8=self.utf8))
        tag = TAG.match(text)
        if tag is None or text[tag.end() : tag.end() + 1] not in (b" ", b""):
            return Refused(None, Fault.SYNTAX, "Invalid tag")
        return Refused(tag[0], Fault.SYNTAX, "Missing or invalid command name")

    # Literals

    def _announce(self, match: re.Match[bytes], length: int) -> Event | Need | None:
        partial = self._partial
        binary, size, nonsync = bool(match[1]), int(match[2]), bool(match[3])
        self._check_literal(size, nonsync)
        if partial.fault is not None:
            if not nonsync:
                return self._finish_refused(partial.fault)
            self._literal_left = size
            return None
        del partial.text[len(partial.text) - (length - match.start()) :]
        partial.text += b"~\x00" if binary else LITERAL_MARK
        tag = partial.tag or b""
        if partial.append and size + partial.held > self.limits.stream_above:
            self._blob = partial.blobs
            partial.blobs += 1
            partial.streamed += size
            partial.literals.append(Blob(self._blob, size))
            self._literal_left = size
            self._events.append(BlobStart(tag, self._blob, size, binary))
        else:
            self._literal = (size, binary)
        if not nonsync:
            self._events.append(Continue(partial.tag, size))
        return self._events.pop(0) if self._events else None

    def _check_literal(self, size: int, nonsync: bool) -> None:
        partial, limits = self._partial, self.limits
        if partial.tag is None:
            self._fault(Fault.SYNTAX, "Invalid tag")
        limit = min(limits.append, limits.appends - partial.streamed) if partial.append else limits.literal
        if not self._authenticated:
            limit = min(limit, limits.before_login - partial.held)
        elif not partial.append:
            limit = min(limit, limits.command - partial.held)
        if nonsync and limits.nonsync is not None:
            limit = min(limit, limits.nonsync)
        if size > limit:
            self._fault(Fault.LITERAL, "Literal too large", status="NO", code="TOOBIG")

    def _take_literal(self) -> Event | Need | None:
        assert self._literal is not None
        size, _ = self._literal
        if self.buffered < size:
            return NEED_MORE
        self._partial.literals.append(bytes(self._buffer[self._start : self._start + size]))
        self._hold(size)
        self._literal = None
        self._advance(self._start + size)
        return None

    def _skip_literal(self) -> Event | Need | None:
        """Bytes of a literal that is not kept: handed on as chunks of a blob, or dropped."""
        size = min(self._literal_left, self.buffered)
        if not size:
            return NEED_MORE
        data = bytes(self._buffer[self._start : self._start + size]) if self._blob is not None else b""
        self._literal_left -= size
        self._advance(self._start + size)
        if self._blob is None:
            return None
        number = self._blob
        if not self._literal_left:
            self._blob = None
            self._events.append(BlobEnd(number))
        return BlobChunk(number, data)

    # The command under way

    def _midway(self) -> bool:
        partial = self._partial
        return bool(partial.text) or partial.fault is not None

    def _line_limit(self) -> int:
        return self.limits.line if self._authenticated else min(self.limits.line, self.limits.before_login)

    def _hold(self, size: int) -> None:
        partial = self._partial
        partial.held += size
        limit = self.limits.command if self._authenticated else self.limits.before_login
        if partial.held > limit:
            self._fault(Fault.LINE, "Command too long")

    def _fault(self, fault: Fault, text: str, *, status: str = "BAD", code: str | None = None) -> None:
        partial = self._partial
        if partial.fault is None:
            partial.fault = Refused(partial.tag, fault, text, status, code)
            partial.text.clear()
            partial.literals.clear()

    def _finish_refused(self, refused: Refused) -> Refused:
        self._partial = _Partial()
        return refused

    def _end(self, tag: bytes | None, fault: Fault, text: str) -> Refused:
        """The connection cannot go on: nothing that has come or will come is read as a command."""
        self._over = True
        self.take_rest()
        return self._finish_refused(Refused(tag, fault, text, fatal=True))
