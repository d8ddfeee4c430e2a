"""What all SMTP connections of a server share: limits, the way in, and the mails being kept at this moment.

The rule: keeping a mail is a task of the server, not of the connection: it ends by itself when the client goes away.
"""

import asyncio
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from bridge import scram
from bridge.auth import Begun
from bridge.identity import Identity
from bridge.net.limits import ConnectionLimits
from bridge.sasl import MECHANISMS
from bridge.smtp import replies, sender
from bridge.submissions import Client, Envelope, Refused, Submissions
from mailstore.errors import Full


class Auth(Protocol):
    """What is needed of bridge.auth.Authenticator."""

    @property
    def offers_scram(self) -> bool: ...
    async def check(self, login: str, password: str, *, peer: str) -> Identity | None: ...
    async def scram_begin(self, message: bytes, *, peer: str) -> Begun: ...
    async def scram_finish(self, begun: Begun, message: bytes) -> tuple[Identity, bytes] | None: ...


class Closable(Protocol):
    """A connection, as the service sees it."""

    def goodbye(self, text: str) -> None: ...


@dataclass(slots=True)
class Shared:
    """One for a server. Sizes are bytes, times seconds; `hostname` is the name in greetings."""

    auth: Auth
    submissions: Submissions
    tls_context: ssl.SSLContext
    hostname: str
    max_size: int
    max_recipients: int
    require_tls: bool
    connections: ConnectionLimits
    data_seconds: float = 1800.0
    check_sender: Callable[[bytes, str], str | None] = sender.refusal
    open: set[Closable] = field(default_factory=set)
    keeping: set[asyncio.Task[str]] = field(default_factory=set)

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """The ways to log in, the best first."""
        return (scram.NAME, *MECHANISMS) if self.auth.offers_scram else MECHANISMS

    async def keep(self, identity: Identity, envelope: Envelope) -> str:
        """Hand the mail over and return the reply. Cancelling the caller does not cancel this."""
        task = asyncio.create_task(self._accept(identity, envelope))
        self.keeping.add(task)
        task.add_done_callback(self.keeping.discard)
        return await asyncio.shield(task)

    async def turn_away(self, identity: Identity, client: Client, why: str) -> str:
        """Note that this login sent in another's name, and return the reply that refuses it."""
        with suppress(Full):  # it is refused whether there is room to note it or not
            await self.submissions.turned_away(identity, client, why)
        return replies.line(550, "5.7.1", why)

    async def _accept(self, identity: Identity, envelope: Envelope) -> str:
        try:
            receipt = await self.submissions.accept(identity, envelope)
        except Full:
            return "452 4.3.1 The disk is full, nothing was kept; make room and send again"
        if isinstance(receipt, Refused):
            return replies.line(receipt.code, receipt.status, receipt.text)
        return replies.line(250, "2.0.0", f"Accepted as {receipt.reference}")
