"""SORT (RFC 5256): the messages a search finds, in the order of dates, sizes, subjects or names."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from bridge.imap.base.ordering import in_their_order, parse_charset, parse_what
from bridge.imap.base.search import Found, Returns, answer, find, highest, parse_returns, told_as
from bridge.imap.command import Command, Done, Refused, Traits
from bridge.imap.criteria import Criteria
from bridge.imap.dialect import Dialect, Extension, Feature, announces
from bridge.imap.ordering import Criterion, SortKey
from bridge.imap.refusals import as_refusal
from bridge.imap.session import Session
from bridge.imap.states import IN_MAILBOX, Selected
from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.errors import ParseError
from bridge.imap.wire.render import numbers
from mailstore.model import Uid

MAX_CRITERIA: Final = 20


@dataclass(frozen=True, slots=True)
class Sorting:
    order: tuple[Criterion, ...]
    criteria: Criteria | None
    returns: Returns | None = None
    refused: Refused | None = None


def parse_sort(cursor: Cursor, dialect: Dialect) -> Sorting:
    """RETURN stands before the order (RFC 5267 section 3.1); behind the charset, where some put it, it is read too."""
    cursor.sp()
    returning = dialect.has(Feature.SORT_RETURNS)
    returns = parse_returns(cursor, dialect) if returning else None
    order = tuple(cursor.parenthesised(partial(_criterion, cursor, dialect)))
    if len(order) > MAX_CRITERIA:
        cursor.fail("Too many sort criteria")
    try:
        parse_charset(cursor)
    except ParseError as error:
        if error.status != "NO":
            raise
        return Sorting(order, None, returns, as_refusal(error))  # "$" is emptied, if it was to be set
    if returning and returns is None:
        returns = parse_returns(cursor, dialect)
    return Sorting(order, parse_what(cursor, dialect), returns)


def _criterion(cursor: Cursor, dialect: Dialect) -> Criterion:
    reverse = cursor.try_word(b"REVERSE") is not None
    if reverse:
        cursor.sp()
    key = dialect.sort_keys.get(cursor.word("a sort criterion"))
    if key is None:
        cursor.fail("Unknown sort criterion")
    return Criterion(key, reverse)


async def run_sort(session: Session, wanted: Sorting, *, uid: bool) -> Done:
    selected = session.open_mailbox()
    found = await find(session, selected, wanted.criteria, wanted.returns, wanted.refused)

    async def order(session: Session, selected: Selected, uids: Sequence[Uid]) -> Sequence[Uid]:
        return await in_their_order(session, selected, uids, wanted.order)

    found = Found(await order(session, selected, found.uids), found.asks_modseq)
    if wanted.returns is not None:
        answer(session, selected, found, wanted.returns, uid=uid, criteria=wanted.criteria, order=order)
    else:
        told = told_as(selected, found.uids, uid=uid)
        modseq = highest(session, selected, found, None)
        shown = b" " + numbers(told) if told else b""
        session.say(b"SORT" + shown + (b" (MODSEQ %d)" % modseq if modseq else b""))
    counted = wanted.criteria is not None and wanted.criteria.counted
    return Done("UID SORT completed" if uid else "SORT completed", counted=counted)


EXTENSION: Final = Extension(
    name="SORT",
    announce=announces(b"SORT"),
    commands=(
        Command(
            b"SORT", IN_MAILBOX, parse_sort, partial(run_sort, uid=False), Traits(uses_numbers=True, tells_gone=False)
        ),
        Command(b"UID SORT", IN_MAILBOX, parse_sort, partial(run_sort, uid=True)),
    ),
    sort_keys=(
        SortKey(b"ARRIVAL", lambda entry: entry.internal_date),
        SortKey(b"DATE", lambda entry: entry.sent),
        SortKey(b"SIZE", lambda entry: entry.size),
        SortKey(b"SUBJECT", lambda entry: entry.subject),
        SortKey(b"FROM", lambda entry: entry.keys.from_),
        SortKey(b"TO", lambda entry: entry.keys.to),
        SortKey(b"CC", lambda entry: entry.keys.cc),
    ),
)
