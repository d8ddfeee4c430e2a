"""The most messages that one command may take (RFC 9738 MESSAGELIMIT), where that is announced.

Rule: what can be done in part is done for the messages with the highest UIDs, and the answer says how far down that
went; what is whole or nothing (COPY, APPEND, THREAD) is refused before anything is done. EXPUNGE and CLOSE know no
limit.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from bridge.imap.base.partial import Piece, cut
from bridge.imap.command import Done, Refused
from bridge.imap.dialect import Feature
from bridge.imap.session import Session
from bridge.imap.states import Selected
from bridge.imap.wire.codes import messagelimit
from bridge.imap.wire.grammar import MAX_NUMBER
from bridge.imap.wire.seqset import Ranges, merge, overlap
from mailstore.model import DELETED, Uid
from mailstore.query import And, Nothing, Query, UidSet

EVERYTHING: Final = ((1, MAX_NUMBER),)


@dataclass(frozen=True, slots=True)
class Share:
    """The part of a command's messages that it takes: positions, and the response code if that is not all of them."""

    spans: Sequence[range]
    code: bytes | None = None


def most(session: Session) -> int | None:
    """How many messages a command may take; None: any number."""
    return session.settings.imap.message_limit if session.dialect.has(Feature.MESSAGE_LIMIT) else None


def share(session: Session, selected: Selected, spans: Sequence[range]) -> Share:
    """Of these positions, those with the highest UIDs, as many as may be taken."""
    limit = most(session)
    if limit is None or sum(map(len, spans)) <= limit:
        return Share(spans)
    kept = cut(spans, Piece(1, limit, reverse=True))
    return Share(kept, messagelimit(limit, selected.view.uids[kept[0].start]))


def all_or_none(session: Session, selected: Selected, spans: Sequence[range]) -> None:
    """Raises Refused when there are more than may be taken, with the UID down to which a command could go."""
    code = share(session, selected, spans).code
    if code is not None:
        raise Refused("Too many messages for one command, try fewer at a time", code)


def refuse_more(session: Session, count: int) -> None:
    """The same for messages that have no UIDs yet, or whose UIDs tell the client nothing."""
    limit = most(session)
    if limit is not None and count > limit:
        raise Refused("Too many messages for one command, try fewer at a time", messagelimit(limit))


def code(session: Session, lowest: Uid | None) -> bytes | None:
    """The response code for a command that went down to this UID; None if it did all."""
    limit = most(session)
    return None if limit is None or lowest is None else messagelimit(limit, lowest)


def told(session: Session, done: Done, code: bytes | None) -> Done:
    """The answer with the limit's code; one that has a code of its own keeps it, and the limit is an untagged NO."""
    if code is None:
        return done
    if done.code is None:
        return replace(done, text=f"{done.text}, for the newest messages only", code=code)
    session.say(b"NO [" + code + b"] Done for the newest messages only")
    return done


def deleted_share(session: Session, selected: Selected, uids: Sequence[Uid]) -> tuple[Sequence[Uid], bytes | None]:
    r"""Of messages to be expunged if they are \Deleted, as many as may go (only those are counted), and the code."""
    limit = most(session)
    if limit is None or len(uids) <= limit:
        return uids, None
    index = selected.index
    deleted = [uid for uid in uids if (of := index.flag_set(uid)) and of.bits & DELETED]
    if len(deleted) <= limit:
        return uids, None
    return deleted[-limit:], messagelimit(limit, deleted[-limit])


def reach(session: Session, selected: Selected, query: Query) -> Uid | None:
    """The lowest UID that a search may look at, when its criteria leave more messages to look at than may be taken."""
    limit, mine = most(session), selected.view.uids
    if limit is None or len(mine) <= limit:
        return None
    among = ((bisect_left(mine, low), bisect_right(mine, high)) for low, high in _named(query))
    spans = merge(among)
    if sum(map(len, spans)) <= limit:
        return None
    return Uid(mine[cut(spans, Piece(1, limit, reverse=True))[0].start])


def from_uid(query: Query, lowest: Uid) -> Query:
    """The query of the messages from a UID on."""
    return And((query, UidSet(((lowest, MAX_NUMBER),))))


def _named(query: Query) -> Ranges:
    """The UIDs outside of which nothing can match, as far as the query says so on its first level."""
    match query:
        case Nothing():
            return []
        case UidSet(ranges):
            return list(ranges)
        case And(items):
            left: Ranges = list(EVERYTHING)
            for item in items:
                left = overlap(left, _named(item))
            return left
    return list(EVERYTHING)
