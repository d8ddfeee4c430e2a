"""What SORT and THREAD share: reading their charset and criteria, and fetching what is compared.

Rule: what is found is found by SEARCH's own code; only the order and the form of the answer differ.
"""

from array import array
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Final, TypeVar, cast

from bridge.imap.criteria import CHARSETS, Criteria, known_charset, parse_criteria
from bridge.imap.dialect import Dialect
from bridge.imap.items.keys import render_keys
from bridge.imap.ordering import Criterion, Entry, Order, extended
from bridge.imap.session import Session
from bridge.imap.states import Selected
from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.errors import ParseError
from mailstore.errors import NotStored
from mailstore.model import Uid
from mailstore.sqlite import ReadTx
from mailstore.store import Renderer

T = TypeVar("T")
IN_LOOP: Final = 200  # messages that are put in order in the loop; more in a thread


def parse_charset(cursor: Cursor) -> None:
    """`SP charset SP`. It must be there (RFC 5256 section 3)."""
    cursor.sp()
    start = cursor.pos
    charset = cursor.astring()
    cursor.sp()
    if not known_charset(charset):
        code = f"BADCHARSET ({' '.join(CHARSETS)})"
        raise ParseError("Unknown charset", start, status="NO", code=code)


def parse_what(cursor: Cursor, dialect: Dialect) -> Criteria:
    """The search criteria behind the charset, to the end."""
    criteria = parse_criteria(cursor, dialect.search_keys, charset=False)
    cursor.eol()
    return criteria


async def arranged(
    session: Session, selected: Selected, uids: Sequence[Uid], arrange: Callable[[Sequence[Entry]], T]
) -> T:
    """What `arrange` makes of the messages with these UIDs."""
    memory, mailbox = session.host.order_memory, selected.mailbox

    def work(tx: ReadTx, render: Renderer | None) -> T:
        return arrange(memory.entries(tx, mailbox, uids, render))

    return await _read(session, work, few=len(uids) <= IN_LOOP)


async def _read(session: Session, work: Callable[[ReadTx, Renderer | None], T], *, few: bool) -> T:
    """In the loop what is few, unless keys have to be made first."""
    if few:
        with suppress(NotStored):
            return session.store.read(lambda tx: work(tx, None))
    return await session.store.read_slow(lambda tx: work(tx, render_keys))


async def in_their_order(
    session: Session, selected: Selected, uids: Sequence[Uid], criteria: tuple[Criterion, ...]
) -> list[Uid]:
    """These UIDs (ascending) in the order of the criteria. Kept for the next time, and brought up to date then."""
    memory, mailbox, present = session.host.order_memory, selected.mailbox, selected.index.uids
    wanted, known = array("I", uids), memory.order(selected.mailbox.id, criteria)
    if wanted == known.uids:
        return cast("list[Uid]", known.ordered.tolist())

    def work(tx: ReadTx, render: Renderer | None) -> tuple[Order, list[int]]:
        entries = partial(memory.entries, tx, mailbox, render=render)
        order = extended(entries, known, present, wanted, criteria) if known.lacks(wanted) else known
        return order, order.of(wanted)

    order, found = await _read(session, work, few=len(present) <= IN_LOOP)
    memory.keep(mailbox.id, criteria, order)
    return cast("list[Uid]", found)
