"""QRESYNC (RFC 7162): a client that comes back is told in one answer what has changed and what has gone.

What has gone is in the store's log, which outlives restarts and is kept for 90 days; for an older state every UID that
is not there any more is told (section 3.2.5.2 allows more than has happened). Views have a log like other mailboxes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import Final

from bridge.imap import sync
from bridge.imap.command import Refused
from bridge.imap.dialect import Extension, Feature, Mode, Parameter, announces
from bridge.imap.session import Session
from bridge.imap.wire.codes import Code
from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.seqset import STAR, SeqSet
from mailstore.model import Uid

MODES: Final = (Mode.QRESYNC, Mode.CONDSTORE)
PIECE: Final = 1000  # FETCH lines written at once


@dataclass(frozen=True, slots=True)
class Known:
    """What the client says it knows: the mailbox's UIDVALIDITY, its own state, which UIDs it cares for, and the UIDs
    that it believes at some numbers."""

    uidvalidity: int
    modseq: int
    uids: SeqSet | None
    pairs: tuple[SeqSet, SeqSet] | None


def _parse(cursor: Cursor) -> Known:
    """`(uidvalidity modseq [known-uids] [(numbers uids)])`."""
    cursor.sp()
    cursor.byte(b"(")
    uidvalidity = cursor.nz_number()
    cursor.sp()
    modseq = cursor.number64()
    uids = pairs = None
    more = cursor.try_sp()
    if more and cursor.peek() != b"(":
        uids = _plain_set(cursor)
        more = cursor.try_sp()
    if more:
        pairs = _pairs(cursor)
    cursor.byte(b")")
    return Known(uidvalidity, modseq, uids, pairs)


def _pairs(cursor: Cursor) -> tuple[SeqSet, SeqSet]:
    cursor.byte(b"(")
    numbers = _plain_set(cursor)
    cursor.sp()
    uids = _plain_set(cursor)
    cursor.byte(b")")
    return numbers, uids


def _plain_set(cursor: Cursor) -> SeqSet:
    """A set of numbers without "*" and "$" (section 7, known-uids)."""
    start = cursor.pos
    found = cursor.seqset()
    if found.is_saved or any(STAR in span for span in found.ranges):
        cursor.pos = start
        cursor.fail("Expected a set of numbers")
    return found


def _allow(session: Session, known: Known) -> None:
    if Mode.QRESYNC not in session.modes:
        raise Refused("ENABLE QRESYNC comes first", bad=True)
    if Mode.UIDONLY in session.modes and known.pairs is not None:  # RFC 9586 section 3.7
        raise Refused("Only UIDs are spoken here now", Code.UIDREQUIRED.value, bad=True)


def _resync(session: Session, known: Known) -> None:
    """Tell what has gone and what has changed; nothing when the client knows another mailbox (section 3.2.5)."""
    selected = session.open_mailbox()
    if known.uidvalidity != selected.mailbox.uidvalidity:
        return
    view = selected.view
    first = _agreed(known.pairs, view.uids) + 1 if known.pairs is not None else 1
    session.write(sync.vanished_earlier(session, selected, known.modseq, known.uids, first))
    wanted = [Uid(uid) for uid in selected.index.changed_since(known.modseq)]
    if known.uids is not None:
        spans = known.uids.resolve_uids(wanted)
        wanted = [uid for span in spans for uid in wanted[span.start : span.stop]]
    numbered = [(number, uid) for uid in wanted if (number := view.number(uid))]
    for start in range(0, len(numbered), PIECE):
        session.write(b"".join(sync.flag_lines(session, selected, numbered[start : start + PIECE])))


def _agreed(pairs: tuple[SeqSet, SeqSet], uids: Sequence[int]) -> int:
    """The highest UID that the client has at the right number: of what was below it knows everything (3.2.5.2)."""
    believed = islice(zip(_each(pairs[0]), _each(pairs[1]), strict=False), len(uids))
    return max((uid for number, uid in believed if number <= len(uids) and uids[number - 1] == uid), default=0)


def _each(numbers: SeqSet) -> Iterator[int]:
    for low, high in numbers.ranges:
        yield from range(low, high + 1)


EXTENSION: Final = Extension(
    name="QRESYNC",
    announce=announces(b"QRESYNC"),
    select_params=(Parameter(b"QRESYNC", parse=_parse, allow=_allow, apply=_resync),),
    fetch_params=(Parameter(b"VANISHED"),),
    enables=MappingProxyType({b"QRESYNC": MODES}),
    features=frozenset({Feature.CLOSED_CODE}),
    tell_gone=(Mode.QRESYNC, sync.vanished),
    implies=("CONDSTORE", "ENABLE"),
)
