"""One harness for every reader: the same text goes through a framer whole, byte by byte, and with more behind it."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.errors import ParseError
from bridge.imap.wire.framer import Continue, Event, Frame, Framer, FramerLimits, Need

Reader = Callable[[Cursor], Any]


def whole(data: bytes) -> Iterable[bytes]:
    return [data]


def bytewise(data: bytes) -> Iterable[bytes]:
    return [data[at : at + 1] for at in range(len(data))]


def threes(data: bytes) -> Iterable[bytes]:
    return [data[at : at + 3] for at in range(0, len(data), 3)]


CHUNKINGS = (whole, bytewise, threes)


def framer(**limits: Any) -> Framer:
    """A framer of a logged-in peer."""
    made = Framer(FramerLimits(**limits))
    made.set_authenticated(True)
    return made


def drain(source: Framer) -> list[Event]:
    """All events there are now."""
    events: list[Event] = []
    while not isinstance(event := source.next(), Need):
        events.append(event)
    return events


def events(source: Framer, chunks: Iterable[bytes]) -> list[Event]:
    """All events of the chunks, each taken as soon as it is there."""
    found: list[Event] = []
    for chunk in chunks:
        source.feed(chunk)
        found += drain(source)
    return found


def cursors(text: bytes, behind: bytes = b"") -> Iterable[Cursor]:
    """Cursors that stand at the start of `text`, made in every way bytes can arrive. Literals are written `{n+}`.

    `behind` is put directly behind the text, within the same command.
    """
    for chunking in CHUNKINGS:
        for following in (b"", b"B2 NOOP\r\n", b"\r\n\x00garbage"):
            source = framer()
            found = events(source, chunking(b"A1 X " + text + behind + b"\r\n" + following))
            frame = next(event for event in found if not isinstance(event, Continue))
            assert isinstance(frame, Frame), frame
            frame.cursor.sp()
            yield frame.cursor


def reads(read: Reader, text: bytes, value: object) -> None:
    """The reader takes all of `text` and gives `value`, in whatever way the bytes come."""
    for cursor in cursors(text):
        assert read(cursor) == value
        assert cursor.pos == len(cursor.text)


def leaves(read: Reader, text: bytes, value: object, behind: bytes) -> None:
    """What stands behind the text is left unread."""
    for cursor in cursors(text, behind):
        assert read(cursor) == value
        assert cursor.text[cursor.pos :] == behind


def refuses(read: Reader, text: bytes, offset: int = 0, status: str = "BAD") -> None:
    """The reader raises ParseError, which says where, and does not move beyond that place."""
    for cursor in cursors(text):
        start = cursor.pos
        with pytest.raises(ParseError) as caught:
            read(cursor)
        assert caught.value.position == start + offset
        assert caught.value.status == status
        assert start <= cursor.pos <= start + offset
