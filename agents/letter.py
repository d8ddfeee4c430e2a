"""What goes into the runtime and what comes out: a Letter in, an Outgoing out.

The rule: plain data without any notion of MIME, SMTP or IMAP. Whoever delivers an Outgoing owns its bytes; whoever
takes a Letter in owns the reading of them. Times are UTC milliseconds, money is EUR.
"""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum


class Origin(StrEnum):
    """How a letter came to an agent. Only what was typed by the owner is trusted text."""

    TYPED = "typed"
    DROPPED = "dropped"
    FORWARDED = "forwarded"
    HOOK = "hook"
    SCHEDULE = "schedule"


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that came with a letter. `ref` is the mail world's handle, given back to `ports.Mail.attachment`.

    `outside`: somebody else sent it, to a hook or a watched mailbox; the owner has not seen it.
    """

    ref: str
    name: str
    media_type: str
    size: int
    outside: bool = False

    @property
    def source(self) -> str:
        """How it is named where it is told what a task has read."""
        return f"{self.name} ({'it came from outside' if self.outside else 'your attachment'})"


@dataclass(frozen=True, slots=True)
class Letter:
    """One mail for one agent. `key` is unique per account, message and agent: the same key never starts a second run.

    `text` holds the user's new words, `quoted` what they quoted, `foreign` forwarded or dropped text that nobody here
    vouches for. `message` is the opaque reference of the stored mail, `message_id` its RFC Message-ID, `answers` the
    reference of the mail it answers.
    """

    key: str
    account: int
    thread: str
    agent: str
    model: str | None
    subject: str
    text: str
    quoted: str
    sender: str
    at: int
    message: str
    message_id: str | None = None
    attachments: tuple[Attachment, ...] = ()
    origin: Origin = Origin.TYPED
    foreign: str = ""
    answers: str | None = None


class Kind(StrEnum):
    """What an Outgoing is. `mail` is the only kind that leaves the bridge; the runtime's own sender takes it."""

    RESULT = "result"
    QUESTION = "question"
    REQUEST = "request"
    NOTICE = "notice"
    FAILURE = "failure"
    REMINDER = "reminder"
    ACTIVITY = "activity"
    AUTOMATION = "automation"
    MEMORY = "memory"
    MAIL = "mail"


@dataclass(frozen=True, slots=True)
class File:
    """A file to attach. Inside the database only its hash is kept beside the row; here the bytes are whole."""

    name: str
    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Field:
    """One line of a shown request. `value` is exactly what will run; `note` is the program's remark about it."""

    name: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """One gated call of a request, numbered from 1 as the user sees it."""

    number: int
    title: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run has used so far. `cost` is None when nothing is known of its price; `cost_known` is False when part
    of it is a guess.
    """

    seconds: float
    model_calls: int
    tools: int
    tokens: int
    cost: Decimal | None
    cost_known: bool


@dataclass(frozen=True, slots=True)
class RequestView:
    """A request as it is shown. `decisions` are the words that decide it, `expires` is UTC ms.

    `token` makes its one-time reply address; `code` ("A-7F3K") stands in the subject and binds nothing. `question` is
    set for `ask_user`. `spent` is None where there is no run to count (it never is, today).
    """

    id: str
    code: str
    token: str
    revision: int
    title: str
    items: tuple[Item, ...]
    sources: tuple[str, ...]
    spent: Spent | None
    expires: int
    decisions: tuple[str, ...]
    grant_offered: bool = False
    unknown_outcome: bool = False
    question: str | None = None
    choices: tuple[str, ...] = ()
    asked_in: str = ""
    two: tuple[str, ...] = ()
    """Where two people must approve: who is asked by this mail, and the other one ("" when there is none)."""


@dataclass(frozen=True, slots=True)
class ToolCount:
    """How often one tool ran, was refused or failed; `note` says how it was allowed ("approved by you at 09:13 from
    mail").
    """

    name: str
    runs: int
    refused: int
    failed: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class Footer:
    """What the program (never the model) says under a mail."""

    agent: str
    model: str
    demo: bool
    seconds: float
    model_calls: int
    tokens: int
    cost: Decimal | None
    cost_known: bool
    tools: tuple[ToolCount, ...] = ()
    endpoints: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    """Pictures that came along and that no model which worked on it can see."""

    unread: tuple[str, ...] = ()
    """Files that came along, that it wanted to read and could not."""


@dataclass(frozen=True, slots=True)
class OutsideMail:
    """A mail for the outside world, as the approval showed it. `sender` is empty when the relay's own `from` is to be
    used.
    """

    to: tuple[str, ...]
    subject: str
    text: str
    sender: str = ""
    attachments: tuple[File, ...] = ()


@dataclass(frozen=True, slots=True)
class ActivityLine:
    """One line of a run's story: when (UTC ms) and what."""

    at: int
    text: str


@dataclass(frozen=True, slots=True)
class ActivityView:
    """One message of the Activity mailbox. `replaces` is the key it stands for: an older message of the same key goes
    away.
    """

    replaces: str
    title: str
    state: str
    started: int
    ended: int | None
    seconds: float
    parent: str | None
    lines: tuple[ActivityLine, ...]
    cost: Decimal | None
    cost_known: bool


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One mail to be delivered. `key` is its idempotency key: delivering the same key twice must be one message.

    `body` is Markdown. `state` is the run's state as the user should read it. `in_reply_to` is an RFC Message-ID,
    `message_id` too and is made from the key, so that every try carries the same. `unread` False means it is filed as
    seen (Activity). An older message of the same `series` goes away when this one comes (Automations).
    """

    key: str
    kind: Kind
    account: int
    agent: str
    thread: str
    subject: str
    body: str
    state: str
    run: str
    step: int
    message_id: str
    files: tuple[File, ...] = ()
    request: RequestView | None = None
    footer: Footer | None = None
    in_reply_to: str | None = None
    mail: OutsideMail | None = None
    unread: bool = True
    activity: ActivityView | None = None
    series: str = ""
