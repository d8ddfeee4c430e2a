"""CONDSTORE (RFC 7162): modification sequences in FETCH, STORE, SEARCH, SELECT and STATUS.

The mode is read by the core (answers that tell flags); this file names it, turns it on, and adds the grammar.
"""

from types import MappingProxyType
from typing import Any, Final

from bridge.imap.criteria import Key, SearchKey, SearchReader
from bridge.imap.dialect import Extension, Mode, Parameter, StatusItem, announces
from bridge.imap.items.item import Needs, plain
from bridge.imap.session import Session
from bridge.imap.states import Selected
from bridge.imap.wire import codes
from bridge.imap.wire.cursor import Cursor
from mailstore.model import ModSeq, Uid
from mailstore.query import ModSeqAtLeast

CONDSTORE: Final = (Mode.CONDSTORE,)


def _number(cursor: Cursor) -> ModSeq:
    cursor.sp()
    return ModSeq(cursor.number64())


def _turn_on(session: Session, _: Any) -> None:
    """Before the mailbox is opened, whose state SELECT itself tells."""
    session.turn_on(CONDSTORE)


def _parse_key(reader: SearchReader) -> Key:
    """`MODSEQ [entry-name entry-type] number`; the entry is passed over, as flags have no modseqs of their own."""
    cursor = reader.cursor
    cursor.sp()
    if cursor.peek() == b'"':
        cursor.string()
        cursor.sp()
        if cursor.try_word(b"ALL", b"PRIV", b"SHARED") is None:
            cursor.fail("Expected all, priv or shared")
        cursor.sp()
    query = ModSeqAtLeast(cursor.number64())
    return lambda resolver: query


def _modseq(selected: Selected, uid: Uid) -> bytes:
    return b"MODSEQ (%d)" % (selected.index.modseq(uid) or 0)


EXTENSION: Final = Extension(
    name="CONDSTORE",
    announce=announces(b"CONDSTORE"),
    fetch_items=(plain(b"MODSEQ", lambda batch: batch.modseqs, Needs(modseq=True), value=b"(%d)"),),
    fetch_params=(Parameter(b"CHANGEDSINCE", parse=_number),),
    store_params=(Parameter(b"UNCHANGEDSINCE", parse=_number),),
    select_params=(Parameter(b"CONDSTORE", allow=_turn_on),),
    search_keys=(SearchKey(b"MODSEQ", _parse_key),),
    status_items=(StatusItem(b"HIGHESTMODSEQ", lambda status, _: b"%d" % status.highest_modseq, CONDSTORE),),
    enables=MappingProxyType({b"CONDSTORE": CONDSTORE}),
    tell_flags=(Mode.CONDSTORE, _modseq),
    introduce=lambda snapshot: b"OK [" + codes.highestmodseq(snapshot.highest_modseq) + b"] Highest modseq",
    implies=("ENABLE",),
)
