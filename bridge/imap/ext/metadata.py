"""METADATA (RFC 5464): notes that clients keep with a mailbox, or, under the empty name, with the account."""

from dataclasses import dataclass, field
from functools import partial
from typing import Final

from bridge.imap.base.mailboxes import existing
from bridge.imap.base.metadata import (
    MAX_ENTRIES,
    SPECIAL_USE,
    entries_of,
    metadata_line,
    read_entries,
    read_entry,
    wanted,
)
from bridge.imap.command import Command, Done, Refused
from bridge.imap.dialect import Dialect, Extension, announces
from bridge.imap.session import Session
from bridge.imap.states import LOGGED_IN
from bridge.imap.wire.codes import Code
from bridge.imap.wire.cursor import Blob, Cursor
from mailstore import annotations
from mailstore.model import AccountId, Mailbox
from mailstore.sqlite import ReadTx, WriteTx

MAX_VALUE: Final = 64 * 1024  # bytes
_DEPTHS: Final[dict[bytes, int | None]] = {b"0": 0, b"1": 1, b"INFINITY": None}


@dataclass(frozen=True, slots=True)
class Getting:
    """`max_size`: longer values are left out and told of; `depth`: see `wanted`."""

    name: str
    entries: tuple[str, ...]
    max_size: int | None = None
    depth: int | None = 0


@dataclass(frozen=True, slots=True)
class Setting:
    name: str
    values: dict[str, bytes | None] = field(repr=False)


def parse_get(cursor: Cursor, dialect: Dialect) -> Getting:
    """The options stand before the name, and some clients put them behind it."""
    cursor.sp()
    options: dict[bytes, int | None] = {}
    if cursor.peek() == b"(":
        options = dict(cursor.parenthesised(partial(_option, cursor)))
        cursor.sp()
    name = cursor.mailbox()
    cursor.sp()
    entries = read_entries(cursor)
    cursor.eol()
    return Getting(name, tuple(entries), options.get(b"MAXSIZE"), options.get(b"DEPTH", 0))


def _option(cursor: Cursor) -> tuple[bytes, int | None]:
    word = cursor.try_word(b"MAXSIZE", b"DEPTH")
    if word is None:
        cursor.fail("Unknown option")
    cursor.sp()
    if word == b"MAXSIZE":
        return word, cursor.number()
    depth = cursor.try_word(*_DEPTHS)
    if depth is None:
        cursor.fail("Expected 0, 1 or infinity")
    return word, _DEPTHS[depth]


def parse_set(cursor: Cursor, dialect: Dialect) -> Setting:
    cursor.sp()
    name = cursor.mailbox()
    cursor.sp()
    values = cursor.parenthesised(partial(_value, cursor))
    cursor.eol()
    if len(values) > MAX_ENTRIES:
        cursor.fail("Too many entries")
    return Setting(name, dict(values))


def _value(cursor: Cursor) -> tuple[str, bytes | None]:
    entry = read_entry(cursor)
    cursor.sp()
    if cursor.peek() == b"~":
        literal = cursor.any_literal()
        if isinstance(literal, Blob):
            cursor.fail("Literal too large here")
        return entry, literal
    return entry, cursor.nstring()


async def run_get(session: Session, asked: Getting) -> Done:
    account = session.user().account

    def read(tx: ReadTx) -> tuple[str, dict[str, bytes]]:
        mailbox = _about(tx, account, asked.name)
        return mailbox.name if mailbox else "", entries_of(tx, account, mailbox)

    name, there = session.store.read(read)
    found = wanted(asked.entries, there, asked.depth)
    longest = max((len(value or b"") for value in found.values()), default=0)
    if asked.max_size is not None and longest > asked.max_size:
        limit = asked.max_size
        found = {entry: value for entry, value in found.items() if len(value or b"") <= limit}
    if found:
        session.write(metadata_line(name, found, utf8=session.framer.utf8))
    code = b"METADATA LONGENTRIES %d" % longest if asked.max_size is not None and longest > asked.max_size else None
    return Done("GETMETADATA completed", code)


async def run_set(session: Session, setting: Setting) -> Done:
    if any(len(value or b"") > MAX_VALUE for value in setting.values.values()):
        raise Refused("The value is too long", b"METADATA MAXSIZE %d" % MAX_VALUE)
    if setting.name and SPECIAL_USE in setting.values:
        raise Refused("What a mailbox is for cannot be changed", Code.CANNOT.value)
    account = session.user().account

    def write(tx: WriteTx) -> None:
        annotations.put(tx, account, _about(tx, account, setting.name), setting.values)

    await session.commit(write)
    return Done("SETMETADATA completed")


def _about(tx: ReadTx, account: AccountId, name: str) -> Mailbox | None:
    return existing(tx, account, name) if name else None


EXTENSION: Final = Extension(
    name="METADATA",
    announce=announces(b"METADATA"),
    commands=(
        Command(b"GETMETADATA", LOGGED_IN, parse_get, run_get),
        Command(b"SETMETADATA", LOGGED_IN, parse_set, run_set),
    ),
    default=False,
)
