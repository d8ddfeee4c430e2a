"""What a session needs of the service it belongs to: a port, so that a session can be driven without one.

Rule: everything shared between sessions is reached through here; a session holds only what is its own.
"""

import ssl
from collections.abc import Callable
from typing import Any, Protocol

from bridge.auth import Authenticator, Identity
from bridge.imap.command import Farewell
from bridge.imap.items.flags import FlagTexts
from bridge.imap.ordering import OrderMemory
from bridge.imap.recents import Recents
from bridge.imap.view import Shelf
from bridge.imap.wire.framer import FramerLimits
from config.settings import Settings
from mailstore.model import Mailbox
from mailstore.store import Store


class Host(Protocol):
    """The service behind the sessions. Sessions are `Any` here, as they are built upon this port."""

    @property
    def store(self) -> Store: ...
    @property
    def auth(self) -> Authenticator: ...
    @property
    def settings(self) -> Settings: ...
    @property
    def shelf(self) -> Shelf: ...
    @property
    def recents(self) -> Recents: ...
    @property
    def order_memory(self) -> OrderMemory: ...
    @property
    def flag_texts(self) -> FlagTexts: ...
    @property
    def tls(self) -> ssl.SSLContext | None: ...
    @property
    def framer_limits(self) -> FramerLimits: ...
    @property
    def clock(self) -> Callable[[], float]: ...

    def admit(self, session: Any) -> Farewell | None:
        """A connection was opened; a farewell when there is no room for it."""

    def count_in(self, session: Any, identity: Identity) -> None:
        """A session of this account begins. Raises Refused when it has too many."""

    def count_out(self, session: Any) -> None:
        """The session's login is over, the connection is not."""

    def forget(self, session: Any) -> None:
        """The connection is over. May be called twice."""

    def note_claim(self, mailbox: Mailbox) -> None:
        """Have the store remember, soon, that a session has claimed what is \\Recent in this mailbox."""

    def rouse(self, session: Any) -> None:
        """Have `session.work` run, unless it does already."""

    def push_later(self, session: Any, seconds: float) -> None:
        """Have `session.push` called then; asking twice is asking once."""
