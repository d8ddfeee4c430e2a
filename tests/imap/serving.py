"""A house that listens on real sockets, with TLS by a CA of its own, for clients that speak for themselves."""

import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bridge.net.listener import Listener
from bridge.net.tls import Certificates, ensure_certificates
from config.settings import Settings
from tests.imap.harness import House, house_settings, open_house

HOSTS = ("127.0.0.1", "::1")


@dataclass
class Serving:
    """The ports of a listening house."""

    house: House
    imap: int
    imaps: int
    certificates: Certificates

    @property
    def client_context(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.certificates.ca_file))


@asynccontextmanager
async def serve_house(
    home: Path, names: Sequence[str] = ("ada",), *, settings: Settings | None = None
) -> AsyncIterator[Serving]:
    """TLS is required, as by default."""
    certificates = ensure_certificates(home)
    settings = settings or house_settings(home, require_tls=True)
    listener = Listener()
    async with open_house(home, names, settings=settings, tls=certificates.context) as house:
        factory = house.service.protocol_factory
        imap = await listener.start(HOSTS, 0, factory(False))
        imaps = await listener.start(HOSTS, 0, factory(True), certificates.context)
        try:
            yield Serving(house, imap, imaps, certificates)
        finally:
            await listener.close()
