"""Drives real IMAP sessions without sockets: real store, passwords and pump over an in-memory transport."""

import asyncio
import re
import ssl
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from argon2 import PasswordHasher

from bridge import sql as bridge_sql
from bridge.auth import Authenticator
from bridge.imap.dialect import Dialect
from bridge.imap.items import RENDERERS
from bridge.imap.service import ImapService
from bridge.net.limits import LoginLimits
from bridge.net.transport import Pump
from config.settings import Imap, Settings
from mailstore import accounts, mailboxes, messages
from mailstore.model import Account, Appended, Mailbox
from mailstore.store import Store

PASSWORD = "correct horse"
BOUND = 30.0  # seconds within which anything awaited has to happen
LITERAL = re.compile(rb"\{(\d+)\}\r\n\Z")


class MemoryTransport(asyncio.Transport):
    """Bytes written land in the client; reading can be paused as on a socket."""

    def __init__(self, client: "Client", peer: str, *, secure: bool) -> None:
        super().__init__()
        self._client = client
        self._extra_info = {"peername": (peer, 40000), "ssl_object": object() if secure else None}
        self._protocol: asyncio.Protocol | None = None
        self._waiting: list[bytes] = []
        self._paused = False
        self._closed = False

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        found = self._extra_info.get(name)
        return default if found is None else found

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        assert isinstance(protocol, asyncio.Protocol)
        self._protocol = protocol

    def get_protocol(self) -> asyncio.BaseProtocol:
        assert self._protocol is not None
        return self._protocol

    def is_closing(self) -> bool:
        return self._closed

    def is_reading(self) -> bool:
        return not self._paused

    def pause_reading(self) -> None:
        self._paused = True

    def resume_reading(self) -> None:
        self._paused = False
        waiting, self._waiting = self._waiting, []
        for data in waiting:
            self.deliver(data)

    def deliver(self, data: bytes) -> None:
        """Bytes from the client."""
        if self._closed:
            return
        if self._paused:
            self._waiting.append(data)
        else:
            assert self._protocol is not None
            self._protocol.data_received(data)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        return None

    def get_write_buffer_size(self) -> int:
        return 0

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if not self._closed:
            self._client.arrive(bytes(data))

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._client.ended()
            assert self._protocol is not None
            asyncio.get_running_loop().call_soon(self._protocol.connection_lost, None)

    abort = close


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command was answered: untagged responses (without `* ` and CRLF), and the tagged line's parts."""

    untagged: list[bytes]
    status: bytes
    text: bytes

    @property
    def ok(self) -> bool:
        return self.status == b"OK"

    def only(self, word: bytes) -> list[bytes]:
        """The untagged responses that contain this word as their first or second."""
        return [line for line in self.untagged if word in line.split(b" ", 2)[:2]]


class Client:
    """One connection, as a peer sees it."""

    def __init__(self, house: "House", peer: str = "127.0.0.1", *, secure: bool = False) -> None:
        self._begin()
        self.transport = MemoryTransport(self, peer, secure=secure)
        protocol = house.service.protocol_factory(secure)()
        self.transport.set_protocol(protocol)
        protocol.connection_made(self.transport)

    def _begin(self) -> None:
        self.inbox = bytearray()
        self.closed = False
        self._news = asyncio.Event()
        self._tag = 0

    # From the transport

    def arrive(self, data: bytes) -> None:
        self.inbox += data
        self._news.set()

    def ended(self) -> None:
        self.closed = True
        self._news.set()

    # For tests

    def send(self, data: bytes) -> None:
        self.transport.deliver(data)

    async def line(self) -> bytes:
        """The next line, with its CRLF; b"" when the connection ended."""
        while (end := self.inbox.find(b"\r\n")) < 0:
            if self.closed:
                return b""
            await self._more()
        line = bytes(self.inbox[: end + 2])
        del self.inbox[: end + 2]
        return line

    async def response(self) -> bytes:
        """The next response whole, literals included, without the last CRLF."""
        whole = await self.line()
        while (match := LITERAL.search(whole)) is not None:
            size = int(match[1])
            while len(self.inbox) < size:
                await self._more()
            whole += bytes(self.inbox[:size])
            del self.inbox[:size]
            whole += await self.line()
        return whole.removesuffix(b"\r\n")

    async def _more(self) -> None:
        self._news.clear()
        await asyncio.wait_for(self._news.wait(), BOUND)

    def tag(self) -> bytes:
        self._tag += 1
        return b"t%d" % self._tag

    async def answer(self, tag: bytes) -> Answer:
        """Everything up to the tagged line."""
        untagged: list[bytes] = []
        while True:
            response = await self.response()
            if response.startswith(tag + b" "):
                _, status, text = response.split(b" ", 2)
                return Answer(untagged, status, text)
            assert response, f"the connection ended, after {untagged}"
            untagged.append(response.removeprefix(b"* "))

    async def command(self, text: str | bytes) -> Answer:
        tag = self.tag()
        self.send(tag + b" " + (text.encode() if isinstance(text, str) else text) + b"\r\n")
        return await self.answer(tag)

    async def append(self, mailbox: str, raw: bytes, flags: str = "()") -> Answer:
        return await self.command(f'APPEND "{mailbox}" {flags} {{{len(raw)}+}}\r\n'.encode() + raw)

    async def greeted(self) -> bytes:
        return await self.response()

    async def closing(self) -> list[bytes]:
        """All that is said until the connection ends."""
        said = []
        while response := await self.response():
            said.append(response)
        assert self.closed
        return said

    async def finished(self) -> None:
        """Return when the server does nothing for this connection any more."""
        pump = self.transport.get_protocol()
        assert isinstance(pump, Pump)
        if pump._task is not None:
            await asyncio.wait({pump._task}, timeout=BOUND)

    async def settle(self) -> None:
        """Let everything that is due in the loop happen."""
        for _ in range(5):
            await asyncio.sleep(0)


@dataclass
class House:
    """A store with accounts and an IMAP service on it."""

    store: Store
    auth: Authenticator
    service: ImapService
    settings: Settings
    accounts: dict[str, Account] = field(default_factory=dict)

    def connect(self, peer: str = "127.0.0.1", *, secure: bool = False) -> Client:
        return Client(self, peer, secure=secure)

    async def dial(self, *, secure: bool = False) -> Client:
        """A new connection; other houses dial over sockets."""
        return self.connect(secure=secure)

    async def login(self, name: str = "ada", select: str | None = None) -> Client:
        """A client that has logged in, and selected a mailbox."""
        client = await self.dial()
        await client.greeted()
        answer = await client.command(f'LOGIN {name} "{PASSWORD}"')
        assert answer.ok, answer
        if select is not None:
            answer = await client.command(f'SELECT "{select}"')
            assert answer.ok, answer
        return client

    def mailbox(self, name: str, account: str = "ada") -> Mailbox:
        found = self.store.read(lambda tx: mailboxes.find(tx, self.accounts[account].id, name))
        assert found is not None, name
        return found

    async def append(
        self, mailbox: str, raw: bytes, flags: Sequence[str] = (), labels: Sequence[str] = (), account: str = "ada"
    ) -> Appended:
        """A message put there by the program itself, past every session."""
        prepared = self.store.prepare(raw)
        into = self.mailbox(mailbox, account)
        return await self.store.write(lambda tx: messages.append(tx, into, prepared, flags=flags, labels=labels))


class Ticking:
    """A clock on which enough time passes between any two looks for news to go out, and never enough to log out."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 0.2
        return self.now


def letter(subject: str, body: str = "Hello.", message_id: str | None = None) -> bytes:
    """A small message."""
    lines = [
        "From: Bob <bob@example.org>",
        "To: ada@postroom.internal",
        f"Subject: {subject}",
        f"Message-ID: <{message_id or subject.replace(' ', '.')}@example.org>",
        "Date: Mon, 30 Nov 2026 09:00:00 +0000",
        "",
        *body.split("\n"),
    ]
    return "".join(line + "\r\n" for line in lines).encode()


def house_settings(home: Path, *, require_tls: bool = False, imap: Imap | None = None) -> Settings:
    return Settings(home=home, require_tls=require_tls, imap=imap or Imap())


@asynccontextmanager
async def open_house(
    home: Path,
    names: Sequence[str] = ("ada",),
    *,
    settings: Settings | None = None,
    tls: ssl.SSLContext | None = None,
    dialect: Dialect | None = None,
    ticking: bool = False,
) -> AsyncIterator[House]:
    """A house for a test; the passwords of all accounts are PASSWORD. `ticking`: news in IDLE is never held back."""
    settings = settings or house_settings(home)
    store = await Store.open(home, [bridge_sql.series()], renderers=RENDERERS)
    hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    limits = LoginLimits(asyncio.get_running_loop().time, first_delay=0.01, longest_delay=0.02)
    auth = Authenticator(store, settings, hasher=hasher, limits=limits, iterations=4096)
    clock = Ticking() if ticking else time.monotonic
    service = ImapService(store, auth, settings, tls, dialect=dialect, clock=clock)
    house = House(store, auth, service, settings)
    try:
        for name in names:
            address = settings.address(name)
            account = await store.write(lambda tx, n=name, a=address: accounts.create(tx, n, a, ["Assistant"]))  # type: ignore[misc]  # mypy cannot infer the defaults
            await auth.add_given(account.id, "test", PASSWORD)
            house.accounts[name] = account
        yield house
    finally:
        await house.service.close()
        auth.close()
        await store.close()
