"""STARTTLS (RFC 3501 section 6.2.1, RFC 2595; DECISIONS 15 of the design: nothing said in clear survives it)."""

from typing import Final

from bridge.imap.command import Command, Done, Farewell, Refused, nothing
from bridge.imap.dialect import Extension, Standing
from bridge.imap.session import Session
from bridge.imap.states import BEFORE_LOGIN, State


def _announce(standing: Standing) -> tuple[bytes, ...]:
    return (b"STARTTLS",) if standing.state is State.FRESH and standing.tls_possible else ()


async def run_starttls(session: Session, _: None) -> Done:
    """Stop reading before the OK; who sent anything behind the command meant it to be read in clear, and is cut off."""
    if session.wire.secure:
        raise Refused("TLS is on already", bad=True)
    if session.host.tls is None:
        raise Refused("TLS is not offered here")
    session.wire.hold_reading()
    if session.framer.buffered:
        raise Farewell("Nothing may follow STARTTLS")
    return Done("Begin TLS now", then=_begin)


async def _begin(session: Session) -> None:
    context = session.host.tls
    if context is not None:
        await session.turn_to_tls(context)


EXTENSION: Final = Extension(
    name="STARTTLS",
    announce=_announce,
    commands=(Command(b"STARTTLS", BEFORE_LOGIN, nothing, run_starttls),),
)
