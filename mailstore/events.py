"""What the store tells inside its transactions; subscribe with `store.on(Event, fn)`.

The rule: an event is told in the transaction of the change it speaks of, so what a subscriber writes is kept or lost
together with it. Views tell nothing: a message arrives and goes once, with its one stored placement. What is done to
messages is told once for all of them, as thousands go at a time and concern hardly anyone who listens.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from mailstore.model import AccountId, EmailId, Mailbox, MailboxId, ThreadId, Uid
from mailstore.shifts import Shift

How = Literal["append", "copy", "move", "deliver"]


class Mail(NamedTuple):
    """A message of which something is told. A tuple, as there may be thousands."""

    email: EmailId
    thread: ThreadId
    message_id: str | None = None


@dataclass(frozen=True, slots=True)
class Arrived:
    """Messages have a new place in a stored mailbox, under the UIDs from `uid` on. `deliver` means that Postroom itself
    put them there."""

    account: AccountId
    mailbox: Mailbox
    uid: Uid
    emails: Sequence[EmailId]
    how: How


@dataclass(frozen=True, slots=True)
class Trashed:
    """Messages are in Trash now and nowhere else: moved there, or expunged after copies were made there."""

    account: AccountId
    mails: Sequence[Mail]


@dataclass(frozen=True, slots=True)
class Gone:
    """Messages were destroyed, and nothing with the same bytes is left in the account. `junked`: they were in Junk."""

    account: AccountId
    mails: Sequence[Mail]
    junked: bool


@dataclass(frozen=True, slots=True)
class Restored:
    """Messages were moved out of Trash."""

    account: AccountId
    mails: Sequence[Mail]


@dataclass(frozen=True, slots=True)
class Touched:
    """These mailboxes have new rows in their log, or another name, subscription or note. For the store itself: it rings
    the doorbell after the commit. `shift`: what was done to the one mailbox (see `shifts`), where it is known."""

    mailboxes: frozenset[MailboxId]
    shift: Shift | None = None


@dataclass(slots=True)
class Watched:
    """Asks, when messages of an Unread view are read, whether a session has it selected. The store answers."""

    mailbox: MailboxId
    answer: bool = False


@dataclass(frozen=True, slots=True)
class Lingering:
    """Messages of an Unread view were read and stay for now. For the store, which comes back for them."""

    mailbox: MailboxId


@dataclass(frozen=True, slots=True)
class Stale:
    """Content was added, or messages were destroyed. For the store itself: the text index and the sweep have work."""
