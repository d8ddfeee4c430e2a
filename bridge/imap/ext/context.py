"""CONTEXT=SEARCH (RFC 5267): SEARCH RETURN (UPDATE): the client is told what comes into a result and what leaves it.

A result is searched again when the log has moved on, so every criterion can be watched. Those of SORT are not kept up
to date, and the client is told so (NOUPDATE, section 4.3).
"""

from collections.abc import Sequence
from typing import Final

from bridge.imap.base.partial import PARTIAL
from bridge.imap.base.search import Found, Resolver
from bridge.imap.command import Command, Done, Refused
from bridge.imap.criteria import Criteria
from bridge.imap.dialect import Dialect, Extension, SearchReturn, announces
from bridge.imap.session import Session
from bridge.imap.states import IN_MAILBOX, Selected
from bridge.imap.wire.codes import Code
from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.render import number_set, quoted
from mailstore.model import Uid

MOST: Final = 20  # results that are watched in one mailbox


class Watched:
    """One result as the client knows it."""

    def __init__(self, tag: bytes, criteria: Criteria, found: Sequence[Uid], modseq: int, *, uid: bool) -> None:
        self._head = b"* ESEARCH (TAG %b)" % quoted(tag) + (b" UID" if uid else b"")
        self._criteria = criteria
        self._known = set(found)
        self._modseq = modseq
        self._by_uid = uid

    def leaving(self, gone: Sequence[tuple[int, Uid]]) -> bytes:
        """Said before EXPUNGE, while the numbers hold (section 4.3.3)."""
        mine = sorted((number, uid) for number, uid in gone if uid in self._known)
        self._known.difference_update(uid for _, uid in mine)
        return self._line(b"REMOVEFROM", [uid if self._by_uid else number for number, uid in mine])

    async def refresh(self, session: Session, selected: Selected) -> None:
        if selected.view.modseq == self._modseq:
            return
        self._modseq = selected.view.modseq
        query = self._criteria.query(Resolver(selected))
        found = set(selected.view.within(await session.store.search(selected.mailbox, query)))
        gone, come = self._known - found, found - self._known
        self._known = found
        for word, uids in ((b"REMOVEFROM", gone), (b"ADDTO", come)):
            numbers = sorted(uid if self._by_uid else selected.view.number(uid) for uid in uids)
            session.write(self._line(word, [number for number in numbers if number]))

    def _line(self, word: bytes, numbers: Sequence[int]) -> bytes:
        """Position 0: the result is in the order of the mailbox."""
        return b"%b %b (0 %b)\r\n" % (self._head, word, number_set(numbers)) if numbers else b""


def _watch(session: Session, selected: Selected, criteria: Criteria | None, found: Found, uid: bool) -> None:
    tag = session.tag
    if criteria is None or (len(selected.watches) >= MOST and tag not in selected.watches):
        session.say(b"OK [NOUPDATE %b] This result is not kept up to date" % quoted(tag))
        return
    selected.watches[tag] = Watched(tag, criteria, found.uids, selected.view.modseq, uid=uid)


def parse_cancel(cursor: Cursor, dialect: Dialect) -> list[bytes]:
    tags: list[bytes] = []
    while not cursor.at_end:
        cursor.sp()
        tags.append(cursor.string())
    cursor.eol()
    if not tags:
        cursor.fail("Expected the tag of a search")
    return tags


async def run_cancel(session: Session, tags: list[bytes]) -> Done:
    selected = session.open_mailbox()
    unknown = [tag for tag in tags if selected.watches.pop(tag, None) is None]
    if unknown:
        raise Refused("No such search is kept up to date", Code.NONEXISTENT.value)
    return Done("CANCELUPDATE completed")


EXTENSION: Final = Extension(
    name="CONTEXT=SEARCH",
    announce=announces(b"CONTEXT=SEARCH"),
    commands=(Command(b"CANCELUPDATE", IN_MAILBOX, parse_cancel, run_cancel),),
    search_returns=(
        PARTIAL,
        SearchReturn(b"CONTEXT", lambda found, _: None, shown=False),  # a hint that it will be asked again
        SearchReturn(b"UPDATE", lambda found, _: None, shown=False, watch=_watch),
    ),
    implies=("ESEARCH",),
    default=False,
)
