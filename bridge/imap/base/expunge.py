"""EXPUNGE (RFC 3501 section 6.4.3) and what UID EXPUNGE shares with it.

Rule: the departures are told by the view, as everybody else's are. Action, Unread and All expunge into Trash (the
store's doing).
"""

from collections.abc import Sequence
from typing import Final

from bridge.imap.base.own import change, writable
from bridge.imap.command import Command, Done, Traits, nothing
from bridge.imap.dialect import Mode
from bridge.imap.session import Session
from bridge.imap.states import IN_MAILBOX, Selected
from bridge.imap.wire import codes
from mailstore import mailboxes, messages
from mailstore.model import Uid


async def run_expunge(session: Session, _: None) -> Done:
    return Done("EXPUNGE completed", await expunge(session, None))


async def expunge(session: Session, uids: Sequence[Uid] | None) -> bytes | None:
    """Expunge what is \\Deleted, all or among the UIDs. The response code for it, if something went."""
    selected = writable(session)
    mailbox = selected.mailbox
    if not session.store.read(lambda tx: mailboxes.status(tx, mailbox).deleted):
        return None
    gone, _ = await change(session, selected, lambda tx: messages.expunge(tx, mailbox, uids))
    return position_code(session, selected) if gone else None


def position_code(session: Session, selected: Selected) -> bytes | None:
    """HIGHESTMODSEQ for who speaks QRESYNC (RFC 7162 section 3.2.7): up to there everything has been told by then."""
    return codes.highestmodseq(selected.view.modseq) if Mode.QRESYNC in session.modes else None


COMMANDS: Final = (Command(b"EXPUNGE", IN_MAILBOX, nothing, run_expunge, Traits(breaks_numbers=True)),)
