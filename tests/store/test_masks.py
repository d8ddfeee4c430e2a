"""Search by masks against looking at each message: random trees of what memory answers, over a mailbox that changes.

Each tree is evaluated three times: with the facts in memory, with sizes and dates asked of the store, and by a plain
reading of the rows.
"""

import asyncio
import random
import tempfile
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from mailstore import cache, masks, search
from mailstore import query as q
from mailstore.model import SYSTEM_FLAGS, FetchRow, FlagOp
from tests.conftest import NIGHTLY
from tests.store.helpers import START, Clock, Desk, mail, make_desk, open_store

WORDS: Final = ("\\Seen", "\\Answered", "\\Flagged", "\\Draft", "\\Deleted", "$Work", "later", "LATER2")
DAY: Final = 86_400_000
TODAY: Final = datetime.fromtimestamp(START / 1000, UTC).date()


def leaf(dice: random.Random, highest_uid: int, modseq: int) -> q.Query:
    day = TODAY - timedelta(days=dice.randint(0, 5))
    first = dice.randint(1, highest_uid + 1)
    return dice.choice(
        (
            q.AllOf(),
            q.Nothing(),
            q.HasFlag(dice.choice((*WORDS[:5], "\\seen"))),
            q.HasFlag(dice.choice(WORDS[:5])),
            q.Keyword(dice.choice(("$work", "later", "later2", "unknown"))),
            q.UidSet(((first, first + dice.randint(-2, 5)), (dice.randint(1, highest_uid + 1), 4_000_000_000))),
            q.ModSeqAtLeast(dice.randint(1, modseq + 1)),
            q.Larger(dice.randint(90, 160)),
            q.Smaller(dice.randint(90, 160)),
            q.Before(day),
            q.On(day),
            q.Since(day),
            q.Older(dice.randint(0, 6 * 86_400)),
            q.Younger(dice.randint(0, 6 * 86_400)),
        )
    )


def tree(dice: random.Random, depth: int, *facts: int) -> q.Query:
    if depth == 0 or dice.random() < 0.3:
        return leaf(dice, *facts)
    return dice.choice(
        (
            lambda: q.And(tuple(tree(dice, depth - 1, *facts) for _ in range(dice.randint(0, 3)))),
            lambda: q.Or(tree(dice, depth - 1, *facts), tree(dice, depth - 1, *facts)),
            lambda: q.Not(tree(dice, depth - 1, *facts)),
        )
    )()


def is_true(query: q.Query, row: FetchRow) -> bool:
    """By looking at the message."""

    def day() -> date:
        return datetime.fromtimestamp((row.internal_date + row.zone * 60_000) / 1000, UTC).date()

    tests: dict[type, Callable[[Any], bool]] = {
        q.And: lambda it: all(is_true(item, row) for item in it.items),
        q.Or: lambda it: is_true(it.a, row) or is_true(it.b, row),
        q.Not: lambda it: not is_true(it.q, row),
        q.AllOf: lambda it: True,
        q.Nothing: lambda it: False,
        q.HasFlag: lambda it: bool(row.flags_bits & SYSTEM_FLAGS["\\" + it.flag[1:].capitalize()]),
        q.Keyword: lambda it: it.name in (word.lower() for word in row.keywords),
        q.UidSet: lambda it: any(first <= row.uid <= last for first, last in it.ranges),
        q.ModSeqAtLeast: lambda it: row.modseq >= it.n,
        q.Larger: lambda it: row.size > it.n,
        q.Smaller: lambda it: row.size < it.n,
        q.Before: lambda it: day() < it.date,
        q.On: lambda it: day() == it.date,
        q.Since: lambda it: day() >= it.date,
        q.Older: lambda it: row.internal_date <= START - it.seconds * 1000,
        q.Younger: lambda it: row.internal_date >= START - it.seconds * 1000,
    }
    return tests[type(query)](query)


class Searcher:
    """One mailbox under change, and searches of it."""

    def __init__(self, desk: Desk, seed: int) -> None:
        self.desk = desk
        self.dice = random.Random(seed)

    async def append(self) -> None:
        dice = self.dice
        words = dice.sample(WORDS, dice.randint(0, 4))
        when, zone = START - dice.randint(0, 5 * DAY), dice.choice((0, 0, 330, -480))
        await self.desk.append("INBOX", mail(body="x" * dice.randint(0, 60)), *words, internal_date=when, zone=zone)

    async def change(self) -> None:
        dice, there = self.dice, self.desk.uids("INBOX")
        some = dice.sample(there, min(len(there), dice.randint(1, 4)))
        match dice.randint(0, 3):
            case 0:
                await self.append()
            case 1 if len(there) > 5:
                await self.desk.move("INBOX", some[:2], "Archive")
            case _:
                await self.desk.flag("INBOX", sorted(some), *dice.sample(WORDS, 2), op=dice.choice(list(FlagOp)))

    async def compare(self) -> None:
        desk = self.desk
        box, there = desk.box("INBOX"), desk.uids("INBOX")
        rows = desk.fetch("INBOX", there)
        index = desk.store.index(box.id)
        query = tree(self.dice, 3, max(there), index.highest_modseq)
        wanted = [row.uid for row in rows if is_true(query, row)]
        assert await desk.store.search(box, query) == wanted, query
        columns, now = index.columns(1), desk.clock.now
        asked = desk.read(lambda tx: search.Evaluation(tx, box, query, columns, search.NO_HITS, now).run())
        assert asked == wanted, query


async def play(seed: int, folder: Path) -> None:
    clock = Clock()
    store = await open_store(folder, clock)
    try:
        searcher = Searcher(await make_desk(store, clock), seed)
        for _ in range(20):
            await searcher.append()
        for _ in range(12):
            await searcher.change()
            for _ in range(8):
                await searcher.compare()
    finally:
        await store.close()


@pytest.mark.parametrize("seed", range(300 if NIGHTLY else 8))
@pytest.mark.parametrize("kinds", [256, 3])
def test_every_tree_finds_what_looking_at_each_message_finds(
    seed: int, kinds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With more sets of flags than a byte can name, too."""
    monkeypatch.setattr(cache, "_KINDS", kinds)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(seed, Path(folder)))


@pytest.mark.parametrize("count", [0, 1, 9, 300])
def test_masks_are_sets_of_positions(count: int) -> None:
    dice = random.Random(count)
    one, other = ([dice.random() < 0.5 for _ in range(count)] for _ in range(2))
    a, b, every = masks.made(one), masks.made(other), masks.every(count)
    column = [f"message {at}" for at in range(count)]

    def those(test: Callable[[bool, bool], bool]) -> list[str]:
        return [name for name, x, y in zip(column, one, other, strict=True) if test(x, y)]

    assert masks.chosen(a & b, column) == those(lambda x, y: x and y)
    assert masks.chosen(a | b, column) == those(lambda x, y: x or y)
    assert masks.chosen(every ^ a, column) == those(lambda x, y: not x)
    assert masks.chosen(every, column) == column
    assert masks.chosen(masks.NONE, column) == []


def test_spans_may_be_empty_overlap_and_end_before_they_begin() -> None:
    assert masks.chosen(masks.of_spans([(2, 2), (5, 3), (1, 4), (3, 6)], 8), range(8)) == [1, 2, 3, 4, 5]
    assert masks.of_spans([], 8) == masks.NONE
