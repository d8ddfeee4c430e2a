"""The wire layer's share of the speed goals, as multiples of what this machine does in plain Python meanwhile."""

from bridge.imap.items.flags import FlagTexts
from bridge.imap.plan import Batch, FetchPlan
from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.framer import Need
from tests.pace import spent, unit
from tests.wire.harness import framer


def test_short_commands_are_cut_and_read_quickly() -> None:
    count = 20_000
    stream = b"".join(b"A%05d UID FETCH %d:* (FLAGS)\r\n" % (number, number + 1) for number in range(count))

    def run() -> None:
        source, seen = framer(), 0
        for at in range(0, len(stream), 65536):
            source.feed(stream[at : at + 65536])
            while not isinstance(source.next(), Need):
                seen += 1
        assert seen == count

    assert spent(run) <= 75 * unit()  # 80,000 a second where a unit is 3.4 ms


class Set:
    def __init__(self, number: int) -> None:
        self.id, self.bits, self.keywords = number, number, ("$Label",) * (number % 2)


def test_50000_lines_of_uid_and_flags_are_rendered_quickly() -> None:
    plan = FetchPlan.compile(Cursor(b"(UID FLAGS)"))
    numbers, uids = range(1, 50_001), range(1000, 200_000, 3)[:50_000]
    sets = [Set(number % 8) for number in numbers]
    texts = FlagTexts()

    def run() -> bytes:
        return plan.render(Batch(numbers, uids, texts.many(sets)))

    assert run().count(b"\r\n") == 50_000
    assert spent(run) <= 12 * unit()  # 14 ms, and never 40, where a unit is 3.4 ms


def test_bytes_that_trickle_in_cost_no_more_than_their_number() -> None:
    def run(size: int) -> float:
        def feed() -> None:
            source = framer(line=10_000_000, command=10_000_000)
            for _ in range(size):
                source.feed(b"x")
                source.next()

        return spent(feed, tries=3)

    assert run(40_000) <= 40 * run(4_000)
