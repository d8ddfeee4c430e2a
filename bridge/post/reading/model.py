"""The data of reading: what was sent, what a line is, what a reply turned out to say.

One rule: a `Reading` says what the text says; whether it may release anything is decided elsewhere, by who sent it and
when.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal, Protocol

DecisionWord = Literal["approve", "reject", "edit", "respond", "none"]


@dataclass(frozen=True, slots=True)
class SentMail:
    """A mail of ours that may be answered."""

    token: str | None
    """The one-time part of its Reply-To address, when it is a request."""
    message_id: str | None
    address: str
    """The address that answers go to."""
    subject: str
    text: str
    """Its plain-text part as sent: quotes are found by comparing with it."""
    also: tuple[str, ...] = ()
    """Its other forms as a reader sees them (the text of its HTML part): clients quote either."""
    items: tuple[int, ...] | None = None
    """The numbers of the items it shows; None when it lists none."""
    grant: bool = False
    """Whether it offers `always approve`."""
    names: tuple[str, ...] = ()
    """Display names under which it was sent."""
    senders: tuple[str, ...] = ()
    """Addresses it was sent from: clients name these above a quote, and not where answers go."""
    request: str | None = None


class SentMails(Protocol):
    """Where sent mail is looked up; both answer None for what was never sent."""

    def by_token(self, token: str) -> SentMail | None: ...

    def by_message_id(self, message_id: str) -> SentMail | None: ...


@dataclass(frozen=True, slots=True)
class NothingSent:
    """The look-up of a reader that holds no sent mail."""

    def by_token(self, token: str) -> SentMail | None:
        return None

    def by_message_id(self, message_id: str) -> SentMail | None:
        return None


@dataclass(frozen=True, slots=True)
class SentTable:
    """Sent mail held in memory."""

    mails: tuple[SentMail, ...]

    def by_token(self, token: str) -> SentMail | None:
        return next((mail for mail in self.mails if mail.token == token), None)

    def by_message_id(self, message_id: str) -> SentMail | None:
        return next((mail for mail in self.mails if mail.message_id == message_id), None)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text as a reader sees it."""

    text: str
    depth: int = 0
    """How many quote marks, or quoting elements of HTML, it stands behind."""
    signature: bool = False
    """The client itself marked it as signature (HTML only)."""

    @property
    def blank(self) -> bool:
        return not self.text.strip()


class Mark(Enum):
    """What a line was found to be."""

    BLANK = "blank"
    NEW = "new"
    QUOTE = "quote"
    FRAME = "frame"
    """Attribution, header block, separator, elision: it belongs to the quote."""
    INSERTED = "inserted"
    """Stands behind quote marks, and is not in the mail that was sent."""


@dataclass(frozen=True, slots=True)
class Context:
    """What is known about both sides of the conversation."""

    sent: SentMail | None
    addresses: frozenset[str] = frozenset()
    """Ours, in small letters."""
    subject: str = ""
    """Of the mail that was sent, made plain."""
    names: frozenset[str] = frozenset()
    """Display names of ours, folded."""
    sender: tuple[str, ...] = ()
    """The words of the sender's own name, folded, in order."""
    sender_local: str = ""
    """What stands before the @ in the sender's address."""
    known_signature: frozenset[str] = frozenset()
    """Lines (folded) that the HTML part marks as signature."""
    named: frozenset[str] = frozenset()
    """The words by which the sent mail names people, folded: a line that holds one is about the request."""
    about: frozenset[str] = frozenset()
    """These and further words of what the sent mail shows, folded: no footer holds one."""


@dataclass(frozen=True, slots=True)
class NewText:
    """One part's new text."""

    text: str
    segments: tuple[tuple[str, ...], ...]
    """The lines of each place where the user wrote, without signature."""
    sandwiched: bool = False
    """A place stands between quoted lines, or answers the question just above it."""
    inserted: bool = False
    """Somebody wrote into the quote."""
    forwarded: bool = False
    too_long: bool = False
    unproven: bool = False
    """A quote without marks was cut without the sent mail to compare with."""
    trailing: bool = False
    """Among what was taken off as a signature stands a line that may be meant."""
    quoted: str = ""

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(line for segment in self.segments for line in segment)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reply says."""

    new_text: str
    decision: DecisionWord
    auto: bool
    rule: str
    """The rule that decided, as a short stable name: `word`, `near-miss:question`, `machine:list` ..."""
    why: str
    """The same for people."""
    near_miss: str | None = None
    """Set when it came close to a decision: the request stays pending and the program answers how to decide."""
    items: tuple[int, ...] = ()
    grant: bool = False
    reason: str = ""
    edits: str = ""
    token: str | None = None
    sent: SentMail | None = None
    line: str = ""
    """The line that decided, as written."""
    word: str = ""
    """The vocabulary word that decided, folded ("stop" also stops the run)."""
    quoted: str = ""
    files: tuple[str, ...] = field(default=())
    """Names or types of attachments that count as files."""


Languages = Collection[str] | Literal["all"] | None
