"""LIST-METADATA (RFC 9590): LIST ... RETURN (METADATA (entries)), one METADATA line behind each mailbox."""

from typing import Final

from bridge.imap.base.metadata import entries_of, metadata_line, read_entries, wanted
from bridge.imap.dialect import Dialect, Extension, ListReturn, announces
from bridge.imap.session import Session
from bridge.imap.wire.cursor import Cursor
from mailstore.model import Mailbox


def _parse(cursor: Cursor, dialect: Dialect) -> list[str]:
    cursor.sp()
    if cursor.peek() != b"(":
        cursor.fail("Expected a list of entries")
    return read_entries(cursor)


def _follow(session: Session, mailbox: Mailbox, entries: list[str]) -> bytes:
    there = session.store.read(lambda tx: entries_of(tx, mailbox.account, mailbox))
    return metadata_line(mailbox.name, wanted(entries, there, 0), utf8=session.framer.utf8)


EXTENSION: Final = Extension(
    name="LIST-METADATA",
    announce=announces(b"LIST-METADATA"),
    list_returns=(ListReturn(b"METADATA", parse=_parse, follow=_follow),),
    implies=("LIST-EXTENDED", "METADATA"),
    default=False,
)
