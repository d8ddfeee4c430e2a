"""A whole Postroom in this process: a real folder, store, runtime and SMTP sink, driven at post's own doors."""

import asyncio
import email
import email.policy
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from email.message import EmailMessage
from email.utils import make_msgid
from pathlib import Path

from bridge.app import App, handover_folders
from bridge.identity import Identity
from bridge.sink import Sink
from bridge.submissions import Client, Envelope, Receipt, Refused
from config.paths import open_folder
from config.secrets import Secret
from config.settings import Listen, Model, Outside, Relay, Settings, default_models
from mailstore import accounts, changes, flags, mailboxes, messages
from mailstore.model import AccountId, EmailId, FlagOp, Mailbox, Uid
from tests import canary

PATIENCE = 20.0
AGENT = "assistant@postroom.internal"
NOTES = (
    "The team met on Tuesday in the small hall. We decided to ship the reader in May. Bob writes the handbook by May. "
    "The printer costs 300 EUR. Nobody wants the old logo back. The next meeting is on Friday at ten."
)


@dataclass(frozen=True, slots=True)
class Kept:
    """A stored message as a test looks at it."""

    uid: Uid
    email: EmailId
    message: EmailMessage
    raw: bytes
    seen: bool
    keywords: tuple[str, ...]

    @property
    def text(self) -> str:
        body = self.message.get_body(("plain",))
        return str(body.get_content()).replace("\r\n", "\n") if body else ""


class Person:
    """One account and what its owner does."""

    def __init__(self, desk: "Desk", identity: Identity) -> None:
        self.desk = desk
        self.identity = identity
        self.address = identity.address

    def compose(
        self,
        to: str,
        subject: str,
        text: str,
        files: Mapping[str, str | bytes] | None = None,
        answers: Kept | None = None,
        **headers: str,
    ) -> EmailMessage:
        """A mail as a client writes it; with `answers` a reply with the quoted original."""
        mail = EmailMessage(policy=email.policy.SMTP)
        mail["From"], mail["To"], mail["Subject"] = self.address, to, subject
        mail["Message-ID"] = make_msgid(domain="client.example")
        for name, value in headers.items():
            mail[name.replace("_", "-")] = value
        if answers is not None:
            answered = answers.message["Message-ID"]
            mail["In-Reply-To"] = answered
            mail["References"] = f"{answers.message['References'] or ''} {answered}".strip()
            quoted = "\n".join(f"> {line}".rstrip() for line in answers.text.splitlines())
            text = f"{text}\n\nOn Mon, 30 Nov 2026 at 09:00, Assistant wrote:\n{quoted}\n"
        mail.set_content(text)
        for name, content in (files or {}).items():
            if isinstance(content, str):
                mail.add_attachment(content, filename=name)
            else:
                mail.add_attachment(content, "application", "zip", filename=name)
        return mail

    async def submit(self, mail: EmailMessage | bytes, *recipients: str) -> Receipt | Refused:
        """Hand a mail in, as SMTP does after the login."""
        raw = mail if isinstance(mail, bytes) else mail.as_bytes()
        named = recipients or tuple(one.addr_spec for one in _headers(raw)["To"].addresses)
        envelope = Envelope(self.address, named, raw, Client("127.0.0.1", "test", True))
        return await self.desk.app.accept.accept(self.identity, envelope)

    async def write(self, to: str, subject: str, text: str, **more: object) -> EmailMessage:
        mail = self.compose(to, subject, text, **more)  # type: ignore[arg-type]  # passed on
        assert isinstance(await self.submit(mail), Receipt)
        return mail

    async def reply(self, answered: Kept, text: str, *, to: str = "", **more: str) -> EmailMessage:
        """Answer a mail the way a client does: to its Reply-To, with the quote."""
        target = to or str((answered.message["Reply-To"] or answered.message["From"]).addresses[0].addr_spec)
        subject = f"Re: {answered.message['Subject']}"
        mail = self.compose(target, subject, text, None, answered, **more)
        assert isinstance(await self.submit(mail), Receipt)
        return mail

    def mailbox(self, name: str) -> Mailbox:
        found = self.desk.app.store.read(lambda tx: mailboxes.find(tx, self.identity.account, name))
        assert found is not None, name
        return found

    def mails(self, name: str = "INBOX") -> list[Kept]:
        """Everything in a mailbox, oldest first."""
        box = self.mailbox(name)
        store = self.desk.app.store
        uids = [Uid(uid) for uid in store.read(lambda tx: changes.snapshot(tx, box)).uids]
        rows = store.read(lambda tx: messages.fetch(tx, box, uids))
        return [self._kept(row.uid, row.email, row.content, row.flags_bits, row.keywords) for row in rows]

    def _kept(self, uid: Uid, mail: EmailId, content: int, bits: int, keywords: tuple[str, ...]) -> Kept:
        raw = self.desk.app.store.read(lambda tx: messages.body(tx, content))  # type: ignore[arg-type]  # a ContentId
        message = email.message_from_bytes(raw, policy=email.policy.default)
        return Kept(uid, mail, message, raw, bool(bits & 1), keywords)

    async def wait(self, name: str, wanted: Callable[[list[Kept]], bool]) -> list[Kept]:
        """The mails of a mailbox once they are as wanted; looks again whenever the mailbox changes."""
        box = self.mailbox(name)
        bell = asyncio.Event()
        stop = self.desk.app.store.doorbell.subscribe(box.id, bell.set)
        try:
            async with asyncio.timeout(PATIENCE):
                while not wanted(found := self.mails(name)):
                    bell.clear()
                    await bell.wait()
                return found
        except TimeoutError:
            raise AssertionError([f"{kept.message['Subject']}\n{kept.text}" for kept in self.mails(name)]) from None
        finally:
            stop()

    async def mail(self, subject: str, name: str = "INBOX", nth: int = 1) -> Kept:
        """The nth mail whose subject holds `subject`."""
        found = await self.wait(name, lambda all: sum(subject in kept.message["Subject"] for kept in all) >= nth)
        return [kept for kept in found if subject in kept.message["Subject"]][nth - 1]

    async def settled(self) -> None:
        """Wait until everything that came in was acted on and delivered."""
        await self.desk.settled()

    async def store_flag(self, kept: Kept, flag: str, name: str) -> None:
        box = self.mailbox(name)
        await self.desk.app.store.write(lambda tx: flags.store(tx, box, [kept.uid], FlagOp.ADD, [flag]))

    async def move(self, kept: Kept, source: str, target: str) -> None:
        here, there = self.mailbox(source), self.mailbox(target)
        await self.desk.app.store.write(lambda tx: messages.move(tx, here, [kept.uid], there))

    async def copy(self, kept: Kept, source: str, target: str) -> None:
        here, there = self.mailbox(source), self.mailbox(target)
        await self.desk.app.store.write(lambda tx: messages.copy(tx, here, [kept.uid], there))

    async def expunge(self, kept: Kept, name: str) -> None:
        await self.store_flag(kept, "\\Deleted", name)
        box = self.mailbox(name)
        await self.desk.app.store.write(lambda tx: messages.expunge(tx, box, [kept.uid]))

    async def append(self, name: str, raw: bytes, flag_names: tuple[str, ...] = ()) -> EmailId:
        prepared = self.desk.app.store.prepare(raw)
        box = self.mailbox(name)
        done = await self.desk.app.store.write(lambda tx: messages.append(tx, box, prepared, flags=flag_names))
        return done.email


class Desk:
    """The running program and its outside world."""

    def __init__(self, app: App, sink: Sink) -> None:
        self.app = app
        self.sink = sink

    async def person(self, name: str) -> Person:
        """A new account."""
        address = f"{name}@{self.app.settings.domain}"
        folders = tuple(handover_folders(self.app.settings))
        made = await self.app.store.write(lambda tx: accounts.create(tx, name, address, folders))
        return Person(self, Identity(made.id, name, address, "laptop", 1))

    async def settled(self) -> None:
        """Wait until no mail waits to be acted on and none to be delivered, and no run is in hand."""
        async with asyncio.timeout(PATIENCE):
            while self._busy():
                await self.app.runtime.idle()
                await self.app.store.write(lambda tx: None)  # behind everything that waits to be written

    def _busy(self) -> bool:
        runtime = self.app.runtime
        return self.app.store.read(
            lambda tx: bool(
                tx.value("bridge.arrivals.waiting")
                or runtime.take_letters(tx, 1)
                or tx.all("agents.runs.candidates", limit=1)
            )
        )

    def decided(self, account: AccountId) -> list[str]:
        rows = self.app.store.read(lambda tx: self.app.runtime.waiting(tx, account))
        return [row.code for row in rows]


def settings_for(home: Path, relay_port: int, **more: object) -> Settings:
    relay = Relay(host="127.0.0.1", port=relay_port, sender="ada@example.net", tls="none", timeout=10)
    listen = Listen(imap=0, imaps=0, smtp=0, smtps=0, web=0)
    kept = Secret(f"env:{canary.NAME}", environ={canary.NAME: canary.value()})
    models = {**default_models(), "canary": Model("canary", model="openai/none", api_key=kept)}
    secret = {"outside": Outside(password=kept), "models": models}
    return replace(Settings(home), relay=relay, listen=listen, user="ada", **{**secret, **more})  # type: ignore[arg-type]  # by name


@asynccontextmanager
async def opened(home: Path, sink: Sink, relay_port: int, *, work: bool = True, **more: object) -> AsyncIterator[Desk]:
    """Postroom on a folder; with `work` False nothing is read or done yet, as if the process had died after the 250."""
    app = await App.open(settings_for(home, relay_port, **more), open_folder(home))
    try:
        if work:
            await app.start()
        yield Desk(app, sink)
    finally:
        await app.close()


@asynccontextmanager
async def desk(home: Path, **more: object) -> AsyncIterator[Desk]:
    """Postroom with a sink, both fresh."""
    sink = Sink()
    port = await sink.start()
    try:
        async with opened(home, sink, port, work=True, **more) as made:
            yield made
    finally:
        await sink.close()


def _headers(raw: bytes) -> EmailMessage:
    return email.message_from_bytes(raw, policy=email.policy.default)


SEND = "Summarise the attached notes and send the summary to maya@example.org"


async def asked(person: Person, subject: str = "Notes from Tuesday") -> Kept:
    """A request to send, waiting in INBOX."""
    await person.write(AGENT, subject, SEND, files={"notes.txt": NOTES})
    return await person.mail("Approve?")


def counts(house: Desk, person: Person) -> dict[str, int]:
    """How many runs are in each state."""
    return house.app.store.read(lambda tx: house.app.runtime.run_counts(tx, person.identity.account))


def all_done(mails: list[Kept]) -> bool:
    """Whether every Activity message says that its run is done."""
    return all("[done]" in kept.message["Subject"] for kept in mails)
