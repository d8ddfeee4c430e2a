"""STORE and UID STORE (RFC 3501 section 6.4.6).

Rule: what a client set itself it is told at most once, in the answer; what others set meanwhile is never lost, even
when the client asked for silence.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from bridge.imap import sync
from bridge.imap.base.limit import share, told
from bridge.imap.base.mailboxes import read_parameter
from bridge.imap.base.own import change, positions, uids_at, writable
from bridge.imap.command import Command, Done, Refused, Traits
from bridge.imap.dialect import Dialect, Mode
from bridge.imap.session import Session
from bridge.imap.states import IN_MAILBOX, Selected
from bridge.imap.wire import codes
from bridge.imap.wire.codes import Code
from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.errors import ParseError
from bridge.imap.wire.seqset import SeqSet
from mailstore import flags
from mailstore.model import SYSTEM_FLAGS, FlagOp, ModSeq, Stored, Uid
from mailstore.sqlite import WriteTx

OPS: Final = {b"+": FlagOp.ADD, b"-": FlagOp.REMOVE}


@dataclass(frozen=True, slots=True)
class Storing:
    messages: SeqSet
    op: FlagOp
    flags: tuple[str, ...]
    silent: bool
    unchanged_since: ModSeq | None = None


def settable(names: Sequence[str]) -> tuple[str, ...]:
    """The flags, if a client may set them: keywords and the five system flags. Raises ParseError."""
    for name in names:
        if name.startswith("\\") and name not in SYSTEM_FLAGS:
            raise ParseError("Unknown or read-only flag")
    return tuple(dict.fromkeys(names))


def parse_store(cursor: Cursor, dialect: Dialect) -> Storing:
    cursor.sp()
    messages = cursor.seqset()
    cursor.sp()
    params: dict[bytes, Any] = {}
    if cursor.peek() == b"(" and dialect.store_params:
        read = cursor.parenthesised(partial(read_parameter, cursor, dialect.store_params))
        params = {parameter.name: value for parameter, value in read}
        if len(params) < len(read):
            cursor.fail("A parameter is given twice")
        cursor.sp()
    op = OPS.get(cursor.peek(), FlagOp.REPLACE)
    if op is not FlagOp.REPLACE:
        cursor.byte(cursor.peek())
    word = cursor.try_word(b"FLAGS", b"FLAGS.SILENT")
    if word is None:
        cursor.fail("Expected FLAGS or FLAGS.SILENT")
    cursor.sp()
    names = settable(cursor.store_flags())
    cursor.eol()
    return Storing(messages, op, names, word.endswith(b".SILENT"), params.get(b"UNCHANGEDSINCE"))


async def run_store(session: Session, wanted: Storing, *, uid: bool) -> Done:
    selected = writable(session)
    if wanted.unchanged_since is not None:
        session.turn_on((Mode.CONDSTORE,))
    part = share(session, selected, positions(selected, wanted.messages, uid=uid))
    uids = uids_at(selected, part.spans)
    asked = sum(map(len, part.spans))
    word = "UID STORE" if uid else "STORE"
    if not uids:
        return told(session, completed(word, asked, 0, uid=uid, limited=part.code is not None), part.code)

    def write(tx: WriteTx) -> Stored:
        return flags.store(tx, selected.mailbox, uids, wanted.op, wanted.flags, wanted.unchanged_since)

    stored, _ = await change(session, selected, write, silent=True)  # what it sets is told below, if at all
    left_alone = set(stored.modified)
    withheld = selected.view.withheld
    here = [of for of in uids if of not in withheld] if withheld else uids
    set_here = [of for of in here if of not in left_alone] if left_alone else here
    _answer(session, selected, wanted, set_here, uid=uid)
    limited = part.code is not None
    if not left_alone:
        return told(session, completed(word, asked, len(here), uid=uid, limited=limited), part.code)
    _tell_why(session, selected, [of for of in here if of in left_alone], uid=uid)
    code = codes.modified(stored.modified if uid else selected.view.numbers(stored.modified))
    if asked > len(here) and not uid and not limited:
        raise Refused("Some of these messages have been expunged, and some had changed", code)
    return told(session, Done("Some messages had changed meanwhile", code), part.code)


def _answer(session: Session, selected: Selected, wanted: Storing, done: Sequence[Uid], *, uid: bool) -> None:
    """The FETCH lines that STORE itself tells; of silent ones only the modseq, to who knows about modseqs."""
    if wanted.silent and any(not name.startswith("\\") for name in wanted.flags):
        session.write(b"".join(sync.last_keywords(session, selected)))
    if wanted.silent and Mode.CONDSTORE not in session.modes:
        return
    if not wanted.silent:
        session.write(b"".join(sync.new_keywords(session, selected)))
        selected.view.forget_flags(done)
    numbers = selected.view.numbers(done)
    session.write(b"".join(sync.flag_columns(session, selected, numbers, done, uid=uid, flags=not wanted.silent)))


def _tell_why(session: Session, selected: Selected, left_alone: Sequence[Uid], *, uid: bool) -> None:
    """The flags of messages that had changed, so that the client need not ask for them (RFC 7162 section 3.1.3)."""
    session.write(b"".join(sync.new_keywords(session, selected)))
    selected.view.forget_flags(left_alone)
    numbers = selected.view.numbers(left_alone)
    session.write(b"".join(sync.flag_columns(session, selected, numbers, left_alone, uid=uid)))


def completed(word: str, asked: int, done: int, *, uid: bool, limited: bool) -> Done:
    """RFC 2180 section 4.2.1: numbers of messages that others have expunged meanwhile are told so.

    `limited`: not all were taken anyway; that is no failure then (RFC 9738 section 3.1).
    """
    if asked > done and not uid:
        gone = Refused("Some of these messages have been expunged", Code.EXPUNGEISSUED.value)
        if not limited:
            raise gone
        return Done(gone.text, gone.code)
    return Done(f"{word} completed")


COMMANDS: Final = (
    Command(
        b"STORE", IN_MAILBOX, parse_store, partial(run_store, uid=False), Traits(uses_numbers=True, tells_gone=False)
    ),
    Command(b"UID STORE", IN_MAILBOX, parse_store, partial(run_store, uid=True)),
)
