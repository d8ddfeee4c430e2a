"""UIDPLUS (RFC 4315): UID EXPUNGE; and APPENDUID and COPYUID, which base.append and base.copy make."""

from typing import Final

from bridge.imap.base.expunge import expunge
from bridge.imap.base.limit import deleted_share, told
from bridge.imap.base.own import positions, uids_at, writable
from bridge.imap.command import Command, Done, Traits
from bridge.imap.dialect import Dialect, Extension, Feature, announces
from bridge.imap.session import Session
from bridge.imap.states import IN_MAILBOX
from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.seqset import SeqSet


def parse_uid_expunge(cursor: Cursor, dialect: Dialect) -> SeqSet:
    cursor.sp()
    messages = cursor.seqset()
    cursor.eol()
    return messages


async def run_uid_expunge(session: Session, messages: SeqSet) -> Done:
    selected = writable(session)
    named = uids_at(selected, positions(selected, messages, uid=True))
    uids, code = deleted_share(session, selected, named)
    return told(session, Done("UID EXPUNGE completed", await expunge(session, uids) if uids else None), code)


EXTENSION: Final = Extension(
    name="UIDPLUS",
    announce=announces(b"UIDPLUS"),
    commands=(Command(b"UID EXPUNGE", IN_MAILBOX, parse_uid_expunge, run_uid_expunge, Traits(breaks_numbers=True)),),
    features=frozenset({Feature.UID_CODES}),
)
