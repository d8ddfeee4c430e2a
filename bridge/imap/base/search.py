"""SEARCH and UID SEARCH (RFC 3501 section 6.4.4).

Rule: an answer names only messages that this client has been told of, by its own numbers.
"""

from dataclasses import dataclass
from functools import partial
from typing import Final

from bridge.imap.command import Command, Done, Traits
from bridge.imap.criteria import Criteria, parse_criteria
from bridge.imap.dialect import Dialect
from bridge.imap.session import Session
from bridge.imap.states import IN_MAILBOX, Selected
from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.render import numbers
from bridge.imap.wire.seqset import SeqSet
from mailstore.model import Uid
from mailstore.query import Nothing, Query, UidSet


@dataclass(frozen=True, slots=True)
class Searching:
    criteria: Criteria


class Resolver:
    """Turns what only this session knows (its numbers, its highest UID, what is recent to it) into sets of UIDs."""

    def __init__(self, selected: Selected) -> None:
        self._view = selected.view

    def numbers(self, seqset: SeqSet) -> Query:
        return self._at(seqset.resolve_numbers(len(self._view)))

    def uids(self, seqset: SeqSet) -> Query:
        return self._at(seqset.resolve_uids(self._view.uids))

    def recent(self) -> Query:
        return UidSet(self._view.recent) if self._view.recent else Nothing()

    def _at(self, spans: list[range]) -> Query:
        """Neighbouring positions hold neighbouring UIDs, so a run of positions is one range of UIDs."""
        mine = self._view.uids
        return UidSet(tuple((mine[span.start], mine[span.stop - 1]) for span in spans)) if spans else Nothing()


def parse_search(cursor: Cursor, dialect: Dialect) -> Searching:
    cursor.sp()
    criteria = parse_criteria(cursor, dialect.search_keys)
    cursor.eol()
    return Searching(criteria)


async def run_search(session: Session, wanted: Searching, *, uid: bool) -> Done:
    selected = session.open_mailbox()
    found = await find(session, selected, wanted.criteria)
    told = found if uid else [selected.view.number(of) for of in found]
    session.say(b"SEARCH " + numbers(told) if told else b"SEARCH")
    return Done("UID SEARCH completed" if uid else "SEARCH completed")


async def find(session: Session, selected: Selected, criteria: Criteria) -> list[Uid]:
    """The UIDs that match, ascending, of those that the client knows."""
    query = criteria.query(Resolver(selected))
    return selected.view.within(await session.store.search(selected.mailbox, query))


COMMANDS: Final = (
    Command(
        b"SEARCH", IN_MAILBOX, parse_search, partial(run_search, uid=False), Traits(uses_numbers=True, tells_gone=False)
    ),
    Command(b"UID SEARCH", IN_MAILBOX, parse_search, partial(run_search, uid=True)),
)
