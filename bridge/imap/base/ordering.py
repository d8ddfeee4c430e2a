"""What SORT and THREAD share: reading their charset and criteria, and fetching what is compared.

Rule: what is found is found by SEARCH's own code; only the order and the form of the answer differ.
"""

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from bridge.imap.criteria import CHARSETS, Criteria, known_charset, parse_criteria
from bridge.imap.dialect import Dialect
from bridge.imap.ordering import Entry
from bridge.imap.session import Session
from bridge.imap.states import Selected
from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.errors import ParseError
from mailstore.model import Uid
from mailstore.sqlite import ReadTx

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

    def work(tx: ReadTx) -> T:
        return arrange(memory.entries(tx, mailbox, uids))

    return session.store.read(work) if len(uids) <= IN_LOOP else await session.store.read_slow(work)
