"""What mail programs really send is understood, every command of them."""

import re
from pathlib import Path

import pytest

from bridge.imap.registry import dialect_for
from bridge.imap.wire.errors import ParseError
from bridge.imap.wire.framer import Frame
from config.settings import Imap
from tests.wire.harness import CHUNKINGS, events, framer

FILE = Path(__file__).parent / "data" / "client_commands.txt"
LITERAL = re.compile(r"(\{\d+\+?\}) ")
ROWS = [line for line in FILE.read_text().splitlines() if not line.startswith("#")]
DIALECT = dialect_for(Imap())


@pytest.mark.parametrize("row", ROWS)
def test_the_command_is_read(row: str) -> None:
    text = LITERAL.sub("\\1\r\n", row.partition(" | ")[2]).encode()
    for chunking in CHUNKINGS:
        [frame] = [event for event in events(framer(), chunking(b"t1 " + text + b"\r\n")) if isinstance(event, Frame)]
        command = DIALECT.commands[frame.name]
        command.parse(frame.cursor, DIALECT)
        assert frame.cursor.at_end


@pytest.mark.parametrize("row", [row for row in ROWS if not row.endswith(("xyz", "secret"))])
def test_with_a_word_too_many_it_is_refused(row: str) -> None:
    """The grammar reads to the end: whatever more stands there is BAD and never passed over."""
    text = row.partition(" | ")[2].encode() + b' ("'
    [frame] = events(framer(), [b"t1 " + text + b"\r\n"])
    assert isinstance(frame, Frame)
    with pytest.raises(ParseError):
        DIALECT.commands[frame.name].parse(frame.cursor, DIALECT)
