"""IDLE (RFC 2177): news as it happens. An idle session is only a subscription at the doorbell: no task, no timer."""

from typing import Final

from bridge.imap import sync
from bridge.imap.command import Command, Done, Hold, Refused, nothing
from bridge.imap.dialect import Extension, announces
from bridge.imap.pipeline import News
from bridge.imap.session import Session
from bridge.imap.states import LOGGED_IN


async def run_idle(session: Session, _: None) -> Hold:
    """Also without a mailbox: Outlook's set-up test does that."""
    session.prompt(b"idling")
    sync.catch_up(session, session.news(News(any=True, gone=True)))
    session.idling = True
    return Hold(_end)


async def _end(session: Session, line: bytes) -> Done:
    session.idling = False
    if line.strip().upper() != b"DONE":
        raise Refused("Expected DONE", bad=True)
    return Done("IDLE completed")


EXTENSION: Final = Extension(
    name="IDLE", announce=announces(b"IDLE"), commands=(Command(b"IDLE", LOGGED_IN, nothing, run_idle),)
)
