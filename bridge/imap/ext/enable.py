"""ENABLE (RFC 5161): turns modes on. Unknown names are passed over, as mutt asks for what was never offered."""

from typing import Final

from bridge.imap.command import Command, Done
from bridge.imap.dialect import Dialect, Extension, announces
from bridge.imap.session import Session
from bridge.imap.states import LOGGED_IN
from bridge.imap.wire.cursor import Cursor


def parse_enable(cursor: Cursor, dialect: Dialect) -> tuple[bytes, ...]:
    names: list[bytes] = []
    while not cursor.at_end:
        cursor.sp()
        names.append(cursor.atom().upper())
    if not names:
        cursor.fail("Expected a capability")
    cursor.eol()
    return tuple(dict.fromkeys(names))


async def run_enable(session: Session, names: tuple[bytes, ...]) -> Done:
    """The answer spells a name as CAPABILITY does."""
    known = [name for name in names if name in session.dialect.enables]
    modes = {mode for name in known for mode in session.dialect.enables[name]}
    session.turn_on(modes)
    spelled = {name.upper(): name for name in session.dialect.capabilities(session.standing())}
    session.say(b" ".join((b"ENABLED", *(spelled.get(name, name) for name in known))))
    return Done("ENABLE completed")


EXTENSION: Final = Extension(
    name="ENABLE", announce=announces(b"ENABLE"), commands=(Command(b"ENABLE", LOGGED_IN, parse_enable, run_enable),)
)
