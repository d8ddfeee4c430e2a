"""NAMESPACE (RFC 2342): one personal namespace, without prefix."""

from typing import Final

from bridge.imap.command import Command, Done, nothing
from bridge.imap.dialect import Extension, announces
from bridge.imap.session import Session
from bridge.imap.states import LOGGED_IN


async def run_namespace(session: Session, _: None) -> Done:
    session.say(b'NAMESPACE (("" "/")) NIL NIL')
    return Done("NAMESPACE completed")


EXTENSION: Final = Extension(
    name="NAMESPACE",
    announce=announces(b"NAMESPACE"),
    commands=(Command(b"NAMESPACE", LOGGED_IN, nothing, run_namespace),),
)
