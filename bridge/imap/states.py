"""The states of a connection (RFC 3501 section 3) and what each of them holds.

Rule: as little as possible, as hundreds of sessions idle for hours.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from bridge.imap.view import View
from mailstore.cache import MailboxIndex
from mailstore.model import Mailbox, Uid
from mailstore.store import Store


class State(Enum):
    """Where a connection stands."""

    FRESH = "not authenticated"
    READY = "authenticated"
    SELECTED = "selected"
    OVER = "logout"


ANY: Final = frozenset({State.FRESH, State.READY, State.SELECTED})
BEFORE_LOGIN: Final = frozenset({State.FRESH})
LOGGED_IN: Final = frozenset({State.READY, State.SELECTED})
IN_MAILBOX: Final = frozenset({State.SELECTED})


@dataclass(slots=True)
class Selected:
    """The mailbox a session has open. `leave` undoes the subscriptions made when it was opened."""

    mailbox: Mailbox
    view: View
    store: Store
    read_only: bool
    leave: Callable[[], None]
    keywords: int = 0  # how many of the account's keywords the client has been told of; they only become more
    stale: bool = False  # the doorbell rang since the log was last read
    saved: Sequence[Uid] | None = None  # "$", the UIDs that SEARCH RETURN (SAVE) kept; None where that is not spoken

    @property
    def index(self) -> MailboxIndex:
        """The present state of the mailbox. Asked for each time: the store keeps those in use. Raises NoSuchMailbox."""
        return self.store.index(self.mailbox.id)
