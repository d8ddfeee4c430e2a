"""APPEND (RFC 3501 section 6.3.11, RFC 4315 APPENDUID).

Rule: the bytes are kept as they came (line ends apart); what may not be put into a mailbox is refused with the reason.
A message that Postroom has already (a client's copy of what it sent) is kept once, and the kept one is named.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Final

from bridge.imap.base.flags import settable
from bridge.imap.command import Command, Done, Refused
from bridge.imap.dialect import Dialect, Feature
from bridge.imap.session import Session
from bridge.imap.states import LOGGED_IN
from bridge.imap.wire import codes
from bridge.imap.wire.codes import Code
from bridge.imap.wire.cursor import Blob, Cursor
from mailstore import mailboxes, messages
from mailstore.model import AccountId, Appended, Mailbox, Millis
from mailstore.parse import normalise
from mailstore.sqlite import ReadTx, WriteTx
from mailstore.store import Prepared

IN_THREAD: Final = 256 * 1024  # from this size on a message is parsed off the loop


@dataclass(frozen=True, slots=True)
class Appending:
    """One message to append; a streamed one is still a Blob."""

    name: str
    flags: tuple[str, ...]
    date: Millis | None
    literal: bytes | Blob = field(repr=False)


def parse_append(cursor: Cursor, dialect: Dialect) -> Appending:
    cursor.sp()
    name = cursor.mailbox()
    cursor.sp()
    flags: tuple[str, ...] = ()
    if cursor.peek() == b"(":
        flags = tuple(flag for flag in cursor.flag_list() if flag != "\\Recent")
        cursor.sp()
    date = None
    if cursor.peek() == b'"':
        date = cursor.date_time()
        cursor.sp()
    if cursor.peek() == b"~":
        cursor.fail("A binary literal is not offered here")
    literal = cursor.any_literal()
    cursor.eol()
    return Appending(name, settable(flags), date, literal)


async def run_append(session: Session, wanted: Appending) -> Done:
    account = session.user().account
    mailbox = session.store.read(lambda tx: target(tx, account, wanted.name))
    raw = session.blob(wanted.literal.number) if isinstance(wanted.literal, Blob) else wanted.literal
    if not raw:
        raise Refused("An empty message cannot be kept", Code.CANNOT.value)
    prepared = await prepare(session, raw)

    def append(tx: WriteTx) -> Appended:
        """The mailbox is looked up again: it may have gone while the message was being read."""
        into = target(tx, account, wanted.name) if mailboxes.get(tx, mailbox.id) is None else mailbox
        return messages.append(tx, into, prepared, flags=wanted.flags, internal_date=wanted.date)

    appended = await session.store.write(append)
    code = codes.appenduid(appended.uidvalidity, [appended.uid])
    return Done("APPEND completed", code if session.dialect.has(Feature.UID_CODES) else None)


async def prepare(session: Session, raw: bytes) -> Prepared:
    """Normalised, parsed and hashed; a large message in a thread."""
    if len(raw) < IN_THREAD:
        return session.store.prepare(normalise(raw))
    return await asyncio.to_thread(lambda: session.store.prepare(normalise(raw)))


def target(tx: ReadTx, account: AccountId, name: str) -> Mailbox:
    """Where messages are to go. TRYCREATE tells a client that it may make the mailbox (RFC 3501 section 6.3.11)."""
    mailbox = mailboxes.find(tx, account, name)
    if mailbox is None:
        raise Refused("No such mailbox", Code.TRYCREATE.value)
    if not mailbox.selectable:
        raise Refused("This name only groups other mailboxes; it holds no messages", Code.CANNOT.value)
    return mailbox


COMMANDS: Final = (Command(b"APPEND", LOGGED_IN, parse_append, run_append),)
