"""Damaged streams against the framer, the cursor and every grammar that sits on them.

Run as `python -m tests.wire.fuzz --seconds 60 [--seed N]`. It fails with the seed of the stream, so that
`--seed N --seconds 0` shows it again. What must hold, for every stream:

* nothing but ParseError leaves a reader, and nothing at all leaves the framer;
* the commands found are those of the slow reference, so no byte shifts where the next one begins;
* what waits in the framer stays below its limits and one chunk.
"""

import argparse
import random
import sys
import time
from collections.abc import Callable

from bridge.imap.criteria import parse_criteria
from bridge.imap.plan import FetchPlan
from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.errors import ParseError
from bridge.imap.wire.framer import Event, Frame, Framer, FramerLimits
from tests.wire.harness import drain
from tests.wire.reference import Reference, outcomes
from tests.wire.streams import chunks, stream

LIMITS = FramerLimits(line=300, command=600, literal=150, append=400, stream_above=190)

READERS: list[Callable[[Cursor], object]] = [
    Cursor.atom,
    Cursor.astring,
    Cursor.nstring,
    Cursor.any_literal,
    Cursor.number,
    Cursor.nz_number,
    Cursor.number64,
    Cursor.seqset,
    Cursor.mailbox,
    Cursor.list_mailbox,
    Cursor.flag,
    Cursor.flag_list,
    Cursor.store_flags,
    Cursor.date,
    Cursor.date_time,
    Cursor.base64,
    Cursor.eol,
    lambda cursor: FetchPlan.compile(cursor, uid=True).needs,
    lambda cursor: parse_criteria(cursor),
]


def check(seed: int) -> int:
    """One stream; the number of events it gave. Raises AssertionError, or whatever a reader raised wrongly."""
    rng = random.Random(seed)
    data = stream(rng)
    source = Framer(LIMITS)
    source.set_authenticated(True)
    events: list[Event] = []
    for chunk in chunks(rng, data):
        source.feed(chunk)
        events += drain(source)
        assert source.buffered <= LIMITS.command + len(chunk), "the framer keeps too much"
    found, expected = outcomes(events), Reference(data, LIMITS).run()
    assert found == expected, f"{data!r}\n found {found}\n expected {expected}"
    for event in events:
        if isinstance(event, Frame):
            read_everything(event.cursor)
    return len(events)


def read_everything(cursor: Cursor) -> None:
    """Every reader at every argument of the command."""
    start = cursor.pos
    places = [start, *(at + 1 for at in range(start, len(cursor.text)) if cursor.text[at] == 0x20)]
    for place in places[:40]:
        for read in READERS:
            cursor.pos = place
            error = refusal(read, cursor)
            assert error is None or place <= error.position <= len(cursor.text)
            assert place <= cursor.pos <= len(cursor.text)


def refusal(read: Callable[[Cursor], object], cursor: Cursor) -> ParseError | None:
    try:
        read(cursor)
    except ParseError as error:
        return error
    return None


def run(seconds: float, seed: int) -> int:
    """Fuzz for a time, from a seed upwards; how many streams were tried (at least one)."""
    end = time.monotonic() + seconds
    tried = 0
    while not tried or time.monotonic() < end:
        try:
            check(seed + tried)
        except Exception as error:
            raise AssertionError(f"stream {seed + tried}: {error!r}") from error
        tried += 1
    return tried


def main() -> int:
    options = argparse.ArgumentParser(description="Fuzz the IMAP wire layer.")
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--seed", type=int, default=None)
    chosen = options.parse_args()
    seed = random.SystemRandom().randrange(2**40) if chosen.seed is None else chosen.seed
    print(f"seed {seed}")
    print(f"{run(chosen.seconds, seed)} streams, none wrong")
    return 0


if __name__ == "__main__":
    sys.exit(main())
