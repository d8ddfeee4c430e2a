"""A running SMTP service for tests: real sockets, TLS, store and passwords; only who takes the mail is a double.

`Postbox` is that double: it keeps what it accepted, and can be told to wait, to fail or to refuse.
"""

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from argon2 import PasswordHasher

from bridge import sql
from bridge.auth import Authenticator
from bridge.identity import Identity
from bridge.net.limits import LoginLimits
from bridge.net.listener import Listener
from bridge.net.tls import ensure_certificates
from bridge.smtp.service import SmtpService
from bridge.submissions import Accepted, Client, Envelope, Receipt, Refused
from config.settings import Imap, Settings, Smtp
from mailstore import accounts
from mailstore.model import Account
from mailstore.store import Store

DOMAIN = "bridge.test"
ME = f"alice@{DOMAIN}"
PASSWORD = "correct horse"
KNOWN = ("assistant", "research", "alice")
MESSAGE = f"From: {ME}\r\nTo: assistant@{DOMAIN}\r\nSubject: Hello\r\nMessage-ID: <m1@x>\r\n\r\nbody\r\n".encode()


def cheap_hasher() -> PasswordHasher:
    """argon2id with so little work that tests are quick."""
    return PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


async def no_sleep(seconds: float) -> None:
    """Waits not at all."""
    assert seconds >= 0


@dataclass
class Postbox:
    """The double of bridge.submissions.Submissions."""

    kept: list[tuple[Identity, Envelope]] = field(default_factory=list)
    turned: list[tuple[str, str]] = field(default_factory=list)
    answer: Callable[[Envelope], Refused | None] = lambda envelope: None
    gate: asyncio.Event | None = None
    entered: asyncio.Event = field(default_factory=asyncio.Event)
    done: asyncio.Event = field(default_factory=asyncio.Event)

    def recipient(self, identity: Identity, address: str) -> Accepted | Refused:
        local, _, domain = address.lower().partition("@")
        if domain not in ("", DOMAIN):
            return Refused(550, "5.7.1", f"{address} is outside and no relay is configured")
        if local not in KNOWN and not local.startswith("many"):
            names = ", ".join(f"{name}@{DOMAIN}" for name in KNOWN)
            return Refused(550, "5.1.1", f"There is no {address} here; there are {names}")
        return Accepted()

    async def accept(self, identity: Identity, envelope: Envelope) -> Receipt | Refused:
        self.entered.set()
        if self.gate is not None:
            await self.gate.wait()
        refused = self.answer(envelope)
        if refused is not None:
            return refused
        self.kept.append((identity, envelope))
        self.done.set()
        return Receipt(f"mail-{len(self.kept)}")

    async def turned_away(self, identity: Identity, client: Client, why: str) -> None:
        self.turned.append((identity.address, why))

    @property
    def raw(self) -> bytes:
        """The bytes of the last mail."""
        return self.kept[-1][1].raw


@dataclass
class Running:
    """A service that listens."""

    service: SmtpService
    postbox: Postbox
    smtp: int
    smtps: int
    ca_file: Path
    auth: Authenticator
    account: Account
    store: Store

    async def connections(self, count: int) -> None:
        """Returns once the server has no more than `count` connections."""
        async with asyncio.timeout(20):
            while len(self.service._shared.open) > count:  # noqa: ASYNC110 - connections end by themselves, without a sign
                await asyncio.sleep(0)

    @property
    def trust(self) -> ssl.SSLContext:
        """A client's context."""
        return ssl.create_default_context(cafile=self.ca_file)


def settings_for(home: Path, **changes: object) -> Settings:
    """Settings of the tests' domain."""
    return replace(Settings(home=home, domain=DOMAIN), **changes)  # type: ignore[arg-type]  # checked by dataclasses


@asynccontextmanager
async def opened(home: Path) -> AsyncIterator[tuple[Store, Account]]:
    """A store with one account."""
    store = await Store.open(home, [sql.series()])
    account = await store.write(lambda tx: accounts.create(tx, "alice", ME, []))
    try:
        yield store, account
    finally:
        await store.close()


def authenticator(store: Store, settings: Settings) -> Authenticator:
    """An Authenticator that neither works hard nor waits."""
    loop = asyncio.get_running_loop()
    return Authenticator(
        store,
        settings,
        limits=LoginLimits(loop.time, first_delay=0.0),
        hasher=cheap_hasher(),
        sleep=no_sleep,
        iterations=4096,
    )


@asynccontextmanager
async def running(
    home: Path,
    *,
    data_seconds: float = 60.0,
    smtp: Smtp | None = None,
    require_tls: bool = True,
    imap: Imap | None = None,
) -> AsyncIterator[Running]:
    """The service on free ports, with the account alice and her password."""
    settings = settings_for(home, smtp=smtp or Smtp(), require_tls=require_tls, imap=imap or Imap())
    certificates = ensure_certificates(home)
    async with opened(home) as (store, account):
        auth = authenticator(store, settings)
        await auth.add_given(account.id, "test", PASSWORD)
        postbox = Postbox()
        service = SmtpService(auth, settings, certificates.context, postbox, data_seconds=data_seconds)
        listener = Listener()
        hosts = ["127.0.0.1"]
        clear = await listener.start(hosts, 0, service.protocol_factory(False))
        tls = await listener.start(hosts, 0, service.protocol_factory(True), ssl=certificates.context)
        try:
            yield Running(service, postbox, clear, tls, certificates.ca_file, auth, account, store)
        finally:
            await listener.close()
            await service.close()
            auth.close()


class Wire:
    """An SMTP client that says exactly what it is told. Every read is bounded."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def connect(cls, server: Running, *, tls: bool = False) -> "Wire":
        """Connect; the greeting is read by `reply`."""
        port = server.smtps if tls else server.smtp
        context = server.trust if tls else None
        return cls(*await asyncio.open_connection("127.0.0.1", port, ssl=context, limit=2**20))

    @classmethod
    async def logged_in(cls, server: Running) -> "Wire":
        """Greeted and logged in over TLS."""
        wire = await cls.connect(server, tls=True)
        await wire.reply()
        await wire.ask("EHLO client.test")
        assert (await wire.ask(auth_plain())).startswith("235")
        return wire

    async def send(self, data: str | bytes) -> None:
        """Send bytes, or a line."""
        self.writer.write(data if isinstance(data, bytes) else data.encode() + b"\r\n")
        await self.writer.drain()

    async def reply(self) -> str:
        """The next reply, lines joined by newlines; "" when the server has closed."""
        lines = []
        async with asyncio.timeout(20):
            while True:
                line = (await self.reader.readline()).decode().rstrip("\r\n")
                lines.append(line)
                if line[3:4] != "-":
                    return "\n".join(lines)

    async def ask(self, line: str | bytes) -> str:
        """Send a line, return the reply."""
        await self.send(line)
        return await self.reply()

    async def replies(self, count: int) -> list[str]:
        """The codes of the next replies."""
        return [(await self.reply())[:3] for _ in range(count)]

    async def envelope(self, recipients: Sequence[str] = (f"assistant@{DOMAIN}",)) -> None:
        """MAIL and RCPT, which must succeed."""
        assert (await self.ask(f"MAIL FROM:<{ME}>")).startswith("250")
        for recipient in recipients:
            assert (await self.ask(f"RCPT TO:<{recipient}>")).startswith("250")

    async def mail(self, raw: bytes = MESSAGE) -> str:
        """One whole mail; `raw` goes out as it is, dots and all, with the final dot after it."""
        await self.envelope()
        assert (await self.ask("DATA")).startswith("354")
        return await self.ask(raw + b".\r\n")

    async def closed(self) -> bool:
        """Whether the server has closed (or cut) the connection."""
        try:
            async with asyncio.timeout(20):
                return await self.reader.read() == b""
        except (ConnectionError, ssl.SSLError):
            return True

    async def starttls(self, server: Running) -> None:
        """Speak TLS from here on."""
        await self.writer.start_tls(server.trust, server_hostname="localhost")
        # StreamWriter.start_tls of Python 3.11 leaves the reader with the old transport.
        self.reader._transport = self.writer.transport  # type: ignore[attr-defined]  # as above

    async def close(self) -> None:
        """Hang up."""
        self.writer.close()
        try:
            async with asyncio.timeout(20):
                await self.writer.wait_closed()
        except (ConnectionError, ssl.SSLError):
            pass


def auth_plain(login: str = "alice", password: str = PASSWORD) -> str:
    """An AUTH PLAIN command with its initial response."""
    return f"AUTH PLAIN {b64(chr(0) + login + chr(0) + password)}"


def b64(text: str) -> str:
    """Base64 of a text."""
    return base64.b64encode(text.encode()).decode()
