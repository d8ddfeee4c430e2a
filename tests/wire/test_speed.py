"""The wire layer's share of the speed goals, with room for a busy machine: processor time, best of several runs."""

import time
from collections.abc import Callable

from bridge.imap.items.flags import FlagTexts
from bridge.imap.plan import Batch, FetchPlan
from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.framer import Need
from tests.wire.harness import framer


def best(run: Callable[[], object], tries: int = 5) -> float:
    """Seconds of processor time of the fastest of several runs."""
    found = []
    for _ in range(tries):
        start = time.process_time()
        run()
        found.append(time.process_time() - start)
    return min(found)


def test_short_commands_are_cut_and_read_at_80000_a_second() -> None:
    count = 20_000
    stream = b"".join(b"A%05d UID FETCH %d:* (FLAGS)\r\n" % (number, number + 1) for number in range(count))

    def run() -> None:
        source, seen = framer(), 0
        for at in range(0, len(stream), 65536):
            source.feed(stream[at : at + 65536])
            while not isinstance(source.next(), Need):
                seen += 1
        assert seen == count

    assert count / best(run) >= 80_000


class Set:
    def __init__(self, number: int) -> None:
        self.id, self.bits, self.keywords = number, number, ("$Label",) * (number % 2)


def test_50000_lines_of_uid_and_flags_take_14_ms_and_on_a_slow_machine_not_40() -> None:
    plan = FetchPlan.compile(Cursor(b"(UID FLAGS)"))
    numbers, uids = range(1, 50_001), range(1000, 200_000, 3)[:50_000]
    sets = [Set(number % 8) for number in numbers]
    texts = FlagTexts()

    def run() -> bytes:
        return plan.render(Batch(numbers, uids, texts.many(sets)))

    assert run().count(b"\r\n") == 50_000
    assert best(run) <= 0.040


def test_bytes_that_trickle_in_cost_no_more_than_their_number() -> None:
    def run(size: int) -> float:
        def feed() -> None:
            source = framer(line=10_000_000, command=10_000_000)
            for _ in range(size):
                source.feed(b"x")
                source.next()

        return best(feed, tries=3)

    assert run(40_000) <= 40 * run(4_000)
