"""UNSELECT (RFC 3691): close a mailbox and expunge nothing."""

from typing import Final

from bridge.imap.command import Command, Done, Traits, nothing
from bridge.imap.dialect import Extension, announces
from bridge.imap.session import Session
from bridge.imap.states import IN_MAILBOX


async def run_unselect(session: Session, _: None) -> Done:
    session.unselect()
    return Done("UNSELECT completed")


EXTENSION: Final = Extension(
    name="UNSELECT",
    announce=announces(b"UNSELECT"),
    commands=(Command(b"UNSELECT", IN_MAILBOX, nothing, run_unselect, Traits(changes_mailbox=True)),),
)
