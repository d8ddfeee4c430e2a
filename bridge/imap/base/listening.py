"""What NOTIFY (RFC 5465) has told at all times: news of the selected mailbox as it wants them, and news of others.

Rule: nothing is gathered while it happens. What is told is the difference between what the client was last told and
what there is, so a slow peer costs no memory, and a change and its undoing are nothing. What a client does itself is
read before and after in its own transaction, so that it is told what others did and not what it did.
"""

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum
from typing import Final, TypeVar

from bridge.imap.base.fetch import send
from bridge.imap.base.listing import DELIMITER, Listing, Row, attributes, rows_of
from bridge.imap.base.mailboxes import status_line
from bridge.imap.dialect import Mode, Selection
from bridge.imap.pipeline import NOTHING, News
from bridge.imap.plan import FetchPlan
from bridge.imap.session import Session
from bridge.imap.states import Selected
from bridge.imap.wire.codes import Code
from bridge.imap.wire.render import astring, mailbox_name
from bridge.imap.wire.seqset import merge
from mailstore import annotations, lookup, mailboxes
from mailstore.model import AccountId, Mailbox, MailboxId, Status
from mailstore.sqlite import ReadTx, WriteTx

T = TypeVar("T")
MOST_LINES: Final = 1000  # told at once; beyond, the client is told that it asks for too much (section 5.8)
EXTENDED: Final = Listing("", (), frozenset({Selection.SUBSCRIBED}), (), extended=True)


class Event(StrEnum):
    """What a client may ask to be told of (section 5)."""

    NEW = "MessageNew"
    EXPUNGE = "MessageExpunge"
    FLAGS = "FlagChange"
    NAME = "MailboxName"
    SUBSCRIPTION = "SubscriptionChange"
    NOTES = "MailboxMetadataChange"
    SERVER_NOTES = "ServerMetadataChange"


Events = frozenset[Event]
NO_EVENTS: Final[Events] = frozenset()
OF_MESSAGES: Final[Events] = frozenset({Event.NEW, Event.EXPUNGE, Event.FLAGS})


class Scope(Enum):
    """Which mailboxes a group of events is about (section 6). Mail may be delivered anywhere: inboxes are all."""

    PERSONAL = "every mailbox"
    SUBSCRIBED = "those subscribed to"
    SUBTREE = "those named and what is below them"
    NAMED = "those named"


@dataclass(frozen=True, slots=True)
class Group:
    """Events of some mailboxes."""

    scope: Scope
    names: frozenset[str]
    events: Events

    def covers(self, mailbox: Mailbox) -> bool:
        match self.scope:
            case Scope.PERSONAL:
                return True
            case Scope.SUBSCRIBED:
                return mailbox.subscribed
            case Scope.NAMED:
                return mailbox.name in self.names
        return any(mailbox.name == name or mailbox.name.startswith(name + DELIMITER) for name in self.names)


@dataclass(frozen=True, slots=True)
class Wishes:
    """Everything a client has asked for. `here`: events of the selected mailbox, `delayed`: its departures wait for a
    command at which they may be told, `plan`: what is told of a new message."""

    here: Events = NO_EVENTS
    delayed: bool = False
    plan: FetchPlan | None = None
    groups: tuple[Group, ...] = ()

    def of(self, mailbox: Mailbox | None) -> Events:
        """The events of a mailbox that is not selected; those of all groups that cover it."""
        if mailbox is None:
            return NO_EVENTS
        return NO_EVENTS.union(*(group.events for group in self.groups if group.covers(mailbox)))

    @property
    def all(self) -> Events:
        return NO_EVENTS.union(*(group.events for group in self.groups))


@dataclass(frozen=True, slots=True)
class Seen:
    """A mailbox as it was: itself, its counters, and a fingerprint of each of its notes."""

    mailbox: Mailbox
    status: Status
    notes: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Look:
    """All mailboxes of the account at one moment, by id; names subscribed to; and notes with the account itself."""

    boxes: Mapping[MailboxId, Seen] = field(default_factory=dict)
    subscriptions: frozenset[str] = frozenset()
    notes: Mapping[str, bytes] = field(default_factory=dict)


def look(tx: ReadTx, account: AccountId, wishes: Wishes) -> Look:
    """What there is, as far as it is asked for."""
    if not wishes.groups:
        return Look()
    boxes = {
        mailbox.id: Seen(mailbox, status, _notes(tx, account, mailbox) if Event.NOTES in wishes.of(mailbox) else {})
        for mailbox, status in lookup.counted(tx, account)
    }
    notes = _notes(tx, account, None) if Event.SERVER_NOTES in wishes.all else {}
    return Look(boxes, frozenset(mailboxes.subscriptions(tx, account)), notes)


def _notes(tx: ReadTx, account: AccountId, mailbox: Mailbox | None) -> dict[str, bytes]:
    there = annotations.of(tx, account, mailbox)
    return {entry: hashlib.blake2b(value, digest_size=16).digest() for entry, value in there.items()}


class Listening:
    """The wishes of one session, and what it has been told. Implements states.Listening."""

    __slots__ = ("_foreign", "_heard", "_known", "_leave", "_mine", "_of", "_session", "_told", "due", "wishes")

    def __init__(self, session: Session, wishes: Wishes, known: Look) -> None:
        self.wishes = wishes
        self.due = False
        self._session = session
        self._known = known
        self._heard: set[MailboxId] | None = None  # what the doorbell named since the last look; None: it did not ring
        self._foreign: set[MailboxId] = set()  # mailboxes that are not the account's
        self._mine: list[range] = []  # UIDs in the selected mailbox of messages that this client put there
        self._of: Selected | None = None  # the mailbox that `_told` and `_mine` are about
        self._told = 0  # the highest UID there that has been described, or need not be
        doorbell = session.store.doorbell
        self._leave = doorbell.subscribe_everywhere(self._rung) if wishes.groups else lambda: None

    def leave(self) -> None:
        self._leave()

    def _rung(self, mailboxes: frozenset[MailboxId]) -> None:
        if mailboxes and mailboxes <= self._foreign:
            return
        self._heard = (self._heard or set()) | mailboxes
        self._session.rung()

    # Of the selected mailbox

    def allowed(self, news: News) -> News:
        """See states.Listening. Departures that a command holds back are told behind it, if they may come any time."""
        here, immediate = self.wishes.here, not self.wishes.delayed
        flags = Event.FLAGS in here
        if news.forced:
            return replace(news, flags=flags)
        if not news.any or not here:
            return NOTHING
        if immediate and not news.gone and not news.between:
            self.due = True
        return News(any=True, gone=news.gone or (immediate and news.between), flags=flags)

    async def _describe(self, session: Session) -> None:
        """FETCH of the messages whose arrival has just been told (section 5.2)."""
        selected = session.selected
        last = selected.view.uids[selected.view.known - 1] if selected is not None and selected.view.known else 0
        if selected is not self._of:
            self._of, self._told, self._mine = selected, last, []
        if selected is None or last <= self._told:
            return
        since, self._told = self._told, last
        if self.wishes.plan is None:
            return
        view = selected.view
        first = bisect_right(view.uids, since)
        fresh = [at for at in range(first, view.known) if not any(view.uids[at] in mine for mine in self._mine)]
        self._mine = [mine for mine in self._mine if mine[-1] > last]
        await send(session, selected, self.wishes.plan, merge((at, at + 1) for at in fresh))

    # Of others

    async def tell(self, session: Session) -> None:
        """See states.Listening."""
        await self._describe(session)
        if self._heard is not None:
            heard, self._heard = self._heard, None
            now = session.store.read(lambda tx: look(tx, session.user().account, self.wishes))
            self._foreign |= heard - now.boxes.keys()
            self._say(session, now)

    async def own(self, session: Session, fn: Callable[[WriteTx], T]) -> T:
        """See states.Listening."""
        account = session.user().account

        def run(tx: WriteTx) -> tuple[Look, Status | None, T, Look, Status | None]:
            before, here = look(tx, account, self.wishes), self._here(tx, session)
            result = fn(tx)
            return before, here, result, look(tx, account, self.wishes), self._here(tx, session)

        before, was, result, after, now = await session.store.write(run)
        self._say(session, before)
        self._known = after
        if was is not None and now is not None and now.uidnext > was.uidnext:
            self._mine.append(range(was.uidnext, now.uidnext))
        return result

    def _here(self, tx: ReadTx, session: Session) -> Status | None:
        if session.selected is None or self.wishes.plan is None:
            return None
        return lookup.status(tx, session.selected.mailbox)

    def _say(self, session: Session, now: Look) -> None:
        """Tell how `now` differs from what was told. Of the mailbox that is open, what has not been told there yet is
        kept for when it is open no more."""
        before = self._known
        lines = [*self._names(session, before, now), *self._counts(session, before, now)]
        lines += _changed_notes(session, before, now, self.wishes)
        selected = session.selected
        here = None if selected is None else selected.mailbox.id
        if selected is not None and here in before.boxes and here in now.boxes and selected.view.pending:
            kept = replace(now.boxes[selected.mailbox.id], status=before.boxes[selected.mailbox.id].status)
            now = replace(now, boxes={**now.boxes, selected.mailbox.id: kept})
        self._known = now
        if len(lines) > MOST_LINES:
            self._give_up(session)
        else:
            session.write(b"".join(lines))

    def _give_up(self, session: Session) -> None:
        """Section 5.8: as if NOTIFY NONE had been said."""
        session.say(b"OK [" + Code.NOTIFICATIONOVERFLOW.value + b"] Too much has happened; NOTIFY is off now")
        self.leave()
        self.wishes, self._known = Wishes(), Look()

    def _names(self, session: Session, before: Look, now: Look) -> Iterable[bytes]:
        """LIST for what was made, renamed, deleted, subscribed to or not any more (sections 5.4 and 5.5)."""
        if not self.wishes.all & {Event.NAME, Event.SUBSCRIPTION} or _same_names(before, now):
            return
        rows = {row.name: row for row in rows_of([seen.mailbox for seen in now.boxes.values()], now.subscriptions)}
        for id, seen in before.boxes.items():
            name = seen.mailbox.name
            there = name in rows and rows[name].mailbox is not None
            if id not in now.boxes and not there and Event.NAME in self.wishes.of(seen.mailbox):
                marks = b"\\NonExistent \\Subscribed" if name in now.subscriptions else b"\\NonExistent"
                yield list_line(session, marks, name)
        for id, seen in now.boxes.items():
            old = before.boxes.get(id)
            was = None if old is None else old.mailbox
            if _tells_name(was, seen.mailbox, self.wishes.of(was) | self.wishes.of(seen.mailbox)):
                yield _named(session, rows[seen.mailbox.name], was)

    def _counts(self, session: Session, before: Look, now: Look) -> Iterable[bytes]:
        """STATUS for what changed in mailboxes that are not open."""
        here = None if session.selected is None else session.selected.mailbox.id
        for id, seen in now.boxes.items():
            if id == here or not seen.mailbox.selectable:
                continue
            old = before.boxes.get(id)
            items = _items(session, self.wishes.of(seen.mailbox), None if old is None else old.status, seen.status)
            if items:
                yield counts(session, seen, items)

    def snapshot(self, session: Session) -> Iterable[bytes]:
        """STATUS of every mailbox that is followed and not open, for who asks for it (section 3.1)."""
        here = None if session.selected is None else session.selected.mailbox.id
        for id, seen in self._known.boxes.items():
            events = self.wishes.of(seen.mailbox)
            if id != here and seen.mailbox.selectable and events & OF_MESSAGES:
                modseq = (b"HIGHESTMODSEQ",) if Event.FLAGS in events else ()
                yield counts(session, seen, (b"MESSAGES", b"UIDNEXT", b"UIDVALIDITY", *modseq))


def _same_names(before: Look, now: Look) -> bool:
    return before.boxes.keys() == now.boxes.keys() and all(
        before.boxes[id].mailbox == seen.mailbox for id, seen in now.boxes.items()
    )


def _tells_name(was: Mailbox | None, now: Mailbox, events: Events) -> bool:
    if was is None or was.name != now.name or was.selectable != now.selectable:
        return Event.NAME in events
    return was.subscribed != now.subscribed and Event.SUBSCRIPTION in events


def _named(session: Session, row: Row, was: Mailbox | None) -> bytes:
    old = b""
    if was is not None and was.name != row.name:
        old = b' ("OLDNAME" (%b))' % mailbox_name(was.name, session.framer.utf8)
    return list_line(session, b" ".join(attributes(row, EXTENDED, session.dialect)), row.name, old)


def list_line(session: Session, marks: bytes, name: str, more: bytes = b"") -> bytes:
    return b'* LIST (%b) "/" %b%b\r\n' % (marks, mailbox_name(name, session.framer.utf8), more)


def _items(session: Session, events: Events, before: Status | None, now: Status) -> tuple[bytes, ...]:
    """The items of STATUS that tell a change (sections 5.1 to 5.3); none when nothing is to be told."""
    found: list[bytes] = []
    modseqs = Mode.CONDSTORE in session.modes
    if before is None or before.uidvalidity != now.uidvalidity:
        found = [b"UIDNEXT", b"MESSAGES", b"UIDVALIDITY"] if now.messages and events & OF_MESSAGES else []
    elif Event.NEW in events and (before.uidnext, before.messages) != (now.uidnext, now.messages):
        found = [b"UIDNEXT", b"MESSAGES"]
    if Event.FLAGS in events and before is not None:
        if before.unseen != now.unseen:
            found.append(b"UNSEEN")
        if modseqs and before.highest_modseq != now.highest_modseq and b"UIDVALIDITY" not in found:
            found.append(b"UIDVALIDITY")
    return (*found, b"HIGHESTMODSEQ") if found and modseqs else tuple(found)


def counts(session: Session, seen: Seen, items: Iterable[bytes]) -> bytes:
    known = session.dialect.status_items
    return status_line(session, seen.mailbox, seen.status, [known[item] for item in items if item in known])


def _changed_notes(session: Session, before: Look, now: Look, wishes: Wishes) -> list[bytes]:
    """METADATA with the entries that changed, without their values (RFC 5464 section 4.4.2)."""
    lines = [_metadata(session, "", before.notes, now.notes)] if Event.SERVER_NOTES in wishes.all else []
    for id, seen in now.boxes.items():
        if Event.NOTES in wishes.of(seen.mailbox):
            old = before.boxes.get(id)
            lines.append(_metadata(session, seen.mailbox.name, {} if old is None else old.notes, seen.notes))
    return [line for line in lines if line]


def _metadata(session: Session, name: str, before: Mapping[str, bytes], now: Mapping[str, bytes]) -> bytes:
    changed = sorted(entry for entry in before.keys() | now.keys() if before.get(entry) != now.get(entry))
    if not changed:
        return b""
    entries = b" ".join(astring(entry.encode("ascii")) for entry in changed)
    return b"* METADATA %b %b\r\n" % (mailbox_name(name, session.framer.utf8), entries)
