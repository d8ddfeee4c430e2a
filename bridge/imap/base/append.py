"""APPEND (RFC 3501 section 6.3.11, RFC 4315 APPENDUID, RFC 3502 MULTIAPPEND).

Rule: the bytes are kept as they came (line ends apart); what may not be put into a mailbox is refused with the reason.
A message that Postroom has already (a client's copy of what it sent) is kept once, and the kept one is named.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from bridge.imap.base.flags import settable
from bridge.imap.base.limit import refuse_more
from bridge.imap.base.listing import introduce_composed
from bridge.imap.base.unbinary import without_binary
from bridge.imap.command import Command, Done, Refused
from bridge.imap.dialect import AppendData, Dialect, Feature
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
class NewMessage:
    """One message to append: a literal (still a Blob when it was streamed), or one of the dialect's other forms.

    `zone`: minutes that the clock of `date` is ahead of UTC.
    """

    flags: tuple[str, ...]
    date: Millis | None
    literal: bytes | Blob = field(repr=False)
    binary: bool = False
    form: tuple[AppendData, Any] | None = None
    zone: int = 0


@dataclass(frozen=True, slots=True)
class Appending:
    name: str
    messages: tuple[NewMessage, ...]


def parse_append(cursor: Cursor, dialect: Dialect) -> Appending:
    cursor.sp()
    name = cursor.mailbox()
    found = [parse_message(cursor, dialect)]
    while dialect.has(Feature.SEVERAL_APPENDS) and not cursor.at_end:  # how many, the framer's limit of bytes bounds
        found.append(parse_message(cursor, dialect))
    cursor.eol()
    return Appending(name, tuple(found))


def parse_message(cursor: Cursor, dialect: Dialect) -> NewMessage:
    """`SP [flags SP] [date SP] message`."""
    cursor.sp()
    flags: tuple[str, ...] = ()
    if cursor.peek() == b"(":
        flags = settable([flag for flag in cursor.flag_list() if flag != "\\Recent"])
        cursor.sp()
    date, zone = None, 0
    if cursor.peek() == b'"':
        date, zone = cursor.date_time()
        cursor.sp()
    word = cursor.try_word(*dialect.append_data)
    if word is not None:
        form = dialect.append_data[word]
        cursor.sp()
        return NewMessage(flags, date, b"", form=(form, form.parse(cursor)), zone=zone)
    binary = cursor.peek() == b"~"
    if binary and not dialect.has(Feature.BINARY_LITERALS):
        cursor.fail("A binary literal is not offered here")
    return NewMessage(flags, date, cursor.any_literal(), binary, zone=zone)


async def run_append(session: Session, wanted: Appending) -> Done:
    refuse_more(session, len(wanted.messages))
    account = session.user().account
    session.store.read(lambda tx: target(tx, account, wanted.name))  # before a message's own faults: TRYCREATE helps
    prepared = await prepare(session, await gather_all(session, wanted.messages))
    incoming = [
        messages.Incoming(each, message.flags, message.date, message.zone)
        for each, message in zip(prepared, wanted.messages, strict=True)
    ]

    def append(tx: WriteTx) -> tuple[Mailbox, list[Appended]]:
        mailbox = target(tx, account, wanted.name)
        return mailbox, messages.append_all(tx, mailbox, incoming)

    mailbox, appended = await session.commit(append)
    introduce_composed(session, mailbox, wanted.name)
    return Done("APPEND completed", appenduid(session, appended))


def appenduid(session: Session, appended: Sequence[Appended]) -> bytes | None:
    """The response code, if UIDPLUS is spoken."""
    if not session.dialect.has(Feature.UID_CODES):
        return None
    return codes.appenduid(appended[0].uidvalidity, [each.uid for each in appended])


async def gather_all(session: Session, wanted: Sequence[NewMessage]) -> list[bytes]:
    """The bytes of all messages, which are in memory together. Raises Refused where they are more than the framer lets
    one APPEND say: what is put together from messages that are here (CATENATE) takes but a line of it."""
    limits = session.framer.limits
    found, room = [], limits.appends + limits.command
    for message in wanted:
        raw = await gather(session, message)
        room -= len(raw)
        if room < 0:
            raise Refused("The messages are too large together", Code.TOOBIG.value)
        found.append(raw)
    return found


async def gather(session: Session, message: NewMessage) -> bytes:
    """The bytes of a message as the client gives them. Raises Refused for an empty one."""
    if message.form is not None:
        form, value = message.form
        raw = await form.gather(session, value)
    elif isinstance(message.literal, Blob):
        raw = session.blob(message.literal.number)
    else:
        raw = message.literal
    if not raw:
        raise Refused("An empty message cannot be kept", Code.CANNOT.value)
    if len(raw) > session.settings.imap.append_limit:  # put together from parts, each of which was within it
        raise Refused("The message is too large", Code.TOOBIG.value)
    return without_binary(raw) if message.binary else raw


async def prepare(session: Session, raws: Sequence[bytes]) -> list[Prepared]:
    """Normalised, parsed and hashed; much of it in a thread."""

    def work() -> list[Prepared]:
        return [session.store.prepare(normalise(raw)) for raw in raws]

    return work() if sum(map(len, raws)) < IN_THREAD else await asyncio.to_thread(work)


def target(tx: ReadTx, account: AccountId, name: str) -> Mailbox:
    """Where messages are to go. TRYCREATE tells a client that it may make the mailbox (RFC 3501 section 6.3.11)."""
    mailbox = mailboxes.find(tx, account, name)
    if mailbox is None:
        raise Refused("No such mailbox", Code.TRYCREATE.value)
    if not mailbox.selectable:
        raise Refused("This name only groups other mailboxes; it holds no messages", Code.CANNOT.value)
    return mailbox


COMMANDS: Final = (Command(b"APPEND", LOGGED_IN, parse_append, run_append),)
