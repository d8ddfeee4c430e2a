"""REPLACE (RFC 8508): a new message in place of one, in one transaction: an edited draft is never there twice or not
at all.

Within one mailbox the new message takes the old one's place for whoever knows that (labels, threads). Out of a view the
old message goes to Trash, as by any other expunge there.
"""

from dataclasses import dataclass
from functools import partial
from typing import Final

from bridge.imap.base.append import NewMessage, appenduid, gather, parse_message, prepare, target
from bridge.imap.base.own import change, positions, uids_at, writable
from bridge.imap.command import Command, Done, Refused, Traits
from bridge.imap.dialect import Dialect, Extension, announces
from bridge.imap.session import Session
from bridge.imap.states import IN_MAILBOX
from bridge.imap.wire.codes import Code
from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.seqset import SeqSet
from mailstore import messages
from mailstore.model import Appended
from mailstore.sqlite import WriteTx


@dataclass(frozen=True, slots=True)
class Replacing:
    old: SeqSet
    name: str
    message: NewMessage


def parse_replace(cursor: Cursor, dialect: Dialect) -> Replacing:
    cursor.sp()
    old = SeqSet.parse(b"%d" % cursor.nz_number()) if not cursor.try_byte(b"*") else SeqSet.parse(b"*")
    cursor.sp()
    name = cursor.mailbox()
    message = parse_message(cursor, dialect)
    cursor.eol()
    return Replacing(old, name, message)


async def run_replace(session: Session, wanted: Replacing, *, uid: bool) -> Done:
    selected = writable(session)
    account = session.user().account
    session.store.read(lambda tx: target(tx, account, wanted.name))
    old = uids_at(selected, positions(selected, wanted.old, uid=uid))
    if not old:
        raise Refused("There is no such message to replace", Code.NONEXISTENT.value)
    [prepared] = await prepare(session, [await gather(session, wanted.message)])

    def write(tx: WriteTx) -> Appended:
        into = target(tx, account, wanted.name)
        rows = messages.fetch(tx, selected.mailbox, old)
        if not rows:
            raise Refused("The message has been expunged meanwhile", Code.EXPUNGEISSUED.value)
        fresh = wanted.message
        within = rows[0].email if into.id == selected.mailbox.id else None
        new = messages.replace(tx, into, within, prepared, flags=fresh.flags, internal_date=fresh.date, zone=fresh.zone)
        if within is None and new.email != rows[0].email:
            messages.expunge(tx, selected.mailbox, old, only_deleted=False)
        return new

    new, _ = await change(session, selected, write)
    code = appenduid(session, [new])
    if code is not None:
        session.say(b"OK [" + code + b"] Replaced")
    return Done("REPLACE completed")


EXTENSION: Final = Extension(
    name="REPLACE",
    announce=announces(b"REPLACE"),
    commands=(
        Command(
            b"REPLACE",
            IN_MAILBOX,
            parse_replace,
            partial(run_replace, uid=False),
            Traits(uses_numbers=True, breaks_numbers=True),
        ),
        Command(b"UID REPLACE", IN_MAILBOX, parse_replace, partial(run_replace, uid=True), Traits(breaks_numbers=True)),
    ),
    default=False,
)
