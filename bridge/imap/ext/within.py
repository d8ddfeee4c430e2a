"""WITHIN (RFC 5032): SEARCH OLDER and YOUNGER, by seconds since the internal date."""

from collections.abc import Callable
from typing import Final

from bridge.imap.criteria import Key, SearchKey, SearchReader
from bridge.imap.dialect import Extension, announces
from mailstore.query import Older, Query, Younger


def _seconds(name: bytes, make: Callable[[int], Query]) -> SearchKey:
    def parse(reader: SearchReader) -> Key:
        reader.cursor.sp()
        query = make(reader.cursor.nz_number())
        return lambda resolver: query

    return SearchKey(name, parse)


EXTENSION: Final = Extension(
    name="WITHIN",
    announce=announces(b"WITHIN"),
    search_keys=(_seconds(b"OLDER", Older), _seconds(b"YOUNGER", Younger)),
)
