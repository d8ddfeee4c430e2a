"""The states of a connection (RFC 3501 section 3) and what each of them holds.

Rule: as little as possible, as hundreds of sessions idle for hours.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, Protocol

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


class Watch(Protocol):
    """A search whose result the client is kept informed of (RFC 5267)."""

    def leaving(self, gone: Sequence[tuple[int, Uid]]) -> bytes:
        """What is to be said before the departure of these messages (number, UID)."""

    async def refresh(self, session: Any, selected: "Selected") -> None:
        """Say what has come into the result and what has left it otherwise."""


class Listening(Protocol):
    """What a client has asked to be told at all times, of its mailbox and of others (RFC 5465)."""

    due: bool
    """Something has happened since it was last told."""

    def allowed(self, news: Any) -> Any:
        """Of the News that may be told of the selected mailbox, those that are wanted."""

    async def tell(self, session: Any) -> None:
        """Say what has happened elsewhere, and what is wanted of new messages here."""

    async def own(self, session: Any, fn: Callable[[Any], Any]) -> Any:
        """`fn` in a write transaction, as a change that this client knows of; what it returned."""

    def leave(self) -> None:
        """Stop listening."""


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
    held_back: bool = False  # the client was told that it does not know of all departures yet
    saved: Sequence[Uid] | None = None  # "$", the UIDs that SEARCH RETURN (SAVE) kept; None where that is not spoken

    watches: dict[bytes, Watch] = field(default_factory=dict)  # by the tag of the search

    async def refresh_watches(self, session: Any) -> None:
        """Say what has changed in the results that are watched."""
        for watch in list(self.watches.values()):
            await watch.refresh(session, self)

    @property
    def index(self) -> MailboxIndex:
        """The present state of the mailbox. Asked for each time: the store keeps those in use. Raises NoSuchMailbox."""
        return self.store.index(self.mailbox.id)
