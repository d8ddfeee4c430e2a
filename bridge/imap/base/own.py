"""A session's own change to its selected mailbox, kept apart from what others did to it.

Rule: the log is read before the change, inside its transaction, and what the change did is known to it; so the view is
told both, and there is no moment in between at which something could be missed.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar, cast

from bridge.imap import sync
from bridge.imap.command import Refused
from bridge.imap.session import Session
from bridge.imap.states import Selected
from bridge.imap.view import position
from bridge.imap.wire.codes import Code
from bridge.imap.wire.seqset import SeqSet, merge
from mailstore import changes
from mailstore.model import Delta, Uid
from mailstore.sqlite import WriteTx

T = TypeVar("T")


async def change(
    session: Session, selected: Selected, fn: Callable[[WriteTx], T], *, silent: bool = False
) -> tuple[T, Delta]:
    """Run `fn` in a write transaction; what it returned, and what it did to the mailbox (already in the view).

    `silent`: the client knows the new flags, so they are not told; what others did meanwhile still is.
    """
    since, mailbox = selected.view.modseq, selected.mailbox

    def run(tx: WriteTx) -> tuple[Delta, T, Delta]:
        before = changes.since(tx, mailbox, since)
        result = fn(tx)
        return before, result, changes.made(tx, mailbox, before.highest)

    before, result, own = await session.commit(run)
    sync.fold(session, selected, before)
    sync.fold(session, selected, own, silent=silent)
    return result, own


def writable(session: Session) -> Selected:
    """The selected mailbox, if it may be changed. Raises Refused."""
    selected = session.open_mailbox()
    if selected.read_only:
        raise Refused("The mailbox was opened read-only (EXAMINE)", Code.READ_ONLY.value)
    return selected


def positions(selected: Selected, messages: SeqSet, *, uid: bool) -> list[range]:
    """Indexes into the view for the messages a command names. Unknown UIDs are passed over, unknown numbers are BAD."""
    view = selected.view
    if messages.is_saved:
        return saved(selected)
    if uid:
        return messages.resolve_uids(view.uids)
    if len(view) and messages.exceeds(len(view)):
        raise Refused("No message has that number", bad=True)
    return messages.resolve_numbers(len(view))


def saved(selected: Selected) -> list[range]:
    """Where the messages of "$" stand now; those that have left are passed over (RFC 5182 section 2.1)."""
    if selected.saved is None:
        raise Refused("Results of searches are not kept here", bad=True)
    mine = selected.view.uids
    return merge((at, at + 1) for uid in selected.saved if (at := position(mine, uid)) >= 0)


def uids_at(selected: Selected, spans: Sequence[range]) -> list[Uid]:
    """The UIDs at these positions, ascending, without those that have left meanwhile."""
    mine, gone = selected.view.uids, selected.view.withheld
    found: list[Uid] = []
    for span in spans:
        found.extend(cast("Sequence[Uid]", mine[span.start : span.stop]))  # a UID each; thousands need no call each
    return [uid for uid in found if uid not in gone] if gone else found


def pieces(spans: Sequence[range], size: int) -> Iterator[list[range]]:
    """The same positions in parts of at most `size`."""
    part: list[range] = []
    room = size
    for span in spans:
        start = span.start
        while start < span.stop:
            stop = min(span.stop, start + room)
            part.append(range(start, stop))
            room -= stop - start
            start = stop
            if not room:
                yield part
                part, room = [], size
    if part:
        yield part
