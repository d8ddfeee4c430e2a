"""What the store tells inside its transactions; subscribe with `store.on(Event, fn)`.

The rule: an event is told in the transaction of the change it speaks of, so what a subscriber writes is kept or lost
together with it. Views tell nothing: a message arrives and goes once, with its one stored placement. What is told of
single messages is a tuple, as thousands are told at a time (`WriteTx.emit_all`).
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from mailstore.model import AccountId, EmailId, Mailbox, MailboxId, ThreadId, Uid
from mailstore.shifts import Shift

How = Literal["append", "copy", "move", "deliver"]


class Arrived(NamedTuple):
    """A message has a new place in a stored mailbox. `deliver` means that Postroom itself put it there."""

    account: AccountId
    mailbox: Mailbox
    uid: Uid
    email: EmailId
    how: How


class Trashed(NamedTuple):
    """A message is in Trash now and nowhere else: moved there, or expunged after a copy was made there."""

    account: AccountId
    email: EmailId
    thread: ThreadId
    message_id: str | None = None


class Gone(NamedTuple):
    """A message was destroyed. `everywhere`: no other copy of it is left in the account. `junked`: it was in Junk."""

    account: AccountId
    email: EmailId
    thread: ThreadId
    everywhere: bool
    junked: bool
    message_id: str | None = None


class Restored(NamedTuple):
    """A message was moved out of Trash."""

    account: AccountId
    email: EmailId
    thread: ThreadId
    message_id: str | None = None


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
    """Content was added or lost its last message. For the store itself: the text index and the sweep have work."""
