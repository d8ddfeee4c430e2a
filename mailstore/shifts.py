"""What a change does to mailboxes, kept with its transaction.

The rule: every row that is written into the log has its shift, so whoever made the change (`made`), and the indexes in
memory once it is committed, know it without reading the log back. The log stays the truth: who has no shifts reads it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mailstore.model import Delta, MailboxId, ModSeq, Uid
from mailstore.transaction import WriteTx


@dataclass(frozen=True, slots=True)
class Came:
    """Messages have come under the UIDs from `first` on, one for each flag-set key."""

    mailbox: MailboxId
    modseq: ModSeq
    first: Uid
    keys: Sequence[int]

    @property
    def uids(self) -> range:
        return range(self.first, self.first + len(self.keys))


@dataclass(frozen=True, slots=True)
class Went:
    """These UIDs have gone."""

    mailbox: MailboxId
    modseq: ModSeq
    uids: Sequence[int]


@dataclass(frozen=True, slots=True)
class Flagged:
    """Flags were added to and taken from these UIDs, in no order (0 stands for a message that is not in the mailbox).

    `keywords` is the keyword set that they have now, None where it stayed.
    """

    mailbox: MailboxId
    modseq: ModSeq
    uids: Sequence[int]
    added: int
    taken: int
    keywords: int | None = None


Shift = Came | Went | Flagged


class Shifts(list[Shift]):
    """Those of one transaction, in their order."""


def made(tx: WriteTx, mailbox: MailboxId, before: ModSeq) -> Delta:
    """What this transaction has done to a mailbox so far, folded as the log is; `before` was its highest modseq."""
    return folded((shift for shift in tx.kept(Shifts) if shift.mailbox == mailbox), before)


def folded(shifts: Iterable[Shift], before: ModSeq) -> Delta:
    """Shifts of one mailbox as what is to be told: what came and went is not told, what changed twice is told once."""
    came: set[int] = set()
    went: set[int] = set()
    flagged: set[int] = set()
    highest = before
    for shift in shifts:
        {Came: came, Went: went, Flagged: flagged}[type(shift)].update(shift.uids)
        highest = max(highest, shift.modseq)
    flagged.discard(0)
    return Delta(
        highest=highest,
        arrived=_uids(came - went if went else came),
        gone=_uids(went - came if came else went),
        changed=_uids(flagged - came - went if came or went else flagged),
    )


def _uids(numbers: Iterable[int]) -> list[Uid]:
    return sorted(map(Uid, numbers))
