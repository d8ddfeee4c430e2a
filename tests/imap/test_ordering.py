"""Orders kept in memory against sorting anew: random criteria over a mailbox that mail comes to and leaves."""

import random
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bridge.imap.items.keys import Keys
from bridge.imap.ordering import NO_ORDER, Criterion, Entry, Order, OrderMemory, SortKey, extended, in_order
from mailstore import ordering
from mailstore.model import Mailbox, MailboxId, Uid
from mailstore.sqlite import ReadTx
from tests.conftest import NIGHTLY
from tests.imap.harness import letter, open_house

KEYS = (
    SortKey(b"DATE", lambda entry: entry.sent),
    SortKey(b"SIZE", lambda entry: entry.size),
    SortKey(b"SUBJECT", lambda entry: entry.subject),
)
BOX = MailboxId(7)


class Box:
    """Messages with few different values, so that many are equal."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.entries: dict[int, Entry] = {}
        self.last = 0
        self.read = 0

    def arrive(self, count: int) -> None:
        dice = self.dice
        for _ in range(count):
            self.last += dice.randint(1, 3)
            keys = Keys("", "", "", "", "", False, "", ())
            entry = Entry(Uid(self.last), 0, dice.randint(1, 4), dice.randint(1, 4), dice.choice("abc"), keys)
            self.entries[self.last] = entry

    def leave(self, count: int) -> None:
        for uid in self.dice.sample(sorted(self.entries), min(count, len(self.entries))):
            del self.entries[uid]

    def get(self, uids: Sequence[int]) -> list[Entry]:
        self.read += 1
        return [self.entries[uid] for uid in uids if uid in self.entries]

    @property
    def present(self) -> "array[int]":
        return array("I", sorted(self.entries))


@pytest.mark.parametrize("seed", range(2000 if NIGHTLY else 60))
def test_an_order_brought_up_to_date_is_an_order_made_anew(seed: int) -> None:
    dice = random.Random(seed)
    box, memory = Box(dice), OrderMemory()
    asked = [
        tuple(Criterion(key, dice.random() < 0.4) for key in dice.sample(KEYS, dice.randint(1, 3))) for _ in range(2)
    ]
    for _ in range(15):
        box.arrive(dice.randint(0, 6))
        box.leave(dice.randint(0, 3) if dice.random() < 0.5 else 0)
        criteria, present = dice.choice(asked), box.present
        wanted = array("I", [uid for uid in present if dice.random() < dice.choice((0.3, 1.0))])
        known = memory.order(BOX, criteria)
        if known.lacks(wanted):
            known = extended(box.get, known, present, wanted, criteria)
            memory.keep(BOX, criteria, known)
        assert known.of(wanted) == in_order([box.entries[uid] for uid in wanted], criteria)
        assert list(known.uids) == sorted(known.ordered)


def test_what_is_known_is_not_sorted_again() -> None:
    box = Box(random.Random(1))
    box.arrive(50)
    criteria = (Criterion(KEYS[0]),)
    order = extended(box.get, NO_ORDER, box.present, box.present, criteria)
    assert not order.lacks(box.present)
    box.leave(10)
    assert not order.lacks(box.present)
    assert order.of(box.present) == in_order(box.get(box.present), criteria)
    box.arrive(1)
    assert order.lacks(box.present)


def test_a_message_that_cannot_be_read_any_more_is_left_out() -> None:
    box = Box(random.Random(2))
    box.arrive(5)
    present, criteria = box.present, (Criterion(KEYS[1]),)
    box.leave(1)
    order = extended(box.get, NO_ORDER, present, present, criteria)
    assert order.of(present) == in_order(box.get(present), criteria)
    assert len(order.uids) == 4


def test_orders_of_nothing_much_are_not_kept_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.imap.ordering.ORDERS", 3)
    memory, one = OrderMemory(), Order(array("I", [1]), array("I", [1]))
    asked = [(Criterion(KEYS[0]),) * length for length in range(1, 6)]
    for criteria in asked:
        memory.keep(BOX, criteria, one)
        assert memory.order(BOX, asked[0]) is one  # asked for again and again
    kept = [criteria for criteria in asked if memory.order(BOX, criteria) is one]
    assert kept == [asked[0], *asked[-2:]]


async def test_what_two_read_at_once_is_counted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two clients sort one mailbox before anything of it is known: the second begins while the first reads."""
    memory = OrderMemory()
    read: list[int] = []

    def rows(tx: ReadTx, mailbox: Mailbox, uids: Sequence[int], rendering: Any) -> list[ordering.OrderRow]:
        read.append(len(uids))
        if len(read) == 1:
            memory.entries(tx, mailbox, uids)
        return stored(tx, mailbox, uids, rendering)

    stored = ordering.rows
    monkeypatch.setattr(ordering, "rows", rows)
    monkeypatch.setattr("bridge.imap.ordering.KEPT", 12)
    async with open_house(tmp_path) as house:
        for number in range(10):
            await house.append("INBOX", letter(str(number)))
        box = house.mailbox("INBOX")
        for _ in range(3):
            found = house.store.read(lambda tx: memory.entries(tx, box, range(1, 11)))
            assert [entry.subject for entry in found] == [str(number) for number in range(10)]
    assert read == [10, 10]


def test_orders_are_forgotten_when_they_become_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.imap.ordering.ORDERED", 10)
    memory, criteria = OrderMemory(), (Criterion(KEYS[0]),)
    for number in range(4):
        memory.keep(MailboxId(number), criteria, Order(array("I", range(4)), array("I", range(4))))
    kept = [number for number in range(4) if memory.order(MailboxId(number), criteria) is not NO_ORDER]
    assert kept == [2, 3]
    memory.keep(BOX, criteria, Order(array("I", range(99)), array("I", range(99))))
    assert memory.order(BOX, criteria) is not NO_ORDER  # one alone may be larger
