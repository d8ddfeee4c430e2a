"""LIST-STATUS (RFC 5819): LIST ... RETURN (STATUS (...)), one STATUS line behind each mailbox that can be selected."""

from typing import Final

from bridge.imap.base.mailboxes import parse_status_items, status_line
from bridge.imap.dialect import Dialect, Extension, ListReturn, StatusItem, announces
from bridge.imap.session import Session
from bridge.imap.wire.cursor import Cursor
from mailstore import mailboxes
from mailstore.model import Mailbox


def _parse(cursor: Cursor, dialect: Dialect) -> tuple[StatusItem, ...]:
    cursor.sp()
    return parse_status_items(cursor, dialect)


def _follow(session: Session, mailbox: Mailbox, items: tuple[StatusItem, ...]) -> bytes:
    session.turn_on(mode for item in items for mode in item.turns_on)
    return status_line(session, mailbox, session.store.read(lambda tx: mailboxes.status(tx, mailbox)), items)


EXTENSION: Final = Extension(
    name="LIST-STATUS",
    announce=announces(b"LIST-STATUS"),
    list_returns=(ListReturn(b"STATUS", parse=_parse, follow=_follow),),
    implies=("LIST-EXTENDED",),
)
