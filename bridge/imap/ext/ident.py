"""ID (RFC 2971): the client says what it is, and we what we are. Both are for logs, never for decisions."""

import logging
from functools import partial
from typing import Final

from bridge.imap.command import Command, Done
from bridge.imap.dialect import Dialect, Extension, announces
from bridge.imap.session import Session
from bridge.imap.states import ANY
from bridge.imap.wire.cursor import Cursor

MAX_FIELDS: Final = 30  # RFC 2971 section 3.3
LOGGED: Final = 80  # characters of a value that go to the log

_log = logging.getLogger(__name__)

Fields = list[tuple[bytes, bytes | None]]


def parse_id(cursor: Cursor, dialect: Dialect) -> Fields:
    cursor.sp()
    if cursor.try_word(b"NIL"):
        cursor.eol()
        return []
    fields = cursor.parenthesised(partial(_field, cursor), empty=True)
    if len(fields) > MAX_FIELDS:
        cursor.fail("Too many fields")
    cursor.eol()
    return fields


def _field(cursor: Cursor) -> tuple[bytes, bytes | None]:
    name = cursor.string()
    cursor.sp()
    return name, cursor.nstring()


async def run_id(session: Session, fields: Fields) -> Done:
    told = {name.lower(): value or b"" for name, value in fields}
    shown = " ".join(ascii(told[name].decode("latin-1")[:LOGGED]) for name in (b"name", b"version") if name in told)
    _log.info("client at %s calls itself %s", session.wire.peer, shown or "nothing")
    session.say(b'ID ("name" "Postroom")')
    return Done("ID completed")


EXTENSION: Final = Extension(
    name="ID", announce=announces(b"ID", in_clear=True), commands=(Command(b"ID", ANY, parse_id, run_id),)
)
