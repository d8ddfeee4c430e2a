"""A framer that is slow and obvious: it has all the bytes and walks over them once. The real one is held to it.

It says what commands a stream holds, whatever the chunks; events that only concern the transport (Continue, blobs) are
left out, a streamed literal stands as its size.
"""

import re
from dataclasses import dataclass, field

from bridge.imap.wire.cursor import Blob
from bridge.imap.wire.framer import BlobChunk, BlobEnd, BlobStart, Continue, Event, Frame, FramerLimits, Refused

TAG = re.compile(rb"[!#$&\',\-./0-9:;<=>?@A-Z\[\]^_`a-z|}~]+")
COMMAND = re.compile(TAG.pattern + rb" ((?:UID )?[A-Z][A-Z0-9.\-]*)(?=[ \x00]|$)(?!\n)", re.IGNORECASE)
Outcome = tuple[object, ...]


@dataclass
class Reference:
    """`outcomes` of a stream: ("frame", tag, name, text, literals) or ("refused", tag, fault)."""

    data: bytes
    limits: FramerLimits = field(default_factory=FramerLimits)
    at: int = 0
    outcomes: list[Outcome] = field(default_factory=list)

    def run(self) -> list[Outcome]:
        if self.data.startswith(b"\x16\x03"):
            return [("refused", None, "tls")]
        while self.command():
            pass
        return self.outcomes

    def line(self) -> bytes | None:
        end = self.data.find(b"\n", self.at)
        if end < 0:
            return None
        line = self.data[self.at : end]
        self.at = end + 1
        return line

    def command(self) -> bool:
        """Read one command; False when the stream ends within it or the connection has to."""
        text, fault, tag, held, first = b"", None, None, 0, True
        literals: list[object] = []
        append = False
        while True:
            raw = self.line()
            if raw is None:
                return False
            line = raw.removesuffix(b"\r")
            if first:
                if not line:
                    return True
                tag = self.tag(line) if len(raw) <= self.limits.line else self.tag_of_long(raw)
                head = COMMAND.match(line)
                append = head is not None and head[1].upper() == b"APPEND"
            if len(raw) > self.limits.line:
                fault = fault or "line"
                append = append and not first
            else:
                held += len(line)
                fault = fault or ("nul" if b"\x00" in line else None)
                fault = fault or ("line" if held > self.limits.command else None)
            first = False
            found = re.search(rb"(~?)\{([0-9]{1,18})(\+?)\}$", line) if closed(line) else None
            if found is None:
                if closed(line) and re.search(rb"\{[+\-]*[0-9]+[+\-]*\}$", line):
                    self.outcomes.append(("refused", tag, "unknown length"))
                    return False
                self.end(fault, tag, text + line, literals)
                return True
            size, sync = int(found[2]), not found[3]
            fault = fault or self.too_large(tag, size, sync, append, held)
            if fault:
                if sync:
                    self.outcomes.append(("refused", tag, fault))
                    return True
                self.at += size
                if self.at > len(self.data):
                    return False
                continue
            text += line[: found.start()] + found[1] + b"\x00"
            if self.at + size > len(self.data):
                return False
            if append and size + held > self.limits.stream_above:
                literals.append(size)
            else:
                literals.append(self.data[self.at : self.at + size])
                held += size
                fault = fault or ("line" if held > self.limits.command else None)
            self.at += size

    def tag(self, line: bytes) -> bytes | None:
        found = TAG.match(line)
        return found[0] if found and line[found.end() : found.end() + 1] in (b" ", b"") else None

    def tag_of_long(self, raw: bytes) -> bytes | None:
        found = TAG.match(raw[: min(256, self.limits.line)])
        return found[0] if found and raw[found.end() : found.end() + 1] == b" " else None

    def too_large(self, tag: bytes | None, size: int, sync: bool, append: bool, held: int) -> str | None:
        if tag is None:
            return "syntax"
        limit = self.limits.append if append else min(self.limits.literal, self.limits.command - held)
        if not sync and self.limits.nonsync is not None:
            limit = min(limit, self.limits.nonsync)
        return "literal" if size > limit else None

    def end(self, fault: str | None, tag: bytes | None, text: bytes, literals: list[object]) -> None:
        if fault:
            self.outcomes.append(("refused", tag, fault))
            return
        head = COMMAND.match(text)
        if head:
            self.outcomes.append(("frame", tag, head[1].upper(), text, literals))
        else:
            self.outcomes.append(("refused", tag, "syntax"))


def closed(line: bytes) -> bool:
    """Whether all quotes of the line are closed."""
    quoted = skip = False
    for byte in line:
        if skip:
            skip = False
        elif byte == 0x22:
            quoted = not quoted
        elif byte == 0x5C and quoted:
            skip = True
    return not quoted


def outcomes(events: list[Event]) -> list[Outcome]:
    """The same form from the events of a framer. Also checks that blobs come whole and in order."""
    found: list[Outcome] = []
    open_blob: BlobStart | None = None
    left = 0
    for event in events:
        if isinstance(event, BlobStart):
            assert open_blob is None
            open_blob, left = event, event.size
        elif isinstance(event, BlobChunk):
            assert open_blob is not None
            assert event.number == open_blob.number
            left -= len(event.data)
        elif isinstance(event, BlobEnd):
            assert open_blob is not None
            assert left == 0
            open_blob = None
        elif isinstance(event, Frame):
            found.append(("frame", event.tag, event.name, event.cursor.text, literals_of(event)))
        elif isinstance(event, Refused):
            found.append(("refused", event.tag, event.fault.value))
        else:
            assert isinstance(event, Continue)
    return found


def literals_of(frame: Frame) -> list[object]:
    """What the NULs of the frame's text stand for, read through the cursor."""
    cursor, found = frame.cursor, list[object]()
    start = cursor.pos
    for at, byte in enumerate(cursor.text):
        if byte == 0:
            cursor.pos = at
            literal = cursor.any_literal()
            found.append(literal.size if isinstance(literal, Blob) else literal)
    cursor.pos = start
    return found
