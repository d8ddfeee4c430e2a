"""NOTIFY (RFC 5465): news at all times, without IDLE, of the selected mailbox and of others; base.listening tells them.

Grammar only: an event that is not known is NO with BADEVENT, a combination that makes no sense is BAD.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Final
from unicodedata import normalize

from bridge.imap.base.listening import NO_EVENTS, OF_MESSAGES, Event, Events, Group, Listening, Scope, Wishes, look
from bridge.imap.command import Command, Done
from bridge.imap.dialect import Dialect, Extension, Feature, announces
from bridge.imap.plan import FetchPlan
from bridge.imap.session import Session
from bridge.imap.states import LOGGED_IN
from bridge.imap.wire import codes
from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.errors import ParseError
from mailstore.mailboxes import canonical

MOST_NAMES: Final = 1000  # mailboxes named in one command
SELECTED: Final[Mapping[bytes, bool]] = MappingProxyType({b"SELECTED": False, b"SELECTED-DELAYED": True})
SCOPES: Final[Mapping[bytes, Scope]] = MappingProxyType(
    {
        b"INBOXES": Scope.PERSONAL,
        b"PERSONAL": Scope.PERSONAL,
        b"SUBSCRIBED": Scope.SUBSCRIBED,
        b"SUBTREE": Scope.SUBTREE,
        b"MAILBOXES": Scope.NAMED,
    }
)
WITH_NAMES: Final = frozenset({Scope.SUBTREE, Scope.NAMED})
NOTES: Final = frozenset({Event.NOTES, Event.SERVER_NOTES})


@dataclass(frozen=True, slots=True)
class Asking:
    """What NOTIFY asks for; `status`: the counters of what is followed are to be told at once."""

    wishes: Wishes
    status: bool = False


@dataclass(frozen=True, slots=True)
class Wanted:
    """The events of one group, and what is to be told of new messages."""

    events: Events
    plan: FetchPlan | None = None


def parse_notify(cursor: Cursor, dialect: Dialect) -> Asking:
    cursor.sp()
    word = cursor.try_word(b"SET", b"NONE")
    if word is None:
        cursor.fail("Expected SET or NONE")
    if word == b"NONE":
        cursor.eol()
        return Asking(Wishes())
    cursor.sp()
    status = cursor.try_word(b"STATUS") is not None
    if status:
        cursor.sp()
    found: set[str] = set()
    wishes = _group(cursor, dialect, Wishes(), found)
    while not cursor.at_end:
        cursor.sp()
        wishes = _group(cursor, dialect, wishes, found)
    cursor.eol()
    if sum(len(group.names) for group in wishes.groups) > MOST_NAMES:
        raise ParseError("Too many mailboxes are named", status="NO", code="NOTIFICATIONOVERFLOW")
    return Asking(wishes, status)


def _group(cursor: Cursor, dialect: Dialect, wishes: Wishes, found: set[str]) -> Wishes:
    """`(mailboxes events)`, added to what was read before; `found` remembers that the selected one was spoken of."""
    cursor.byte(b"(")
    word = cursor.word("which mailboxes")
    scope = SCOPES.get(word)
    if scope is None and word not in SELECTED:
        cursor.fail("Unknown group of mailboxes")
    names = _names(cursor) if scope in WITH_NAMES else frozenset()
    cursor.sp()
    wanted = _events(cursor, dialect)
    cursor.byte(b")")
    if scope is not None:
        if wanted.plan is not None:
            cursor.fail("Only of messages in the selected mailbox something can be fetched")
        return replace(wishes, groups=(*wishes.groups, Group(scope, names, wanted.events)))
    if wanted.events - OF_MESSAGES or "selected" in found:
        cursor.fail("The selected mailbox can be named once, with events of messages")
    found.add("selected")
    return replace(wishes, here=wanted.events, delayed=SELECTED[word], plan=wanted.plan)


def _names(cursor: Cursor) -> frozenset[str]:
    cursor.sp()
    names = cursor.parenthesised(cursor.mailbox) if cursor.peek() == b"(" else [cursor.mailbox()]
    given = [canonical(name.removesuffix("/")) for name in names]
    return frozenset((*given, *(normalize("NFC", name) for name in given)))  # in either form, as mailboxes are found


def _events(cursor: Cursor, dialect: Dialect) -> Wanted:
    """`NONE`, or a list; section 5: of messages, new and expunged belong together, and flags need both."""
    if cursor.try_word(b"NONE"):
        return Wanted(NO_EVENTS)
    read = cursor.parenthesised(partial(_event, cursor, dialect))
    plan = next((plan for _, plan in read if plan is not None), None)
    known = {event.value.upper().encode("ascii"): event for event in supported(dialect)}
    if any(name not in known for name, _ in read):
        text = codes.badevent(event.value for event in supported(dialect)).decode("ascii")
        raise ParseError("Not every event is known here", status="NO", code=text)
    events = frozenset(known[name] for name, _ in read)
    if events & OF_MESSAGES and not {Event.NEW, Event.EXPUNGE} <= events:
        cursor.fail("MessageNew and MessageExpunge belong together, and FlagChange needs both")
    return Wanted(events, plan)


def _event(cursor: Cursor, dialect: Dialect) -> tuple[bytes, FetchPlan | None]:
    name = cursor.word("an event")
    if name == b"MESSAGENEW" and cursor.peek(2) == b" (":
        cursor.sp()
        return name, FetchPlan.compile(cursor, dialect.fetch_items)
    return name, None


def supported(dialect: Dialect) -> list[Event]:
    """The events that can be asked for: those of notes where METADATA is spoken (sections 5.6 and 5.7)."""
    return [event for event in Event if event not in NOTES or b"SETMETADATA" in dialect.commands]


async def run_notify(session: Session, asked: Asking) -> Done:
    """At its end accumulated news of the selected mailbox are told, as by NOOP (section 3.1)."""
    account = session.user().account
    session.listen(None)
    known = session.store.read(lambda tx: look(tx, account, asked.wishes))
    listening = Listening(session, asked.wishes, known)
    if asked.status:
        session.write(b"".join(listening.snapshot(session)))
    session.listen(listening)
    return Done("NOTIFY completed")


EXTENSION: Final = Extension(
    name="NOTIFY",
    announce=announces(b"NOTIFY"),
    commands=(Command(b"NOTIFY", LOGGED_IN, parse_notify, run_notify),),
    features=frozenset({Feature.UPDATE_ITEMS}),
    default=False,
)
