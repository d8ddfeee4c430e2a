"""MOVE and UID MOVE (RFC 6851). Out of a view the stored message itself is moved (the store's doing)."""

from functools import partial
from typing import Final

from bridge.imap.base.append import target
from bridge.imap.base.copy import Copying, copyuid, parse_copy
from bridge.imap.base.expunge import position_code
from bridge.imap.base.limit import share, told
from bridge.imap.base.own import change, positions, uids_at, writable
from bridge.imap.command import Command, Done, Traits
from bridge.imap.dialect import Extension, announces
from bridge.imap.session import Session
from bridge.imap.states import IN_MAILBOX
from mailstore import messages
from mailstore.model import Copied
from mailstore.sqlite import WriteTx


async def run_move(session: Session, wanted: Copying, *, uid: bool) -> Done:
    """COPYUID goes out before the departures (section 4.3). What has gone already is passed over (iOS)."""
    selected = writable(session)
    account = session.user().account
    part = share(session, selected, positions(selected, wanted.messages, uid=uid))
    uids = uids_at(selected, part.spans)

    def move(tx: WriteTx) -> Copied:
        return messages.move(tx, selected.mailbox, uids, target(tx, account, wanted.name))

    moved, _ = await change(session, selected, move)
    code = copyuid(session, moved)
    if code is not None:
        session.say(b"OK [" + code + b"] Moved")
    if not moved.target_uids:
        return told(session, Done("No messages moved"), part.code)
    return told(session, Done("MOVE completed", position_code(session, selected)), part.code)


EXTENSION: Final = Extension(
    name="MOVE",
    announce=announces(b"MOVE"),
    commands=(
        Command(
            b"MOVE",
            IN_MAILBOX,
            parse_copy,
            partial(run_move, uid=False),
            Traits(uses_numbers=True, breaks_numbers=True),
        ),
        Command(b"UID MOVE", IN_MAILBOX, parse_copy, partial(run_move, uid=True), Traits(breaks_numbers=True)),
    ),
)
