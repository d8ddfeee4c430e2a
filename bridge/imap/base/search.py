"""SEARCH and UID SEARCH (RFC 3501 section 6.4.4), and what SORT and THREAD share with them.

Rule: an answer names only messages that this client has been told of, by its own numbers.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from bridge.imap.base import limit
from bridge.imap.base.own import saved
from bridge.imap.command import Command, Done, Refused, Traits
from bridge.imap.criteria import Criteria, parse_criteria
from bridge.imap.dialect import Dialect, Mode, SearchReturn
from bridge.imap.refusals import as_refusal
from bridge.imap.session import Session
from bridge.imap.states import IN_MAILBOX, Selected
from bridge.imap.wire.codes import Code
from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.errors import ParseError
from bridge.imap.wire.render import numbers, quoted
from bridge.imap.wire.seqset import SeqSet
from mailstore.model import Uid
from mailstore.query import And, ModSeqAtLeast, Not, Nothing, Or, Query, UidSet

Returns = tuple[tuple[SearchReturn, Any], ...]
"""Return options with their arguments."""


@dataclass(frozen=True, slots=True)
class Searching:
    """What a SEARCH asks for. `returns` None: the old answer, SEARCH; else ESEARCH (RFC 4731) with these parts.

    `refused`: it was read, and cannot be done (an unknown charset); "$" is emptied then (RFC 5182 section 2.1).
    """

    criteria: Criteria | None
    returns: Returns | None = None
    refused: Refused | None = None
    has_charset: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found: UIDs in the order of the answer, and whether it asked about modseqs.

    `lowest`: it looked at the messages from this UID on only, as there were too many for one command.
    """

    uids: Sequence[Uid]
    asks_modseq: bool
    lowest: Uid | None = None


Order = Callable[[Session, Selected, Sequence[Uid]], Awaitable[Sequence[Uid]]]


@dataclass(frozen=True, slots=True)
class Asked:
    """A search that has been answered, for who keeps its result up to date. `argument`: of the option that asks so."""

    criteria: Criteria | None
    found: Found
    uid: bool
    argument: Any = None
    order: Order | None = None


class Resolver:
    """Turns what only this session knows (its numbers, its highest UID, what is recent to it) into sets of UIDs."""

    def __init__(self, selected: Selected, *, uid_only: bool = False) -> None:
        self._selected = selected
        self._uid_only = uid_only
        self._view = selected.view

    def numbers(self, seqset: SeqSet) -> Query:
        if self._uid_only and not seqset.is_saved:
            raise Refused("Only UIDs are spoken here now", Code.UIDREQUIRED.value, bad=True)
        return self._at(saved(self._selected) if seqset.is_saved else seqset.resolve_numbers(len(self._view)))

    def uids(self, seqset: SeqSet) -> Query:
        return self._at(saved(self._selected) if seqset.is_saved else seqset.resolve_uids(self._view.uids))

    def recent(self) -> Query:
        return UidSet(self._view.recent) if self._view.recent else Nothing()

    def _at(self, spans: list[range]) -> Query:
        """Neighbouring positions hold neighbouring UIDs, so a run of positions is one range of UIDs."""
        mine = self._view.uids
        return UidSet(tuple((mine[span.start], mine[span.stop - 1]) for span in spans)) if spans else Nothing()


# Reading


def parse_search(cursor: Cursor, dialect: Dialect) -> Searching:
    cursor.sp()
    returns = parse_returns(cursor, dialect)
    has_charset = cursor.peek(8).upper() == b"CHARSET "
    try:
        criteria = parse_criteria(cursor, dialect.search_keys)
    except ParseError as error:
        if error.status != "NO":
            raise
        return Searching(None, returns, as_refusal(error))
    cursor.eol()
    return Searching(criteria, returns, has_charset=has_charset)


def parse_returns(cursor: Cursor, dialect: Dialect) -> Returns | None:
    """`RETURN (...)` with the space behind it, if it is there. What is asked for twice is told once."""
    if not dialect.search_returns or not cursor.try_word(b"RETURN"):
        return None
    cursor.sp()
    returns: dict[bytes, tuple[SearchReturn, Any]] = {}
    for option, argument in cursor.parenthesised(partial(_return, cursor, dialect), empty=True):
        if returns.setdefault(option.name, (option, argument))[1] != argument:
            cursor.fail("This return option is given twice")
    if {b"ALL", b"PARTIAL"} <= returns.keys():  # RFC 5267 section 4.4
        cursor.fail("ALL and PARTIAL exclude each other")
    cursor.sp()
    return tuple(returns.values())


def _return(cursor: Cursor, dialect: Dialect) -> tuple[SearchReturn, Any]:
    option = dialect.search_returns.get(cursor.word("a return option"))
    if option is None:
        cursor.fail("Unknown return option")
    return option, option.parse(cursor, dialect) if option.parse else None


# Finding and answering


async def run_search(session: Session, wanted: Searching, *, uid: bool) -> Done:
    selected = session.open_mailbox()
    if wanted.has_charset and Mode.UTF8 in session.modes:
        raise Refused("With UTF8=ACCEPT everything is UTF-8, and no charset is named", bad=True)  # RFC 6855 section 3
    found = await find(session, selected, wanted.criteria, wanted.returns, wanted.refused, limited=True)
    if wanted.returns is None and Mode.REV2 not in session.modes:
        told = told_as(selected, found.uids, uid=uid)
        modseq = highest(session, selected, found, None)
        shown = b" " + numbers(told) if told else b""
        session.say(b"SEARCH" + shown + (b" (MODSEQ %d)" % modseq if modseq else b""))
    else:
        answer(session, selected, found, wanted.returns or (), uid=uid, criteria=_looked_at(wanted.criteria, found))
    counted = wanted.criteria is not None and wanted.criteria.counted
    done = Done("UID SEARCH completed" if uid else "SEARCH completed", counted=counted)
    return limit.told(session, done, limit.code(session, found.lowest))


def _looked_at(criteria: Criteria | None, found: Found) -> Criteria | None:
    """The criteria of the messages that were looked at, so that who watches the result goes on looking at those."""
    lowest = found.lowest
    if criteria is None or lowest is None:
        return criteria
    return Criteria(lambda resolver: limit.from_uid(criteria.key(resolver), lowest))


async def find(
    session: Session,
    selected: Selected,
    criteria: Criteria | None,
    returns: Returns | None,
    refused: Refused | None = None,
    *,
    limited: bool = False,
) -> Found:
    """The messages the criteria are true of, ascending. Raises Refused, and empties "$" if it was to be set.

    `limited`: of no more messages than one command may look at (RFC 9738), if there is such a limit.
    """
    if session.tag in selected.watches and any(option.watch for option, _ in returns or ()):
        raise Refused("A search with this tag is kept up to date already", bad=True)  # RFC 5267 section 4.3
    try:
        if criteria is None:
            raise refused or Refused("Nothing to search for", bad=True)
        query = criteria.query(Resolver(selected, uid_only=Mode.UIDONLY in session.modes))
        lowest = limit.reach(session, selected, query) if limited else None
        if lowest is not None:
            query = limit.from_uid(query, lowest)
        there = selected.index.uids
        uids = await session.store.search(selected.mailbox, query)
        if there is not selected.index.uids or there != selected.view.uids:  # else the client knows all that there is
            uids = selected.view.within(uids)
    except Refused as error:
        if saves(returns) and not error.bad:
            selected.saved = ()
        raise
    return Found(uids, asks_modseq(query), lowest)


def saves(returns: Returns | None) -> bool:
    return any(option.saves for option, _ in returns or ())


def told_as(selected: Selected, uids: Sequence[Uid], *, uid: bool) -> Sequence[int]:
    """The UIDs as the client wants to hear of them: as they are, or as its numbers."""
    return uids if uid else selected.view.numbers_of(uids)


def answer(
    session: Session,
    selected: Selected,
    found: Found,
    returns: Returns,
    *,
    uid: bool,
    criteria: Criteria | None = None,
    order: Order | None = None,
) -> None:
    """ESEARCH: the parts asked for, in that order; without any, ALL (RFC 4731 section 3.1). SAVE alone says nothing."""
    shown = tuple((option, argument) for option, argument in returns if option.shown)
    if saves(returns):
        selected.saved = sorted(_parts(found.uids, shown))
    if not returns or shown or not all(option.saves for option, _ in returns):
        _tell(session, selected, found, shown if returns else _everything(session), uid=uid)
    for option, argument in returns:
        if option.watch is not None:
            option.watch(session, selected, Asked(criteria, found, uid, argument, order))


def _everything(session: Session) -> Returns:
    return ((session.dialect.search_returns[b"ALL"], None),)


def _tell(session: Session, selected: Selected, found: Found, shown: Returns, *, uid: bool) -> None:
    told = told_as(selected, found.uids, uid=uid)
    parts = [part for option, argument in shown if (part := option.render(told, argument)) is not None]
    modseq = highest(session, selected, found, shown)
    if modseq:
        parts.append(b"MODSEQ %d" % modseq)
    head = b"ESEARCH (TAG %b)" % quoted(session.tag) + (b" UID" if uid else b"")
    session.say(b" ".join((head, *parts)))


def _parts(uids: Sequence[Uid], shown: Returns) -> set[Uid]:
    """What of a result the options speak of: all of it, unless each of them speaks of a part (RFC 5182 section 2.4)."""
    found: set[Uid] = set()
    for option, argument in shown:
        if option.part is None:
            return set(uids)
        found.update(Uid(uid) for uid in option.part(uids, argument))
    return found if shown else set(uids)


def highest(session: Session, selected: Selected, found: Found, shown: Returns | None) -> int | None:
    """The highest modseq of what is told, for who searches by modseq (RFC 7162 section 3.1.5, RFC 4731 section 3.2)."""
    if not found.asks_modseq:
        return None
    session.turn_on((Mode.CONDSTORE,))
    uids = sorted(_parts(found.uids, shown or ()))
    return max((of or 0 for of in selected.index.modseqs(uids)), default=None)


def asks_modseq(query: Query) -> bool:
    match query:
        case And(items):
            return any(asks_modseq(item) for item in items)
        case Or(a, b):
            return asks_modseq(a) or asks_modseq(b)
        case Not(q):
            return asks_modseq(q)
    return isinstance(query, ModSeqAtLeast)


COMMANDS: Final = (
    Command(
        b"SEARCH", IN_MAILBOX, parse_search, partial(run_search, uid=False), Traits(uses_numbers=True, tells_gone=False)
    ),
    Command(b"UID SEARCH", IN_MAILBOX, parse_search, partial(run_search, uid=True)),
)
