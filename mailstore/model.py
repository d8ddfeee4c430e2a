"""The nouns of the store: accounts, mailboxes, messages, and the numbers that name them.

The rule: each kind of number has a type of its own, so that a UID is never taken for an internal id, and nothing here
changes once made. Times are UTC integer milliseconds.
"""

from array import array
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import NamedTuple, NewType

AccountId = NewType("AccountId", int)
MailboxId = NewType("MailboxId", int)
EmailId = NewType("EmailId", int)
ContentId = NewType("ContentId", int)
ThreadId = NewType("ThreadId", int)
Uid = NewType("Uid", int)
ModSeq = NewType("ModSeq", int)
Millis = int

SEEN, ANSWERED, FLAGGED, DRAFT, DELETED, RECENT = 1, 2, 4, 8, 16, 32
SHARED = SEEN | ANSWERED | FLAGGED | DRAFT  # of the message; DELETED and RECENT belong to one placement of it
KEY_SHIFT = 6  # a flag set's key is keyword set << KEY_SHIFT | bits
SYSTEM_FLAGS = {"\\Seen": SEEN, "\\Answered": ANSWERED, "\\Flagged": FLAGGED, "\\Draft": DRAFT, "\\Deleted": DELETED}

ACTION_LABEL = "open"  # what carries this label is in Action


class Role(StrEnum):
    """What a mailbox is for. `parent` only holds others and cannot be selected."""

    INBOX = "inbox"
    SENT = "sent"
    DRAFTS = "drafts"
    ARCHIVE = "archive"
    TRASH = "trash"
    JUNK = "junk"
    ACTIVITY = "activity"
    AUTOMATIONS = "automations"
    MEMORY = "memory"
    HANDOVER = "handover"
    USER = "user"
    PARENT = "parent"


class View(StrEnum):
    """A mailbox whose messages are placed by the store itself."""

    ACTION = "action"
    UNREAD = "unread"
    ALL = "all"


class FlagOp(Enum):
    """What STORE does with the flags it is given."""

    ADD = "add"
    REMOVE = "remove"
    REPLACE = "replace"


@dataclass(frozen=True, slots=True)
class Account:
    """One user. `name` is the login, `address` the full mail address."""

    id: AccountId
    name: str
    address: str
    object_id: str


@dataclass(frozen=True, slots=True)
class Mailbox:
    """A mailbox as it stood when it was read; counters are in Status. `name` is Unicode, parts separated by "/".

    `object_id` is its RFC 8474 MAILBOXID; like `uidvalidity` it is never given to another mailbox of this store.
    """

    id: MailboxId
    account: AccountId
    name: str
    role: Role
    view: View | None
    special_use: str | None
    uidvalidity: int
    subscribed: bool
    selectable: bool

    @property
    def object_id(self) -> str:
        return mailbox_object_id(self.uidvalidity)


@dataclass(frozen=True, slots=True)
class Status:
    """The counters of a mailbox (RFC 9051, STATUS). Sizes in bytes."""

    messages: int
    recent: int
    unseen: int
    deleted: int
    uidnext: Uid
    uidvalidity: int
    highest_modseq: ModSeq
    size: int
    deleted_size: int


@dataclass(frozen=True, slots=True)
class FlagSet:
    """A set of flags. `id` names it (the same flags, the same id), so that a rendering can be kept by it.

    Never holds RECENT: what is recent is a matter of the session that claimed it.
    """

    bits: int
    keywords: tuple[str, ...]
    id: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A mailbox at one point of its log. `uids` is ascending and is never changed in place.

    UIDs from `recent_from` on are recent and unclaimed.
    """

    uids: "array[int]"
    highest_modseq: ModSeq
    uidvalidity: int
    uidnext: Uid
    recent: int
    recent_from: Uid
    first_unseen: Uid | None


@dataclass(frozen=True, slots=True)
class Delta:
    """What happened after a modseq, folded: each UID stands in at most one list, ascending.

    `arrived`: here now and not then. `gone`: there then and not now. `changed`: flags, of those here both times.
    `complete` is False when the log no longer reaches back so far: then compare whole lists.
    """

    highest: ModSeq
    arrived: list[Uid]
    gone: list[Uid]
    changed: list[Uid]
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Appended:
    """Where an append ended up. `created` is False when the message was there already."""

    uid: Uid
    email: EmailId
    thread: ThreadId
    uidvalidity: int
    created: bool
    mailbox: MailboxId


@dataclass(frozen=True, slots=True)
class Copied:
    """UIDs pairwise: `source_uids[n]` became `target_uids[n]`; both ascend."""

    source_uids: list[Uid]
    target_uids: list[Uid]
    uidvalidity: int


@dataclass(frozen=True, slots=True)
class Stored:
    """What STORE did: the UIDs whose flags changed, and those left alone as they had changed meanwhile (RFC 7162)."""

    changed: list[Uid]
    modified: list[Uid]


class FetchRow(NamedTuple):
    """One message as FETCH needs it. Sizes in bytes, `flags_bits` without RECENT.

    A tuple, as there are many; the first fields are a database row as it stands, and what few ask for is worked out.
    `zone`: minutes that the clock of `internal_date` was ahead of UTC.
    """

    uid: Uid
    email: EmailId
    content: ContentId
    size: int
    internal_date: Millis
    save_date: Millis
    modseq: ModSeq
    flags_bits: int
    keyword_set: int
    thread: ThreadId
    origin: int
    header_size: int
    zone: int
    keywords: tuple[str, ...]
    header: bytes | None
    rendered: tuple[bytes, ...]

    @property
    def email_object_id(self) -> str:
        """RFC 8474 EMAILID."""
        return email_object_id(self.origin)

    @property
    def thread_object_id(self) -> str:
        """RFC 8474 THREADID."""
        return thread_object_id(self.thread)

    @property
    def flag_key(self) -> int:
        """The id of its flag set."""
        return flag_key(self.flags_bits, self.keyword_set)


class StoredRow(NamedTuple):
    """What of a message never changes, as FETCH needs it; see FetchRow."""

    content: ContentId
    size: int
    header_size: int
    internal_date: Millis
    zone: int
    header: bytes | None
    rendered: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class EmailInfo:
    """What is known of a message beside its bytes."""

    id: EmailId
    account: AccountId
    content: ContentId
    thread: ThreadId
    message_id: str | None
    subject: str
    internal_date: Millis
    sent: Millis | None
    size: int
    flags_bits: int
    keywords: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ThreadKeys:
    """By what a message may belong to a thread, in the order they are tried. Message-IDs with their angle brackets.

    `thread_index` is the decoded Thread-Index header; `code` the short code of a subject.
    """

    in_reply_to: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    thread_index: bytes | None = None
    code: str | None = None


def mailbox_object_id(uidvalidity: int) -> str:
    """RFC 8474 MAILBOXID; a mailbox's UIDVALIDITY is its own in the whole store."""
    return f"F{uidvalidity:x}"


def email_object_id(origin: int) -> str:
    """RFC 8474 EMAILID; a copy keeps its original's."""
    return f"M{origin:x}"


def thread_object_id(thread: int) -> str:
    """RFC 8474 THREADID."""
    return f"T{thread:x}"


def flag_key(bits: int, keyword_set: int) -> int:
    """The id of a flag set."""
    return keyword_set << KEY_SHIFT | bits
