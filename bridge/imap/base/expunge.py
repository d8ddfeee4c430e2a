"""EXPUNGE (RFC 3501 section 6.4.3) and what UID EXPUNGE shares with it.

Rule: the departures are told by the view, as everybody else's are. Action, Unread and All expunge into Trash (the
store's doing).
"""

from collections.abc import Sequence
from typing import Final

from bridge.imap.base.own import change, writable
from bridge.imap.command import Command, Done, Traits, nothing
from bridge.imap.session import Session
from bridge.imap.states import IN_MAILBOX
from mailstore import mailboxes, messages
from mailstore.model import Uid


async def run_expunge(session: Session, _: None) -> Done:
    await expunge(session, None)
    return Done("EXPUNGE completed")


async def expunge(session: Session, uids: Sequence[Uid] | None) -> None:
    """Expunge what is \\Deleted, all or among the UIDs."""
    selected = writable(session)
    mailbox = selected.mailbox
    if session.store.read(lambda tx: mailboxes.status(tx, mailbox).deleted):
        await change(session, selected, lambda tx: messages.expunge(tx, mailbox, uids))


COMMANDS: Final = (Command(b"EXPUNGE", IN_MAILBOX, nothing, run_expunge, Traits(breaks_numbers=True)),)
