"""Results that are kept up to date (RFC 5267 section 4.3): what CONTEXT=SEARCH and CONTEXT=SORT share.

Rule: a result is searched again when the log has moved on, so every criterion can be watched; the client is told the
difference, REMOVEFROM before ADDTO, and may follow it pair by pair. Nothing that is sorted by ever changes, so what
stays in a sorted result keeps its order.
"""

from collections.abc import Sequence
from typing import Final

from bridge.imap.base.fetch import send
from bridge.imap.base.partial import PARTIAL
from bridge.imap.base.search import Asked, Resolver
from bridge.imap.command import Command, Done, Refused
from bridge.imap.dialect import Dialect, Feature, SearchReturn
from bridge.imap.plan import FetchPlan
from bridge.imap.session import Session
from bridge.imap.states import IN_MAILBOX, Selected
from bridge.imap.view import position
from bridge.imap.wire.codes import Code
from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.render import number_set, quoted
from bridge.imap.wire.seqset import SeqSet, merge
from mailstore.model import Uid
from mailstore.query import Query

MOST: Final = 20  # results that are watched in one mailbox


class Lasting(Resolver):
    """Numbers and "$" go on to mean the messages that they meant when the command came (section 4.3)."""

    def __init__(self, selected: Selected) -> None:
        super().__init__(selected)
        self._meant: dict[SeqSet, Query] = {}

    def numbers(self, seqset: SeqSet) -> Query:
        if seqset not in self._meant:
            self._meant[seqset] = super().numbers(seqset)
        return self._meant[seqset]

    def uids(self, seqset: SeqSet) -> Query:
        return self.numbers(seqset) if seqset.is_saved else super().uids(seqset)


class Watched:
    """One result as the client knows it. `order` puts a sorted one in order; others are in the mailbox's own."""

    def __init__(self, tag: bytes, asked: Asked, selected: Selected) -> None:
        self._head = b"* ESEARCH (TAG %b)" % quoted(tag) + (b" UID" if asked.uid else b"")
        self._asked = asked
        self._known: list[Uid] = list(asked.found.uids)
        self._modseq = selected.view.modseq
        self._newest = selected.view.uids[-1] if selected.view.uids else 0
        self._resolver = Lasting(selected)
        if asked.criteria is not None:
            asked.criteria.query(self._resolver)

    def leaving(self, gone: Sequence[tuple[int, Uid]]) -> bytes:
        """Said before EXPUNGE, while the numbers hold (section 4.3.3)."""
        numbers = {uid: number for number, uid in gone}
        return self._line(b"REMOVEFROM", self._without(numbers), numbers)

    async def refresh(self, session: Session, selected: Selected) -> None:
        view = selected.view
        if view.modseq == self._modseq or self._asked.criteria is None:
            return
        self._modseq = view.modseq
        query = self._asked.criteria.query(self._resolver)
        found: Sequence[Uid] = view.within(await session.store.search(selected.mailbox, query))
        if self._asked.order is not None:
            found = await self._asked.order(session, selected, found)
        numbers = {uid: view.number(uid) for uid in {*self._known, *found}}
        lost = self._without(set(self._known).difference(found))
        session.write(self._line(b"REMOVEFROM", lost, numbers))
        come = self._with(found)
        await self._describe(session, selected, [uid for _, uids in come for uid in uids])
        session.write(self._line(b"ADDTO", come, numbers))

    async def _describe(self, session: Session, selected: Selected, come: Sequence[Uid]) -> None:
        """FETCH of what has arrived into the result, as UPDATE asked (RFC 5465 section 7); not of what only changed."""
        view, since = selected.view, self._newest
        self._newest = max(since, view.uids[-1] if view.uids else 0)
        plan = self._asked.argument
        if isinstance(plan, FetchPlan):
            at = [position(view.uids, uid) for uid in come if uid > since]
            await send(session, selected, plan, merge((each, each + 1) for each in sorted(at)))

    def _without(self, gone: "set[Uid] | dict[Uid, int]") -> list[tuple[int, list[Uid]]]:
        """Take these out of the result: (position, what is taken away there), to be followed in this order."""
        there = [(at, uid) for at, uid in enumerate(self._known, 1) if uid in gone]
        self._known = [uid for uid in self._known if uid not in gone]
        if self._asked.order is None:
            return [(0, [uid for _, uid in there])] if there else []
        return [(at, [uid]) for at, uid in reversed(there)]

    def _with(self, found: Sequence[Uid]) -> list[tuple[int, list[Uid]]]:
        """Put in what is new: (position, what is put there), to be followed in this order."""
        known = set(self._known)
        fresh = [(at, uid) for at, uid in enumerate(found, 1) if uid not in known]
        self._known = list(found)
        if self._asked.order is None:
            return [(0, [uid for _, uid in fresh])] if fresh else []
        runs: list[tuple[int, list[Uid]]] = []
        for at, uid in fresh:
            if runs and runs[-1][0] + len(runs[-1][1]) == at:
                runs[-1][1].append(uid)
            else:
                runs.append((at, [uid]))
        return runs

    def _line(self, word: bytes, changes: Sequence[tuple[int, list[Uid]]], numbers: dict[Uid, int]) -> bytes:
        """Position 0: the result is in the order of the mailbox. What the client does not count is left out."""
        pairs: list[bytes] = []
        for at, uids in changes:
            told = uids if self._asked.uid else [numbers[uid] for uid in uids if numbers.get(uid)]
            if told:
                pairs.append(b"%d %b" % (at, number_set(told)))
        return b"%b %b (%b)\r\n" % (self._head, word, b" ".join(pairs)) if pairs else b""


def _watch(session: Session, selected: Selected, asked: Asked) -> None:
    tag, needs = session.tag, Feature.SEARCH_UPDATES if asked.order is None else Feature.SORT_UPDATES
    if not session.dialect.has(needs) or len(selected.watches) >= MOST:
        session.say(b"NO [NOUPDATE %b] This result is not kept up to date" % quoted(tag))
        return
    selected.watches[tag] = Watched(tag, asked, selected)


def _items(cursor: Cursor, dialect: Dialect) -> FetchPlan | None:
    """What is to be fetched of new messages, where NOTIFY is spoken."""
    if not dialect.has(Feature.UPDATE_ITEMS) or cursor.peek(2) != b" (":
        return None
    cursor.sp()
    return FetchPlan.compile(cursor, dialect.fetch_items)


def parse_cancel(cursor: Cursor, dialect: Dialect) -> list[bytes]:
    tags: list[bytes] = []
    while not cursor.at_end:
        cursor.sp()
        tags.append(cursor.string())
    cursor.eol()
    if not tags:
        cursor.fail("Expected the tag of a search")
    return tags


async def run_cancel(session: Session, tags: list[bytes]) -> Done:
    selected = session.open_mailbox()
    unknown = [tag for tag in tags if selected.watches.pop(tag, None) is None]
    if unknown:
        raise Refused("No such search is kept up to date", Code.NONEXISTENT.value)
    return Done("CANCELUPDATE completed")


COMMANDS: Final = (Command(b"CANCELUPDATE", IN_MAILBOX, parse_cancel, run_cancel),)
"""What both extensions have."""
RETURNS: Final = (
    PARTIAL,
    SearchReturn(b"CONTEXT", lambda found, _: None, shown=False),  # a hint that it will be asked again
    SearchReturn(b"UPDATE", lambda found, _: None, parse=_items, shown=False, watch=_watch),
)
"""The return options of both."""
