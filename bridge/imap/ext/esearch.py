"""ESEARCH (RFC 4731): SEARCH RETURN (MIN MAX COUNT ALL); the answer is put together by base.search."""

from collections.abc import Sequence
from typing import Final

from bridge.imap.dialect import Extension, SearchReturn, announces
from bridge.imap.wire.render import number_set


def _min(found: Sequence[int], _: None) -> bytes | None:
    return b"MIN %d" % found[0] if found else None


def _max(found: Sequence[int], _: None) -> bytes | None:
    return b"MAX %d" % found[-1] if found else None


def _all(found: Sequence[int], _: None) -> bytes | None:
    return b"ALL " + number_set(found) if found else None


EXTENSION: Final = Extension(
    name="ESEARCH",
    announce=announces(b"ESEARCH"),
    search_returns=(
        SearchReturn(b"MIN", _min, part=lambda found, _: found[:1]),
        SearchReturn(b"MAX", _max, part=lambda found, _: found[-1:]),
        SearchReturn(b"COUNT", lambda found, _: b"COUNT %d" % len(found)),
        SearchReturn(b"ALL", _all),
    ),
)
