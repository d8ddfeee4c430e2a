"""STORE and UID STORE (RFC 3501 section 6.4.6).

Rule: what a client set itself it is told at most once, in the answer; what others set meanwhile is never lost, even
when the client asked for silence.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from bridge.imap import sync
from bridge.imap.base.own import change, positions, uids_at, writable
from bridge.imap.base.select import read_parameter
from bridge.imap.command import Command, Done, Refused, Traits
from bridge.imap.dialect import Dialect, Parameter
from bridge.imap.session import Session
from bridge.imap.states import IN_MAILBOX
from bridge.imap.wire.codes import Code
from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.errors import ParseError
from bridge.imap.wire.seqset import SeqSet
from mailstore import flags
from mailstore.model import SYSTEM_FLAGS, FlagOp

OPS: Final = {b"+": FlagOp.ADD, b"-": FlagOp.REMOVE}


@dataclass(frozen=True, slots=True)
class Storing:
    messages: SeqSet
    op: FlagOp
    flags: tuple[str, ...]
    silent: bool
    params: tuple[tuple[Parameter, Any], ...] = ()


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
    params: list[tuple[Parameter, Any]] = []
    if cursor.peek() == b"(" and dialect.store_params:
        params = cursor.parenthesised(partial(read_parameter, cursor, dialect.store_params))
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
    return Storing(messages, op, names, word.endswith(b".SILENT"), tuple(params))


async def run_store(session: Session, wanted: Storing, *, uid: bool) -> Done:
    selected = writable(session)
    spans = positions(selected, wanted.messages, uid=uid)
    uids = uids_at(selected, spans)
    asked = sum(map(len, spans))
    word = "UID STORE" if uid else "STORE"
    if not uids:
        return completed(word, asked, 0, uid=uid)
    await change(
        session,
        selected,
        lambda tx: flags.store(tx, selected.mailbox, uids, wanted.op, wanted.flags),
        silent=wanted.silent,
    )
    here = [of for of in uids if of not in selected.view.withheld]
    if not wanted.silent:
        numbered = [(selected.view.number(of), of) for of in here]
        session.write(b"".join(sync.new_keywords(session, selected)))
        session.write(b"".join(sync.flag_lines(session, selected, numbered, uid=uid)))
        selected.view.forget_flags(here)
    return completed(word, asked, len(here), uid=uid)


def completed(word: str, asked: int, done: int, *, uid: bool) -> Done:
    """RFC 2180 section 4.2.1: numbers of messages that others have expunged meanwhile are told so."""
    if asked > done and not uid:
        raise Refused("Some of these messages have been expunged", Code.EXPUNGEISSUED.value)
    return Done(f"{word} completed")


COMMANDS: Final = (
    Command(
        b"STORE", IN_MAILBOX, parse_store, partial(run_store, uid=False), Traits(uses_numbers=True, tells_gone=False)
    ),
    Command(b"UID STORE", IN_MAILBOX, parse_store, partial(run_store, uid=True)),
)
