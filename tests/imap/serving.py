"""A house that listens on real sockets, with TLS by a CA of its own, for clients that speak for themselves."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bridge.net.listener import Listener
from bridge.net.tls import Certificates, ensure_certificates
from config.settings import Settings
from tests.imap.harness import BOUND, Client, House, house_settings, open_house

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


class SocketClient(Client):
    """A client over a TLS socket, heard and spoken to as the others are."""

    def __init__(self) -> None:
        self._begin()
        self.link: asyncio.Transport

    def send(self, data: bytes) -> None:
        self.link.write(data)

    async def settle(self) -> None:
        """What has been sent by now is here: a turn of both ends of a local socket."""
        for _ in range(20):
            await asyncio.sleep(0)


class _Ear(asyncio.Protocol):
    """Brings what is heard to the client."""

    def __init__(self, client: SocketClient) -> None:
        self._client = client

    def data_received(self, data: bytes) -> None:
        self._client.arrive(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._client.ended()


async def dial(port: int, context: ssl.SSLContext) -> SocketClient:
    """A client at a TLS port of this machine."""
    client = SocketClient()
    client.link, _ = await asyncio.wait_for(
        asyncio.get_running_loop().create_connection(lambda: _Ear(client), "127.0.0.1", port, ssl=context), BOUND
    )
    return client


@dataclass
class SocketHouse(House):
    """A house whose clients dial the TLS port."""

    serving: Serving | None = None
    dialled: list[SocketClient] = field(default_factory=list)

    @classmethod
    def of(cls, serving: Serving) -> "SocketHouse":
        house = serving.house
        return cls(house.store, house.auth, house.service, house.settings, house.accounts, serving=serving)

    async def dial(self, *, secure: bool = False) -> Client:
        assert self.serving is not None
        client = await dial(self.serving.imaps, self.serving.client_context)
        self.dialled.append(client)
        return client

    async def hang_up(self) -> None:
        for client in self.dialled:
            client.link.close()
            while not client.closed:
                await client._more()
