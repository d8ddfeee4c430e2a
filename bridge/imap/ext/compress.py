"""COMPRESS=DEFLATE (RFC 4978): from the OK on, both ways."""

from typing import Final

from bridge.imap.command import Command, Done, Refused
from bridge.imap.dialect import Dialect, Extension, Mode, announces
from bridge.imap.session import Session
from bridge.imap.states import LOGGED_IN
from bridge.imap.wire.cursor import Cursor


def parse_compress(cursor: Cursor, dialect: Dialect) -> None:
    cursor.sp()
    if not cursor.try_word(b"DEFLATE"):
        cursor.fail("Only DEFLATE is offered")
    cursor.eol()


async def run_compress(session: Session, _: None) -> Done:
    if Mode.DEFLATE in session.modes:
        raise Refused("The connection is compressed already", b"COMPRESSIONACTIVE")
    session.wire.hold_reading()  # what follows in this connection is compressed, and must not be read as it is
    return Done("DEFLATE is on", then=_begin)


async def _begin(session: Session) -> None:
    session.turn_on((Mode.DEFLATE,))
    session.turn_to_deflate()


EXTENSION: Final = Extension(
    name="COMPRESS=DEFLATE",
    announce=announces(b"COMPRESS=DEFLATE"),
    commands=(Command(b"COMPRESS", LOGGED_IN, parse_compress, run_compress),),
    default=False,
)
