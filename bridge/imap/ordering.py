"""Messages in order: what SORT and THREAD compare, kept in memory by UID, and the orders that were asked for.

Rule: nothing of a message that is compared here ever changes, and a UID is never given to another message, so what has
been read once is right for ever, and an order once made stays right for its messages; only how much is kept is bounded.
"""

from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final

from bridge.imap.items.keys import KEYS_RENDERING, Keys, collate, read_keys, render_keys
from mailstore import ordering
from mailstore.folding import fold
from mailstore.model import Mailbox, MailboxId, Millis, Uid
from mailstore.store import Renderer
from mailstore.transaction import ReadTx

ANSWERS: Final = 16  # whole answers kept: clients ask again and again while nothing has changed
KEPT: Final = 200_000  # entries kept in memory, of all mailboxes
ORDERED: Final = 1_000_000  # messages in all orders kept, at eight bytes each
ORDERS: Final = 64  # orders kept, however small: criteria can be put together without end


@dataclass(frozen=True, slots=True)
class Entry:
    """One message as it is compared; text is as i;unicode-casemap has it."""

    uid: Uid
    internal_date: Millis
    sent: Millis
    size: int
    subject: str
    keys: Keys


@dataclass(frozen=True, slots=True)
class SortKey:
    """A criterion of SORT (RFC 5256 section 3): what it is called, and what of an entry is compared."""

    name: bytes
    value: Callable[[Entry], Any]


@dataclass(frozen=True, slots=True)
class Criterion:
    key: SortKey
    reverse: bool = False


@dataclass(frozen=True, slots=True)
class Order:
    """UIDs of a mailbox, ascending, and the same ones in the order of some criteria."""

    uids: "array[int]"
    ordered: "array[int]"

    def lacks(self, wanted: "array[int]") -> bool:
        """Whether one of these UIDs (ascending) is not in it."""
        return wanted != self.uids and not frozenset(self.uids).issuperset(wanted)

    def of(self, wanted: "array[int]") -> list[int]:
        """Those of these UIDs (ascending) that are in it, in its order."""
        if wanted == self.uids:
            return self.ordered.tolist()
        chosen = frozenset(wanted)
        return [uid for uid in self.ordered if uid in chosen]


NO_ORDER: Final = Order(array("I"), array("I"))


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer, and the numbers it was made of."""

    of: Sequence[Sequence[int]]
    text: bytes


class OrderMemory:
    """Entries by mailbox and UID; the mailbox that was asked for least recently is forgotten first.

    Entries are asked for on readers' threads too, several at once; nothing is read while the lock is held.
    """

    __slots__ = ("_answers", "_lock", "_mailboxes", "_orders")

    def __init__(self) -> None:
        self._mailboxes: OrderedDict[MailboxId, dict[int, Entry]] = OrderedDict()
        self._lock = Lock()
        self._answers: OrderedDict[tuple[MailboxId, bytes], Answer] = OrderedDict()
        self._orders: OrderedDict[tuple[MailboxId, tuple[Criterion, ...]], Order] = OrderedDict()

    def answer(self, mailbox: MailboxId, what: bytes, of: Sequence[Sequence[int]]) -> bytes | None:
        """What was made of just these numbers the last time `what` was asked of the mailbox."""
        known = self._answers.get((mailbox, what))
        return known.text if known is not None and known.of == of else None

    def remember(self, mailbox: MailboxId, what: bytes, of: Sequence[Sequence[int]], text: bytes) -> None:
        self._answers[mailbox, what] = Answer(of, text)
        self._answers.move_to_end((mailbox, what))
        while len(self._answers) > ANSWERS:
            self._answers.popitem(last=False)

    def order(self, mailbox: MailboxId, criteria: tuple[Criterion, ...]) -> Order:
        """The order that was kept of a mailbox; it may lack some messages, and hold some that have left."""
        if (mailbox, criteria) not in self._orders:
            return NO_ORDER
        self._orders.move_to_end((mailbox, criteria))
        return self._orders[mailbox, criteria]

    def keep(self, mailbox: MailboxId, criteria: tuple[Criterion, ...], order: Order) -> None:
        """Keep it; those that were asked for least recently are forgotten first."""
        orders = self._orders
        orders[mailbox, criteria] = order
        orders.move_to_end((mailbox, criteria))
        while len(orders) > ORDERS or (len(orders) > 1 and sum(len(each.uids) for each in orders.values()) > ORDERED):
            orders.popitem(last=False)

    def entries(
        self, tx: ReadTx, mailbox: Mailbox, uids: Sequence[int], render: Renderer | None = render_keys
    ) -> list[Entry]:
        """The messages with these UIDs, in their order; those that are gone and were never read are left out. Raises
        NotStored for keys that have to be made, when `render` is None."""
        with self._lock:
            known = self._mailboxes.setdefault(mailbox.id, {})
            self._mailboxes.move_to_end(mailbox.id)
        missing = [uid for uid in uids if uid not in known]
        if missing:
            rows = ordering.rows(tx, mailbox, missing, (KEYS_RENDERING, render))
            fresh: dict[int, Entry] = {row.uid: _entry(row) for row in rows}
            with self._lock:
                known.update(fresh)
                self._shrink(mailbox.id)
        return [entry for uid in uids if (entry := known.get(uid)) is not None]

    def _shrink(self, last: MailboxId) -> None:
        """Forget until what is kept fits; the last one only when it alone is too large to be kept."""
        count = sum(map(len, self._mailboxes.values()))
        for mailbox in [*(each for each in self._mailboxes if each != last), last]:
            if count <= KEPT:
                return
            count -= len(self._mailboxes.pop(mailbox, {}))


def _entry(row: ordering.OrderRow) -> Entry:
    subject = collate(fold(row.base_subject))
    return Entry(row.uid, row.internal_date, row.sent, row.size, subject, read_keys(row.rendered))


def in_order(entries: Sequence[Entry], criteria: Sequence[Criterion]) -> list[Uid]:
    """The UIDs of entries (given by UID) in the order of the criteria; what is equal in all of them stays by UID."""
    ordered = list(entries)
    for criterion in reversed(criteria):
        ordered.sort(key=criterion.key.value, reverse=criterion.reverse)
    return [entry.uid for entry in ordered]


def extended(
    entries: Callable[[Sequence[int]], Sequence[Entry]],
    known: Order,
    present: "array[int]",
    wanted: "array[int]",
    criteria: Sequence[Criterion],
) -> Order:
    """An order of what `known` holds and of what is wanted, as far as it is among the present UIDs (both ascending).

    Newer messages than the known ones are sorted in behind them: of what is equal they come last, and next to nothing
    has to be compared again.
    """
    before, asked = frozenset(known.uids), frozenset(wanted)
    uids = array("I", [uid for uid in present if uid in before or uid in asked])
    last = known.uids[-1] if known.uids else 0
    new = uids[bisect_right(uids, last) :]
    if len(new) + sum(map(before.__contains__, uids)) == len(uids):
        there = frozenset(uids)
        found = entries([*(uid for uid in known.ordered if uid in there), *new])
    else:
        found = entries(uids)
    ordered = array("I", in_order(found, criteria))
    return Order(uids if len(ordered) == len(uids) else array("I", sorted(ordered)), ordered)
