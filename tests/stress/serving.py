"""A Postroom of its own for the crowd: the real server, as a process, on TCP."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench import postroom


@contextmanager
def served(home: Path, extensions: str) -> Iterator[int]:
    """The IMAP port of a server that speaks these extensions, until the end of the block."""
    postroom.set_up(home, f'{postroom.IN_CLEAR}{postroom.FREE_PORTS}extensions = "{extensions}"\n')
    with postroom.running(home) as target:
        yield target.port
