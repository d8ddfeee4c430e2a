"""A Postroom of its own for the crowd: the real server, as a process, on TCP."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench import postroom
from tests.stress.ledger import need


@contextmanager
def served(home: Path, extensions: str) -> Iterator[int]:
    """The IMAP port of a server that speaks these extensions, for the block; nothing may go wrong within it."""
    postroom.set_up(home, f'{postroom.IN_CLEAR}{postroom.FREE_PORTS}extensions = "{extensions}"\n')
    with postroom.running(home) as target:
        yield target.port
    said = (home / "server.log").read_text()
    need(
        not re.search(r"Traceback|\b(error|critical)\b", said, re.IGNORECASE), f"the server has logged:\n{said[-4000:]}"
    )
