"""CREATE, DELETE, RENAME, SUBSCRIBE, UNSUBSCRIBE and STATUS (RFC 3501 sections 6.3.3 to 6.3.10).

Rule: names are compared and kept as text; only here and in listing.py do they meet their wire form.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from bridge.imap.base.listing import composed, introduce_composed
from bridge.imap.command import Command, Done, Refused
from bridge.imap.dialect import Dialect, Feature, Parameter, StatusItem
from bridge.imap.session import Session
from bridge.imap.states import LOGGED_IN
from bridge.imap.wire import codes
from bridge.imap.wire.codes import Code
from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.render import mailbox_name, parenthesised
from mailstore import mailboxes
from mailstore.model import AccountId, Mailbox, Status
from mailstore.sqlite import ReadTx, WriteTx

UNUSABLE: Final = "%*"  # LIST could never name such a mailbox alone


@dataclass(frozen=True, slots=True)
class StatusWanted:
    name: str
    items: tuple[StatusItem, ...]


@dataclass(frozen=True, slots=True)
class Creating:
    name: str
    params: tuple[tuple[Parameter, Any], ...] = ()


def parse_name(cursor: Cursor, dialect: Dialect) -> str:
    cursor.sp()
    name = cursor.mailbox()
    cursor.eol()
    return name


def parse_create(cursor: Cursor, dialect: Dialect) -> Creating:
    """A name, and parameters (RFC 4466 section 2.2) where a dialect has any."""
    cursor.sp()
    name = cursor.mailbox()
    params: list[tuple[Parameter, Any]] = []
    if dialect.create_params and not cursor.at_end:
        cursor.sp()
        params = cursor.parenthesised(partial(read_parameter, cursor, dialect.create_params))
    cursor.eol()
    return Creating(name, tuple(params))


def read_parameter(cursor: Cursor, known: Mapping[bytes, Parameter]) -> tuple[Parameter, Any]:
    """A parameter by name with its value; CREATE, SELECT, STORE and FETCH share it."""
    parameter = known.get(cursor.word("a parameter"))
    if parameter is None:
        cursor.fail("Unknown parameter")
    return parameter, parameter.parse(cursor) if parameter.parse else None


def parse_rename(cursor: Cursor, dialect: Dialect) -> tuple[str, str]:
    cursor.sp()
    old = cursor.mailbox()
    cursor.sp()
    new = cursor.mailbox()
    cursor.eol()
    return old, new


def parse_status_items(cursor: Cursor, dialect: Dialect) -> tuple[StatusItem, ...]:
    """`(MESSAGES UNSEEN)`; STATUS and LIST RETURN (STATUS ...) share it."""
    return tuple(dict.fromkeys(cursor.parenthesised(partial(_status_item, cursor, dialect))))


def _status_item(cursor: Cursor, dialect: Dialect) -> StatusItem:
    item = dialect.status_items.get(cursor.word("a status item"))
    if item is None:
        cursor.fail("Unknown status item")
    return item


def parse_status(cursor: Cursor, dialect: Dialect) -> StatusWanted:
    cursor.sp()
    name = cursor.mailbox()
    cursor.sp()
    items = parse_status_items(cursor, dialect)
    cursor.eol()
    return StatusWanted(name, items)


def existing(tx: ReadTx, account: AccountId, name: str) -> Mailbox:
    """The mailbox of this name. Raises Refused."""
    mailbox = mailboxes.find(tx, account, name)
    if mailbox is None:
        raise Refused("No such mailbox", Code.NONEXISTENT.value)
    return mailbox


def selectable(tx: ReadTx, account: AccountId, name: str) -> Mailbox:
    """A mailbox that can hold messages. Raises Refused."""
    mailbox = existing(tx, account, name)
    if not mailbox.selectable:
        raise Refused("This name only groups other mailboxes; it holds no messages", Code.CANNOT.value)
    return mailbox


async def run_create(session: Session, creating: Creating) -> Done:
    """A trailing delimiter only announces children (section 6.3.3); the mailbox is made without it."""
    wanted = composed(session, creating.name.removesuffix("/"))
    if any(char in UNUSABLE for char in wanted):
        raise Refused("A mailbox name may not hold % or *", Code.CANNOT.value)
    account = session.user().account
    use: str | None = None
    for parameter, value in creating.params:
        if parameter.apply is not None:
            use = parameter.apply(session, value)
    made = await session.commit(lambda tx: mailboxes.create(tx, account, wanted, use))
    introduce_composed(session, made, creating.name)
    code = codes.mailboxid(made.object_id) if session.dialect.has(Feature.OBJECT_IDS) else None
    return Done("CREATE completed", code)


async def run_delete(session: Session, name: str) -> Done:
    account = session.user().account
    open_here = session.selected.mailbox.id if session.selected else None

    def delete(tx: WriteTx) -> Mailbox:
        mailbox = existing(tx, account, name)
        mailboxes.delete(tx, mailbox)
        return mailbox

    deleted = await session.commit(delete)
    if deleted.id == open_here:
        session.unselect()
    introduce_composed(session, deleted, name, marks=(b"\\NonExistent",))
    return Done("DELETE completed")


async def run_rename(session: Session, names: tuple[str, str]) -> Done:
    account = session.user().account
    old, new = names[0], composed(session, names[1].removesuffix("/"))
    if any(char in UNUSABLE for char in new):
        raise Refused("A mailbox name may not hold % or *", Code.CANNOT.value)
    renamed = await session.commit(lambda tx: mailboxes.rename(tx, existing(tx, account, old), new))
    introduce_composed(session, renamed, *names)
    return Done("RENAME completed")


async def run_subscribe(session: Session, name: str) -> Done:
    """A name that is subscribed already may have lost its mailbox (RFC 9051 section 6.3.7)."""
    account = session.user().account

    def subscribe(tx: WriteTx) -> None:
        if name not in mailboxes.subscriptions(tx, account):
            mailboxes.subscribe(tx, account, existing(tx, account, name).name, True)

    await session.commit(subscribe)
    return Done("SUBSCRIBE completed")


async def run_unsubscribe(session: Session, name: str) -> Done:
    """Also for a name that is subscribed but exists no more."""
    account = session.user().account
    await session.commit(lambda tx: mailboxes.subscribe(tx, account, name, False))
    return Done("UNSUBSCRIBE completed")


async def run_status(session: Session, wanted: StatusWanted) -> Done:
    account = session.user().account

    def read(tx: ReadTx) -> tuple[Mailbox, Status]:
        mailbox = selectable(tx, account, wanted.name)
        return mailbox, mailboxes.status(tx, mailbox)

    mailbox, status = session.store.read(read)
    session.turn_on(mode for item in wanted.items for mode in item.turns_on)
    session.write(status_line(session, mailbox, status, wanted.items))
    return Done("STATUS completed")


def status_line(session: Session, mailbox: Mailbox, status: Status, items: Sequence[StatusItem]) -> bytes:
    status = replace(status, recent=_recent(session, mailbox, status))
    values = (item.name + b" " + item.render(status, session.settings) for item in items)
    name = mailbox_name(mailbox.name, session.framer.utf8)
    return b"* STATUS " + name + b" " + parenthesised(values) + b"\r\n"


def _recent(session: Session, mailbox: Mailbox, status: Status) -> int:
    """How many messages are \\Recent for who opens the mailbox next: the store hears of claims a moment later."""
    claimed = session.host.recents.claimed(mailbox.id)
    if not claimed or not status.recent:
        return status.recent
    uids = session.store.snapshot(mailbox.id).uids
    return min(status.recent, len(uids) - bisect_right(uids, claimed))


STATUS_ITEMS: Final = (
    StatusItem(b"MESSAGES", lambda status, _: b"%d" % status.messages),
    StatusItem(b"RECENT", lambda status, _: b"%d" % status.recent),
    StatusItem(b"UIDNEXT", lambda status, _: b"%d" % status.uidnext),
    StatusItem(b"UIDVALIDITY", lambda status, _: b"%d" % status.uidvalidity),
    StatusItem(b"UNSEEN", lambda status, _: b"%d" % status.unseen),
)

DELETED: Final = StatusItem(b"DELETED", lambda status, _: b"%d" % status.deleted)
"""An item that several extensions have."""

COMMANDS: Final = (
    Command(b"CREATE", LOGGED_IN, parse_create, run_create),
    Command(b"DELETE", LOGGED_IN, parse_name, run_delete),
    Command(b"RENAME", LOGGED_IN, parse_rename, run_rename),
    Command(b"SUBSCRIBE", LOGGED_IN, parse_name, run_subscribe),
    Command(b"UNSUBSCRIBE", LOGGED_IN, parse_name, run_unsubscribe),
    Command(b"STATUS", LOGGED_IN, parse_status, run_status),
)
