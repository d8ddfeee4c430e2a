"""What the runtime needs from the world, as Protocols: a database, the user's mail, a relay, a clock, a probe.

The rule: agents imports none of the things that stand behind these; `bridge.app` hands them in.
"""

import sqlite3
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, runtime_checkable

from agents.letter import File, OutsideMail

Millis = int
T = TypeVar("T")
E = TypeVar("E")


class ReadTx(Protocol):
    """Named queries over one snapshot. A name is "<series>.<file>.<query>"."""

    def all(self, name: str, /, **params: Any) -> list[sqlite3.Row]: ...
    def one(self, name: str, /, **params: Any) -> sqlite3.Row | None: ...
    def value(self, name: str, /, **params: Any) -> Any: ...


class WriteTx(ReadTx, Protocol):
    """One transaction on the one writer. `emit` calls subscribers now, inside it; `after` runs in the loop once COMMIT
    has returned.
    """

    def run(self, name: str, /, **params: Any) -> int: ...
    def insert(self, name: str, /, **params: Any) -> int: ...
    def many(self, name: str, rows: Iterable[Mapping[str, Any]], /) -> int: ...
    def emit(self, event: object) -> None: ...
    def after(self, fn: Callable[[], None]) -> None: ...


class Database(Protocol):
    """The one database. A write is a whole function, run once, shielded from cancellation; its result leaves only
    after COMMIT.
    """

    def read(self, fn: Callable[[ReadTx], T]) -> T: ...
    async def read_slow(self, fn: Callable[[ReadTx], T]) -> T: ...
    def write(self, fn: Callable[[WriteTx], T]) -> Awaitable[T]: ...
    def on(self, event_type: type[E], fn: Callable[[WriteTx, E], None]) -> None: ...


class Clock(Protocol):
    """Wall time in UTC milliseconds."""

    def now(self) -> Millis: ...


@runtime_checkable
class Steady(Protocol):
    """A clock that also measures: milliseconds that only go forward and stand while the machine sleeps."""

    def steady(self) -> Millis: ...


class Probe(Protocol):
    """Told the name of every point at which a crash would matter: before and after each effect."""

    def point(self, name: str) -> None: ...


@dataclass(frozen=True, slots=True)
class MailSummary:
    """One hit of a mail search. `ref` is opaque and only valid for the account that searched."""

    ref: str
    mailbox: str
    subject: str
    sender: str
    at: Millis
    preview: str
    thread: str = ""


@dataclass(frozen=True, slots=True)
class MailText:
    """One mail as text. `own` is True when the owner or an agent of the bridge wrote it; otherwise it is untrusted."""

    ref: str
    subject: str
    sender: str
    to: tuple[str, ...]
    at: Millis
    text: str
    own: bool
    attachments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AttachmentData:
    """The decoded bytes of one attachment."""

    name: str
    media_type: str
    data: bytes


class MailNotFound(Exception):
    """No such mail or attachment in this account."""


@dataclass(frozen=True, slots=True)
class Approver:
    """Who approves besides an owner. `account` and `thread` (a new one, for the request) are None and "" where there
    is nobody; `owner` is the owner's own address.
    """

    address: str
    owner: str
    account: int | None = None
    thread: str = ""


class Mail(Protocol):
    """The user's own mail. Every call is bound to one account; a reference of another account is MailNotFound."""

    async def search(self, account: int, query: str, limit: int) -> list[MailSummary]: ...
    async def read(self, account: int, ref: str) -> MailText: ...
    async def attachment(self, account: int, ref: str) -> AttachmentData: ...
    def contents(self, tx: ReadTx, account: int, refs: Sequence[str]) -> tuple[File, ...]:
        """Attachments with their bytes, read inside `tx`. Raises MailNotFound when one is gone."""
        ...

    def draft(self, tx: WriteTx, account: int, draft: OutsideMail, key: str) -> str:
        """Put a draft into Drafts inside `tx`; the same key again is the same draft. Returns its reference."""
        ...

    def approver(self, tx: WriteTx, account: int, names: Sequence[str]) -> Approver | None:
        """The first of these names that is an account here, and not the owner's own."""
        ...


class Phases(Protocol):
    """Told how far a delivery has come. `data_sent` is awaited (and durable) before the body is handed over."""

    async def data_sent(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Dispatch:
    """One delivery: the mail, the Message-ID every try carries, and the account it is sent for."""

    mail: OutsideMail
    message_id: str
    account: int
    agent: str


class RelayRefused(Exception):
    """The relay did not take the mail. `permanent` is True for 5xx and for what cannot be sent at all."""

    def __init__(self, permanent: bool, text: str) -> None:
        super().__init__(text)
        self.permanent = permanent
        self.text = text


class RelayUncertain(Exception):
    """The body was handed over and no answer came: it may have been sent."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class Relay(Protocol):
    """The way out. `name` is shown to the user ("your relay mail.example.net"); `sender` is the From it sends as."""

    @property
    def configured(self) -> bool: ...
    @property
    def name(self) -> str: ...
    @property
    def sender(self) -> str: ...

    async def deliver(self, dispatch: Dispatch, phases: Phases) -> str:
        """Send once. Returns the relay's reply. Before `phases.data_sent()` has returned nothing of the body may leave.

        Raises RelayRefused (nothing was sent) or RelayUncertain.
        """
        ...
