"""THREAD (RFC 5256) by ORDEREDSUBJECT and REFERENCES, and by REFS (draft-ietf-morg-inthread)."""

from dataclasses import dataclass
from functools import partial
from typing import Final

from bridge.imap.base.limit import refuse_more
from bridge.imap.base.ordering import arranged, parse_charset, parse_what
from bridge.imap.base.search import find, told_as
from bridge.imap.command import Command, Done, Traits
from bridge.imap.criteria import Criteria
from bridge.imap.dialect import Dialect, Extension, announces
from bridge.imap.session import Session
from bridge.imap.states import IN_MAILBOX
from bridge.imap.threads import ALGORITHMS, render
from bridge.imap.wire.cursor import Cursor


@dataclass(frozen=True, slots=True)
class Threading:
    algorithm: bytes
    criteria: Criteria


def parse_thread(cursor: Cursor, dialect: Dialect) -> Threading:
    cursor.sp()
    algorithm = cursor.try_word(*ALGORITHMS)
    if algorithm is None:
        cursor.fail("Unknown threading algorithm")
    parse_charset(cursor)
    return Threading(algorithm, parse_what(cursor, dialect))


async def run_thread(session: Session, wanted: Threading, *, uid: bool) -> Done:
    selected = session.open_mailbox()
    refuse_more(session, len(selected.view))  # RFC 9738 section 3.3: of the mailbox, whatever is found
    found = await find(session, selected, wanted.criteria, None)
    of = (found.uids, told_as(selected, found.uids, uid=uid))
    memory, mailbox = session.host.order_memory, selected.mailbox.id
    threads = memory.answer(mailbox, wanted.algorithm, of)
    if threads is None:
        numbers = dict(zip(*of, strict=True))
        threads = await arranged(
            session,
            selected,
            found.uids,
            lambda entries: render(ALGORITHMS[wanted.algorithm](entries), lambda entry: numbers[entry.uid]),
        )
        memory.remember(mailbox, wanted.algorithm, of, threads)
    session.say(b"THREAD " + threads if threads else b"THREAD")
    return Done("UID THREAD completed" if uid else "THREAD completed", counted=wanted.criteria.counted)


EXTENSION: Final = Extension(
    name="THREAD",
    announce=announces(b"THREAD=ORDEREDSUBJECT", b"THREAD=REFERENCES", b"THREAD=REFS"),
    commands=(
        Command(
            b"THREAD",
            IN_MAILBOX,
            parse_thread,
            partial(run_thread, uid=False),
            Traits(uses_numbers=True, tells_gone=False),
        ),
        Command(b"UID THREAD", IN_MAILBOX, parse_thread, partial(run_thread, uid=True)),
    ),
)
