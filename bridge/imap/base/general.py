"""CAPABILITY, NOOP, CHECK and LOGOUT (RFC 3501 sections 6.1 and 6.4.1)."""

from typing import Final

from bridge.imap.command import Command, Done, Traits, nothing
from bridge.imap.session import Session
from bridge.imap.states import ANY, IN_MAILBOX


async def run_capability(session: Session, _: None) -> Done:
    session.say(session.capabilities())
    return Done("CAPABILITY completed")


async def run_noop(session: Session, _: None) -> Done:
    return Done("NOOP completed")


async def run_check(session: Session, _: None) -> Done:
    """Every change is durable when it is answered, so there is nothing to write out."""
    return Done("CHECK completed")


async def run_logout(session: Session, _: None) -> Done:
    session.unselect()
    session.say(b"BYE Logging out")
    return Done("LOGOUT completed", then=_end)


async def _end(session: Session) -> None:
    session.end()


COMMANDS: Final = (
    Command(b"CAPABILITY", ANY, nothing, run_capability),
    Command(b"NOOP", ANY, nothing, run_noop),
    Command(b"CHECK", IN_MAILBOX, nothing, run_check),
    Command(b"LOGOUT", ANY, nothing, run_logout, Traits(changes_mailbox=True)),
)
