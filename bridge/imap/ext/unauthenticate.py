"""UNAUTHENTICATE (RFC 8437): the connection is as it was before the login; TLS stays."""

from typing import Final

from bridge.imap.command import Command, Done, Refused, Traits, nothing
from bridge.imap.dialect import Extension, Mode, Standing
from bridge.imap.session import Session
from bridge.imap.states import LOGGED_IN, State
from bridge.imap.wire.codes import Code


async def run_unauthenticate(session: Session, _: None) -> Done:
    if Mode.DEFLATE in session.modes:
        raise Refused("Not while the connection is compressed", Code.CANNOT.value)
    session.leave_account()
    return Done("You are logged out", session.capabilities())


def _announce(standing: Standing) -> tuple[bytes, ...]:
    return (b"UNAUTHENTICATE",) if standing.state in (State.READY, State.SELECTED) else ()


EXTENSION: Final = Extension(
    name="UNAUTHENTICATE",
    announce=_announce,
    commands=(Command(b"UNAUTHENTICATE", LOGGED_IN, nothing, run_unauthenticate, Traits(changes_mailbox=True)),),
    default=False,
)
