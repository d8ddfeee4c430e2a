"""SEARCH and UID SEARCH (RFC 3501 section 6.4.4).

Rule: an answer names only messages that this client has been told of, by its own numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from bridge.imap.command import Command, Done, Traits
from bridge.imap.criteria import Criteria, parse_criteria
from bridge.imap.dialect import Dialect, Mode, SearchReturn
from bridge.imap.session import Session
from bridge.imap.states import IN_MAILBOX, Selected
from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.render import numbers, quoted
from bridge.imap.wire.seqset import SeqSet
from mailstore.model import Uid
from mailstore.query import And, ModSeqAtLeast, Not, Nothing, Or, Query, UidSet


@dataclass(frozen=True, slots=True)
class Searching:
    """What a SEARCH asks for. `returns` None: the old answer, SEARCH; else ESEARCH (RFC 4731) with these parts."""

    criteria: Criteria
    returns: tuple[SearchReturn, ...] | None = None


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
    returns = None
    if dialect.search_returns and cursor.try_word(b"RETURN"):
        cursor.sp()
        returns = tuple(cursor.parenthesised(partial(_return, cursor, dialect), empty=True))
        cursor.sp()
    criteria = parse_criteria(cursor, dialect.search_keys)
    cursor.eol()
    return Searching(criteria, returns)


def _return(cursor: Cursor, dialect: Dialect) -> SearchReturn:
    option = dialect.search_returns.get(cursor.word("a return option"))
    if option is None:
        cursor.fail("Unknown return option")
    return option


async def run_search(session: Session, wanted: Searching, *, uid: bool) -> Done:
    selected = session.open_mailbox()
    query = wanted.criteria.query(Resolver(selected))
    found = selected.view.within(await session.store.search(selected.mailbox, query))
    told: Sequence[int] = found if uid else [selected.view.number(of) for of in found]
    modseq = _highest(session, selected, found) if asks_modseq(query) else None
    if wanted.returns is None:
        shown = b" " + numbers(told) if told else b""
        session.say(b"SEARCH" + shown + (b" (MODSEQ %d)" % modseq if modseq else b""))
    else:
        session.say(_extended(session, wanted.returns, told, modseq, uid=uid))
    return Done("UID SEARCH completed" if uid else "SEARCH completed")


def _highest(session: Session, selected: Selected, found: Sequence[Uid]) -> int | None:
    """The highest modseq of what was found, for who searches by modseq (RFC 7162 section 3.1.5)."""
    session.turn_on((Mode.CONDSTORE,))
    return max((of or 0 for of in selected.index.modseqs(found)), default=None)


def asks_modseq(query: Query) -> bool:
    match query:
        case And(items):
            return any(asks_modseq(item) for item in items)
        case Or(a, b):
            return asks_modseq(a) or asks_modseq(b)
        case Not(q):
            return asks_modseq(q)
    return isinstance(query, ModSeqAtLeast)


def _extended(
    session: Session, returns: Sequence[SearchReturn], told: Sequence[int], modseq: int | None, *, uid: bool
) -> bytes:
    """ESEARCH: the parts asked for, in that order; without any, ALL (RFC 4731 section 3.1)."""
    wanted = returns or (session.dialect.search_returns[b"ALL"],)
    parts = [part for option in wanted if (part := option.render(told)) is not None]
    if modseq:
        parts.append(b"MODSEQ %d" % modseq)
    head = b"ESEARCH (TAG %b)" % quoted(session.tag) + (b" UID" if uid else b"")
    return b" ".join((head, *parts))


COMMANDS: Final = (
    Command(
        b"SEARCH", IN_MAILBOX, parse_search, partial(run_search, uid=False), Traits(uses_numbers=True, tells_gone=False)
    ),
    Command(b"UID SEARCH", IN_MAILBOX, parse_search, partial(run_search, uid=True)),
)
