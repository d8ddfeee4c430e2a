"""QRESYNC (RFC 7162): a client that comes back is told in one answer what has changed and what has gone.

What has gone is in the store's log, which outlives restarts and is kept for 90 days; for an older state every UID that
is not there any more is told (section 3.2.5.2 allows more than has happened). Views have a log like other mailboxes.
"""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from bridge.imap import sync
from bridge.imap.command import Refused
from bridge.imap.dialect import Extension, Feature, Mode, Parameter, announces
from bridge.imap.session import Session
from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.seqset import STAR, SeqSet
from mailstore.model import Uid

MODES: Final = (Mode.QRESYNC, Mode.CONDSTORE)
PIECE: Final = 1000  # FETCH lines written at once


@dataclass(frozen=True, slots=True)
class Known:
    """What the client says it knows: the mailbox's UIDVALIDITY, its own state, and which UIDs it cares for."""

    uidvalidity: int
    modseq: int
    uids: SeqSet | None


def _parse(cursor: Cursor) -> Known:
    """`(uidvalidity modseq [known-uids] [(numbers uids)])`. The last is not needed: the log knows what has gone."""
    cursor.sp()
    cursor.byte(b"(")
    uidvalidity = cursor.nz_number()
    cursor.sp()
    modseq = cursor.number64()
    uids = None
    if cursor.try_sp():
        if cursor.peek() != b"(":
            uids = _plain_set(cursor)
            if cursor.try_sp():
                _pairs(cursor)
        else:
            _pairs(cursor)
    cursor.byte(b")")
    return Known(uidvalidity, modseq, uids)


def _pairs(cursor: Cursor) -> None:
    cursor.byte(b"(")
    _plain_set(cursor)
    cursor.sp()
    _plain_set(cursor)
    cursor.byte(b")")


def _plain_set(cursor: Cursor) -> SeqSet:
    """A set of numbers without "*" and "$" (section 7, known-uids)."""
    start = cursor.pos
    found = cursor.seqset()
    if found.is_saved or any(STAR in span for span in found.ranges):
        cursor.pos = start
        cursor.fail("Expected a set of numbers")
    return found


def _allow(session: Session, _: Known) -> None:
    if Mode.QRESYNC not in session.modes:
        raise Refused("ENABLE QRESYNC comes first", bad=True)


def _resync(session: Session, known: Known) -> None:
    """Tell what has gone and what has changed; nothing when the client knows another mailbox (section 3.2.5)."""
    selected = session.open_mailbox()
    if known.uidvalidity != selected.mailbox.uidvalidity:
        return
    session.write(sync.vanished_earlier(session, selected, known.modseq, known.uids))
    view = selected.view
    wanted = [Uid(uid) for uid in selected.index.changed_since(known.modseq)]
    if known.uids is not None:
        spans = known.uids.resolve_uids(wanted)
        wanted = [uid for span in spans for uid in wanted[span.start : span.stop]]
    numbered = [(number, uid) for uid in wanted if (number := view.number(uid))]
    for start in range(0, len(numbered), PIECE):
        session.write(b"".join(sync.flag_lines(session, selected, numbered[start : start + PIECE])))


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
