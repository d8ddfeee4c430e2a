"""The outside world of the tests: the user's own mail provider, which signs, another one, and a DNS of two entries."""

import asyncio
import email
import email.policy
import time
from base64 import b64encode
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import dkim
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from agents.audit import Entry
from bridge.app import App
from bridge.identity import Identity
from bridge.post.answers import Answers
from bridge.post.identity import KeyUnknown
from bridge.sink import Sink
from bridge.watch import Place
from config.paths import open_folder
from config.secrets import Secret
from config.settings import Outside, Relay
from mailstore import accounts
from mailstore.model import Account
from tests.post.desk import AGENT, NOTES, PATIENCE, SEND, Desk, Person, settings_for

REAL = "ada@example.com"
PASSWORD = "correct horse battery staple"
SIGNED = (
    "from", "to", "cc", "subject", "date", "message-id", "in-reply-to", "references", "mime-version", "content-type",
    "content-transfer-encoding",
)  # packed, to be seen at a glance  # fmt: skip


@dataclass(frozen=True)
class Key:
    """A signing key of a domain, and its record."""

    domain: str
    private: bytes
    record: bytes

    @property
    def name(self) -> bytes:
        return f"s1._domainkey.{self.domain}.".encode()

    def sign(self, raw: bytes, *, names: tuple[str, ...] = SIGNED, at: float | None = None, **more: Any) -> bytes:
        """Sign a mail as a provider does."""
        present = {line.partition(b":")[0].lower().decode() for line in raw.partition(b"\r\n\r\n")[0].split(b"\r\n")}
        listed = [name.encode() for name in names if name in present]
        with patch("dkim.time.time", return_value=time.time() if at is None else at):
            made: bytes = dkim.DKIM(raw).sign(
                b"s1",
                self.domain.encode(),
                self.private,
                canonicalize=(b"relaxed", b"relaxed"),
                include_headers=listed,
                **more,
            )
        return made + raw


@cache
def key_of(domain: str) -> Key:
    """The key of a domain, the same in every test."""
    made = rsa.generate_private_key(public_exponent=65537, key_size=1024)
    private = made.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    public = made.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return Key(domain, private, b"v=DKIM1; k=rsa; p=" + b64encode(public))


@dataclass
class Dns:
    """What the DNS says; `down`: it says nothing at all."""

    records: dict[bytes, bytes] = field(default_factory=dict)
    down: bool = False

    def knows(self, *keys: Key) -> "Dns":
        self.records.update({key.name: key.record for key in keys})
        return self

    def __call__(self, name: bytes, timeout: float) -> bytes | None:
        if self.down:
            raise KeyUnknown("timed out")
        return self.records.get(name)


def reply_to(asked: EmailMessage, text: str, sender: str = REAL, headers: Mapping[str, str] | None = None) -> bytes:
    """A reply as the user's client writes it, before their provider signs it."""
    mail = EmailMessage(policy=email.policy.SMTP)
    mail["From"], mail["To"] = sender, str(asked["Reply-To"])
    mail["Subject"] = f"Re: {asked['Subject']}"
    mail["Date"] = formatdate(localtime=True)
    mail["Message-ID"] = make_msgid(domain="example.com")
    mail["In-Reply-To"] = mail["References"] = str(asked["Message-ID"])
    for name, value in (headers or {}).items():
        del mail[name]
        if value:
            mail[name] = value
    body = asked.get_body(("plain",))
    quoted = "".join(f"> {line}".rstrip() + "\n" for line in str(body.get_content()).splitlines()) if body else ""
    mail.set_content(f"{text}\n\nOn Mon, 30 Nov 2026 at 09:00, Assistant (Postroom) wrote:\n{quoted}")
    return mail.as_bytes()


class House:
    """A Postroom whose user may decide from outside, what left it, and what comes back."""

    def __init__(self, desk: Desk, person: Person, dns: Dns) -> None:
        self.desk = desk
        self.person = person
        self.dns = dns
        self._uid = 0

    def out(self, to: str = REAL) -> list[EmailMessage]:
        """What went to an address, oldest first."""
        raw = [mail.data for mail in self.desk.sink.messages if mail.recipients == (to,)]
        return [email.message_from_bytes(one, policy=email.policy.default) for one in raw]

    async def letter(self, number: int = 1) -> EmailMessage:
        """The nth mail to the real address."""
        async with asyncio.timeout(PATIENCE):
            count = 0
            while len(self.out()) < number:
                count = len(await self.desk.sink.wait(count + 1))
        return self.out()[number - 1]

    async def watching(self) -> None:
        """Wait until the mailbox was looked at once: what comes now is new."""
        looked = asyncio.Event()
        take = Answers.take

        async def took(self: Answers, raw: bytes | None, place: Place) -> None:
            await take(self, raw, place)
            looked.set()

        with patch.object(Answers, "take", took):
            if not self.desk.app.store.read(lambda tx: tx.value("bridge.outside.places")):
                await asyncio.wait_for(looked.wait(), PATIENCE)

    async def arrives(self, raw: bytes) -> None:
        """A mail is found in the watched mailbox."""
        self._uid += 1
        app = self.desk.app
        assert app.outward is not None
        answers = Answers(app.store, app.runtime, app.outward, app.settings, app.clock.now, self.dns)
        await answers.take(raw, Place(1, self._uid))
        await self.desk.settled()

    def trail(self, what: str = "") -> list[Entry]:
        """The audit of the account, oldest first."""
        app, account = self.desk.app, self.person.identity.account
        found = app.store.read(lambda tx: app.runtime.trail(tx, account))
        return [entry for entry in reversed(found) if entry.what.startswith(what)]

    @property
    def released(self) -> list[tuple[str, ...]]:
        """Who got mail that an approval released."""
        return [mail.recipients for mail in self.desk.sink.messages if mail.recipients != (REAL,)]


async def asked(at: House, subject: str = "Notes from Tuesday", number: int = 1) -> EmailMessage:
    """A request that went out to the real address; `number`: which of the mails there it is."""
    await at.person.write(AGENT, subject, SEND, files={"notes.txt": NOTES})
    return await at.letter(number)


def signed(out: EmailMessage, text: str = "approve", **more: Any) -> bytes:
    """The user's answer to a request that went out, as their provider signs it; `more`: options of `Key.sign`."""
    return key_of("example.com").sign(reply_to(out, text), **more)


def outside_of(port: int = 1, **more: Any) -> Outside:
    password = Secret("env:FAR", environ={"FAR": PASSWORD})
    given = {"addresses": (REAL,), "host": "127.0.0.1", "port": port, "tls": "none", "username": "ada", **more}
    return Outside(enabled=True, password=password, reply_to="post@example.net", **given)


def relay_of(port: int) -> Relay:
    return Relay(
        host="127.0.0.1", port=port, sender="post@example.net", tls="none", timeout=10, dkim_domain="example.net"
    )


@asynccontextmanager
async def house(home: Path, *, watched: Outside | None = None, **more: Any) -> AsyncIterator[House]:
    """A Postroom with a sink for a relay, new or started again on its folder. Without `watched` nothing is fetched: the
    test hands mail in itself."""
    sink = Sink()
    port = await sink.start()
    settings = replace(settings_for(home, port, **more), relay=relay_of(port), outside=watched or outside_of())
    app = await App.open(settings, open_folder(home))
    app.key_lookup = known = Dns().knows(key_of("example.com"), key_of("evil.example"))
    try:
        made = Desk(app, sink)
        there = app.store.read(accounts.all)
        ada = Person(made, _login(there[0])) if there else await made.person("ada")
        await app.start()
        yield House(made, ada, known)
    finally:
        await app.close()
        await sink.close()


def _login(account: Account) -> Identity:
    return Identity(account.id, account.name, account.address, "laptop", 1)
