"""SAVEDATE (RFC 8514): when a message came into this mailbox; each mailbox, views too, has its own."""

from collections.abc import Callable
from datetime import date
from typing import Final

from bridge.imap.criteria import Key, SearchKey, SearchReader
from bridge.imap.dialect import Extension, announces
from bridge.imap.items.item import Needs, plain
from bridge.imap.wire.render import internal_date
from mailstore.query import AllOf, Before, On, Query, Since


def _date_key(name: bytes, make: Callable[[date], Query]) -> SearchKey:
    def parse(reader: SearchReader) -> Key:
        reader.cursor.sp()
        query = make(reader.cursor.date())
        return lambda resolver: query

    return SearchKey(name, parse)


def _supported(reader: SearchReader) -> Key:
    """Every mailbox keeps save dates, so it is true of every message (section 4.3)."""
    return lambda resolver: AllOf()


EXTENSION: Final = Extension(
    name="SAVEDATE",
    announce=announces(b"SAVEDATE"),
    fetch_items=(
        plain(b"SAVEDATE", lambda batch: [internal_date(row.save_date) for row in batch.whole], Needs(rows=True)),
    ),
    search_keys=(
        _date_key(b"SAVEDBEFORE", lambda day: Before(day, "saved")),
        _date_key(b"SAVEDON", lambda day: On(day, "saved")),
        _date_key(b"SAVEDSINCE", lambda day: Since(day, "saved")),
        SearchKey(b"SAVEDATESUPPORTED", _supported),
    ),
    default=False,
)
