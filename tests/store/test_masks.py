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
from mailstore.model import SYSTEM_FLAGS, FetchRow, FlagOp
from mailstore.query import (
    AllOf,
    And,
    Before,
    HasFlag,
    Keyword,
    Larger,
    ModSeqAtLeast,
    Not,
    Nothing,
    Older,
    On,
    Or,
    Query,
    Since,
    Smaller,
    UidSet,
    Younger,
)
from tests.conftest import NIGHTLY
from tests.store.helpers import START, Clock, Desk, mail, make_desk, open_store

WORDS: Final = ("\\Seen", "\\Answered", "\\Flagged", "\\Draft", "\\Deleted", "$Work", "later", "LATER2")
DAY: Final = 86_400_000
TODAY: Final = datetime.fromtimestamp(START / 1000, UTC).date()


def leaf(dice: random.Random, highest_uid: int, modseq: int) -> Query:
    day = TODAY - timedelta(days=dice.randint(0, 5))
    first = dice.randint(1, highest_uid + 1)
    return dice.choice(
        (
            AllOf(),
            Nothing(),
            HasFlag(dice.choice((*WORDS[:5], "\\seen"))),
            HasFlag(dice.choice(WORDS[:5])),
            Keyword(dice.choice(("$work", "later", "later2", "unknown"))),
            UidSet(((first, first + dice.randint(-2, 5)), (dice.randint(1, highest_uid + 1), 4_000_000_000))),
            ModSeqAtLeast(dice.randint(1, modseq + 1)),
            Larger(dice.randint(90, 160)),
            Smaller(dice.randint(90, 160)),
            Before(day),
            On(day),
            Since(day),
            Older(dice.randint(0, 6 * 86_400)),
            Younger(dice.randint(0, 6 * 86_400)),
        )
    )


def tree(dice: random.Random, depth: int, *facts: int) -> Query:
    if depth == 0 or dice.random() < 0.3:
        return leaf(dice, *facts)
    return dice.choice(
        (
            lambda: And(tuple(tree(dice, depth - 1, *facts) for _ in range(dice.randint(0, 3)))),
            lambda: Or(tree(dice, depth - 1, *facts), tree(dice, depth - 1, *facts)),
            lambda: Not(tree(dice, depth - 1, *facts)),
        )
    )()


def is_true(query: Query, row: FetchRow) -> bool:
    """By looking at the message."""

    def day() -> date:
        return datetime.fromtimestamp((row.internal_date + row.zone * 60_000) / 1000, UTC).date()

    tests: dict[type, Callable[[Any], bool]] = {
        And: lambda q: all(is_true(item, row) for item in q.items),
        Or: lambda q: is_true(q.a, row) or is_true(q.b, row),
        Not: lambda q: not is_true(q.q, row),
        AllOf: lambda q: True,
        Nothing: lambda q: False,
        HasFlag: lambda q: bool(row.flags_bits & SYSTEM_FLAGS["\\" + q.flag[1:].capitalize()]),
        Keyword: lambda q: q.name in (word.lower() for word in row.keywords),
        UidSet: lambda q: any(first <= row.uid <= last for first, last in q.ranges),
        ModSeqAtLeast: lambda q: row.modseq >= q.n,
        Larger: lambda q: row.size > q.n,
        Smaller: lambda q: row.size < q.n,
        Before: lambda q: day() < q.date,
        On: lambda q: day() == q.date,
        Since: lambda q: day() >= q.date,
        Older: lambda q: row.internal_date <= START - q.seconds * 1000,
        Younger: lambda q: row.internal_date >= START - q.seconds * 1000,
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
