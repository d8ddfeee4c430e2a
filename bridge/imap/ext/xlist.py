"""XLIST: LIST as Gmail once had it, with its own names of special mailboxes; Outlook 2013 and libetpan ask for it."""

from types import MappingProxyType
from typing import Final

from bridge.imap.base.listing import Listing, attributes, chosen, read_rows
from bridge.imap.command import Command, Done
from bridge.imap.dialect import Dialect, Extension, announces
from bridge.imap.session import Session
from bridge.imap.states import LOGGED_IN
from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.render import mailbox_name

_NAMES: Final = MappingProxyType({b"\\Junk": b"\\Spam", b"\\All": b"\\AllMail", b"\\Flagged": b"\\Starred"})


def parse_xlist(cursor: Cursor, dialect: Dialect) -> Listing:
    cursor.sp()
    reference = cursor.list_mailbox()
    cursor.sp()
    pattern = cursor.list_mailbox()
    cursor.eol()
    return Listing(reference, (pattern,))


async def run_xlist(session: Session, listing: Listing) -> Done:
    account = session.user().account
    for row in chosen(listing, session.store.read(lambda tx: read_rows(tx, account))):
        marks = [_NAMES.get(mark, mark) for mark in attributes(row, listing, session.dialect)]
        if row.name == "INBOX":
            marks.append(b"\\Inbox")
        session.say(b'XLIST (%b) "/" %b' % (b" ".join(marks), mailbox_name(row.name)))
    return Done("XLIST completed")


EXTENSION: Final = Extension(
    name="XLIST", announce=announces(b"XLIST"), commands=(Command(b"XLIST", LOGGED_IN, parse_xlist, run_xlist),)
)
