"""COPY and UID COPY (RFC 3501 section 6.4.7), and what MOVE shares with them (RFC 4315 COPYUID).

Rule: the pairs of COPYUID are the store's own, in the order it made them; nothing is paired up here.
"""

from dataclasses import dataclass
from functools import partial
from typing import Final

from bridge.imap.base.append import target
from bridge.imap.base.limit import all_or_none
from bridge.imap.base.own import positions, uids_at
from bridge.imap.command import Command, Done, Traits
from bridge.imap.dialect import Dialect, Feature
from bridge.imap.session import Session
from bridge.imap.states import IN_MAILBOX
from bridge.imap.wire import codes
from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.seqset import SeqSet
from mailstore import messages
from mailstore.model import Copied
from mailstore.sqlite import WriteTx


@dataclass(frozen=True, slots=True)
class Copying:
    messages: SeqSet
    name: str


def parse_copy(cursor: Cursor, dialect: Dialect) -> Copying:
    cursor.sp()
    wanted = cursor.seqset()
    cursor.sp()
    name = cursor.mailbox()
    cursor.eol()
    return Copying(wanted, name)


async def run_copy(session: Session, wanted: Copying, *, uid: bool) -> Done:
    selected = session.open_mailbox()
    account = session.user().account
    spans = positions(selected, wanted.messages, uid=uid)
    all_or_none(session, selected, spans)
    uids = uids_at(selected, spans)

    def copy(tx: WriteTx) -> Copied:
        return messages.copy(tx, selected.mailbox, uids, target(tx, account, wanted.name))

    copied = await session.commit(copy)
    return Done("COPY completed" if copied.target_uids else "No messages copied", copyuid(session, copied))


def copyuid(session: Session, copied: Copied) -> bytes | None:
    """The response code, if something was copied and UIDPLUS is spoken."""
    if not copied.target_uids or not session.dialect.has(Feature.UID_CODES):
        return None
    return codes.copyuid(copied.uidvalidity, copied.source_uids, copied.target_uids)


COMMANDS: Final = (
    Command(b"COPY", IN_MAILBOX, parse_copy, partial(run_copy, uid=False), Traits(uses_numbers=True)),
    Command(b"UID COPY", IN_MAILBOX, parse_copy, partial(run_copy, uid=True)),
)
