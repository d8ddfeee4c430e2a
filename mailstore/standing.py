"""Where messages stand, read as columns: what a change of many messages has to know of them.

The rule: one query in one sweep, and then a few columns are worked on; a row each for ten thousand messages would cost
more than the change itself.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import compress
from typing import Any

from mailstore.model import DELETED, SEEN, Mailbox, MailboxId
from mailstore.transaction import ReadTx

ALL, UNREAD, ACTION = 1, 2, 4  # the views, as bits

Column = Sequence[int]


@dataclass(frozen=True, slots=True)
class Batch:
    """What is counted of messages, as columns: flag-set keys (`model.flag_key`) and sizes."""

    emails: Column
    keys: Column
    sizes: Column

    def __len__(self) -> int:
        return len(self.emails)

    def where(self, chosen: Sequence[Any]) -> "Batch":
        """The rows for which `chosen`, a column too, is true."""
        return Batch(*(list(compress(column, chosen)) for column in (self.emails, self.keys, self.sizes)))


@dataclass(frozen=True, slots=True)
class Standing:
    """Messages of one mailbox, a column for each thing; the rows of all columns belong together.

    `keys` are flag-set keys (`model.flag_key`) as they are in that mailbox; `uids` are there, `homes` in `mailboxes`,
    where the messages are stored; `in_all`, `in_unread`, `in_action` in the views, 0 for who does not stand there.
    """

    uids: Column
    emails: Column
    keys: Column
    sizes: Column
    mailboxes: Column
    homes: Column
    in_all: Column
    in_unread: Column
    in_action: Column

    def __len__(self) -> int:
        return len(self.uids)

    @property
    def batch(self) -> Batch:
        return Batch(self.emails, self.keys, self.sizes)

    def within(self, view: int) -> Column:
        """The UIDs in a view, by its bit."""
        return {ALL: self.in_all, UNREAD: self.in_unread, ACTION: self.in_action}[view]

    def where(self, chosen: Iterable[Any]) -> "Standing":
        """The rows for which `chosen`, a column too, is true."""
        which = list(chosen)
        if all(which):
            return self
        return Standing(*(list(compress(getattr(self, each.name), which)) for each in fields(self)))

    def by_mailbox(self) -> Iterator[tuple[MailboxId, "Standing"]]:
        """The rows by the mailbox in which the messages are stored."""
        mailboxes = sorted(set(self.mailboxes))
        for mailbox in mailboxes:
            alike = self if len(mailboxes) == 1 else self.where([each == mailbox for each in self.mailboxes])
            yield MailboxId(mailbox), alike


def at(tx: ReadTx, mailbox: Mailbox, uids: Iterable[int]) -> Standing:
    """Those of these UIDs that exist, ascending."""
    if mailbox.view is not None:
        return Standing(*tx.columns("mailstore.placing.shown-at", mailbox=mailbox.id, uids=spans(uids)))
    return _here(mailbox.id, *tx.columns("mailstore.placing.at", mailbox=mailbox.id, uids=spans(uids)))


def everything(tx: ReadTx, mailbox: MailboxId) -> Standing:
    """The whole of a stored mailbox, ascending."""
    return _here(mailbox, *tx.columns("mailstore.placing.everything", mailbox=mailbox))


def marked(tx: ReadTx, mailbox: Mailbox) -> Standing:
    """What is \\Deleted in a mailbox, ascending."""
    if mailbox.view is not None:
        return Standing(*tx.columns("mailstore.placing.shown-marked", mailbox=mailbox.id))
    return _here(mailbox.id, *tx.columns("mailstore.placing.marked", mailbox=mailbox.id))


def _here(mailbox: MailboxId, uids: Column, emails: Column, keys: Column, sizes: Column, *views: Column) -> Standing:
    """Messages seen in the mailbox that they are stored in."""
    return Standing(uids, emails, keys, sizes, [mailbox] * len(uids), uids, *views)


def stored(tx: ReadTx, emails: Sequence[int]) -> Standing:
    """Where these messages are stored: `uids` are the `homes`."""
    return Standing(*tx.columns("mailstore.placing.stored", emails=json.dumps(list(emails))))


def unseen(keys: Iterable[int]) -> int:
    """How many of these flag sets are without \\Seen."""
    return len([key for key in keys if not key & SEEN])


def is_marked(keys: Iterable[int]) -> list[int]:
    """A column that is true for what is \\Deleted."""
    return [key & DELETED for key in keys]


def runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Ascending numbers folded into inclusive ranges of neighbours."""
    numbers = numbers if isinstance(numbers, (list, tuple)) else list(numbers)
    if numbers and numbers[-1] - numbers[0] == len(numbers) - 1:
        return [(numbers[0], numbers[-1])]
    ranges: list[tuple[int, int]] = []
    first = last = -2
    for number in numbers:
        if number != last + 1:
            if last >= 0:
                ranges.append((first, last))
            first = number
        last = number
    if last >= 0:
        ranges.append((first, last))
    return ranges


def spans(uids: Iterable[int]) -> str:
    """UIDs as queries take them: [[first, last], ...], ascending. Neighbours are read in one sweep."""
    return json.dumps(runs(sorted(set(uids))))
