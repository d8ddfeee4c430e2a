"""The SMTP service: makes a protocol for each connection, on the STARTTLS port and on the TLS port alike.

The rule: it owns no thread and no loop; whoever listens gives it connections, and `close` leaves nothing half done.
"""

import asyncio
import logging
import ssl
from collections.abc import Callable

from bridge.net.limits import ConnectionLimits
from bridge.smtp.shared import Auth, Shared
from bridge.submissions import Submissions
from config.settings import Settings

CONNECTIONS = 500
CONNECTIONS_OF_PEER = 50


class SmtpService:
    """Made once a server; `protocol_factory` for each listening port."""

    def __init__(
        self,
        auth: Auth,
        settings: Settings,
        tls_context: ssl.SSLContext,
        submissions: Submissions,
        *,
        connections: ConnectionLimits | None = None,
        data_seconds: float = 1800.0,
    ) -> None:
        # aiosmtpd writes addresses and command lines at levels below this one; our log holds none.
        logging.getLogger("mail.log").setLevel(logging.ERROR)
        self._shared = Shared(
            auth=auth,
            submissions=submissions,
            tls_context=tls_context,
            hostname=settings.domain,
            max_size=settings.smtp.max_size,
            max_recipients=settings.smtp.max_recipients,
            require_tls=settings.require_tls,
            connections=connections or ConnectionLimits(CONNECTIONS, CONNECTIONS_OF_PEER),
            data_seconds=data_seconds,
        )

    def protocol_factory(self, implicit_tls: bool) -> Callable[[], asyncio.Protocol]:
        """What `Listener.start` wants; `implicit_tls` for the port on which the listener itself speaks TLS."""
        loop = asyncio.get_running_loop()

        def connect() -> asyncio.Protocol:
            from bridge.smtp.protocol import Submission  # on first use: with it comes the whole of aiosmtpd

            return Submission(self._shared, secure=implicit_tls, loop=loop)

        return connect

    async def close(self) -> None:
        """Say goodbye to every client and wait until the mails under way are kept."""
        for connection in list(self._shared.open):
            connection.goodbye("4.3.2 The server is shutting down")
        if self._shared.keeping:
            await asyncio.wait(self._shared.keeping)
