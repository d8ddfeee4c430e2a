"""The store: one object that owns the files, the indexes in memory, the doorbell and the housekeeping.

The rule: a change is `await store.write(lambda tx: messages.append(tx, ...))`; everything else here follows from what
the change wrote into its log. Made with `await Store.open(...)`, used in the loop that opened it.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from mailstore import check, facts, fetching, lookup, search, views
from mailstore.cache import FlagSets, MailboxIndex
from mailstore.content import Prepared
from mailstore.doorbell import Doorbell
from mailstore.errors import NoSuchMailbox
from mailstore.events import Lingering, Stale, Touched, Watched
from mailstore.facts import Facts
from mailstore.housekeeping import Housekeeping
from mailstore.model import FetchRow, Mailbox, MailboxId, Millis, ModSeq, Snapshot, Uid, View
from mailstore.query import Query
from mailstore.renderings import Renderer
from mailstore.sessions import NOBODY, Sessions
from mailstore.shifts import Shift
from mailstore.sqlite import Database, Probe, ReadTx, Series, WriteTx, system_millis
from mailstore.textindex import TextIndex

T = TypeVar("T")
E = TypeVar("E")

SERIES = Series("mailstore", files("mailstore") / "sql")
FILE = "postroom.sqlite3"
INDEX_FILE = "textindex.sqlite3"
_INDEXES = 64  # mailboxes kept in memory, but for those that are selected
_FEW = 64  # messages whose facts are read in the loop
_TRIES = 3
_INLINE = 50_000  # messages times keys up to which a search of what is in memory is done in the loop

_log = logging.getLogger(__name__)


class Store:
    """See the module. `db` is the database that other packages share."""

    def __init__(
        self, db: Database, index: TextIndex, renderers: Mapping[str, Renderer], clock: Callable[[], Millis]
    ) -> None:
        self.db = db
        self.text_index = index
        self.renderers = renderers
        self.clock = clock
        self.doorbell = Doorbell()
        self.flag_sets = FlagSets()
        self.sessions = Sessions(self._position, self._sweep_unread, self._sweep_later)
        self.housekeeping = Housekeeping(db, index, lambda: self.renderers, _report)
        self._indexes: OrderedDict[MailboxId, MailboxIndex] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()
        db.on(Touched, self._on_touched)
        db.on(Watched, self._on_watched)
        db.on(Lingering, self._on_lingering)
        db.on(Stale, self._on_stale)

    @classmethod
    async def open(
        cls,
        home: Path,
        series: Sequence[Series] = (),
        *,
        renderers: Mapping[str, Renderer] | None = None,
        probe: Probe | None = None,
        clock: Callable[[], Millis] = system_millis,
    ) -> "Store":
        """Open or make the store in a folder; `series` are the other packages', after mailstore's own.

        Raises TooOld for data of a newer version.
        """
        async with AsyncExitStack() as undo:
            db = await Database.open(home / FILE, [SERIES, *series], probe=probe, clock=clock)
            undo.push_async_callback(db.close)
            identity = db.read(lambda tx: tx.value("mailstore.search.store"))
            highest = db.read(lambda tx: tx.value("mailstore.search.highest-content"))
            index = await TextIndex.open(home / INDEX_FILE, identity, highest)
            undo.pop_all()
        store = cls(db, index, renderers or {}, clock)
        for view in db.read(views.lingering_views):
            await store._sweep_unread(view)
        store.housekeeping.start()
        return store

    async def idle(self) -> None:
        """Wait until what was started in the background (a sweep of Unread) is done."""
        await asyncio.gather(*self._tasks)

    async def close(self) -> None:
        """Stop the housekeeping and close the files. May be called twice."""
        if self._timer is not None:
            self._timer.cancel()
        await self.housekeeping.stop()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.text_index.close()
        await self.db.close()

    # The database

    def read(self, fn: Callable[[ReadTx], T]) -> T:
        """See Database.read."""
        return self.db.read(fn)

    async def read_slow(self, fn: Callable[[ReadTx], T]) -> T:
        """See Database.read_slow."""
        return await self.db.read_slow(fn)

    async def write(self, fn: Callable[[WriteTx], T]) -> T:
        """See Database.write."""
        return await self.db.write(fn)

    def on(self, event_type: type[E], fn: Callable[[WriteTx, E], None]) -> None:
        """See Database.on; the events are in `events`."""
        self.db.on(event_type, fn)

    # Messages

    def prepare(self, raw: bytes) -> Prepared:
        """Hash a message and read its header before it is written. Pure; takes about half a millisecond a megabyte, so
        in a thread when it is large."""
        return Prepared(raw)

    def fetch(
        self, mailbox: Mailbox, uids: Sequence[Uid], renderings: Sequence[str] = (), header: bool = False
    ) -> list[FetchRow]:
        """`messages.fetch` in the loop, with renderings that are not stored made now."""
        return self.read(lambda tx: fetching.fetch(tx, mailbox, uids, renderings, header, renderers=self.renderers))

    # Mailboxes in memory

    def index(self, mailbox_id: MailboxId) -> MailboxIndex:
        """The index of a mailbox, read here and now if it is not in memory (`load_index` reads it off the loop).
        Raises NoSuchMailbox."""
        index = self._indexes.get(mailbox_id)
        if index is None:
            mailbox = self.read(lambda tx: lookup.get(tx, mailbox_id))
            index = MailboxIndex(mailbox, self.db.read, self.flag_sets)
            self._keep(index)
        self._indexes.move_to_end(mailbox_id)
        return index

    def _keep(self, index: MailboxIndex) -> None:
        """Keep an index in memory, in place of those that were asked for longest ago; not of mailboxes that somebody
        listens to, who would have them read again at the next question."""
        self._indexes[index.mailbox.id] = index
        spare = [mailbox for mailbox in self._indexes if not self.doorbell.listens(mailbox)]
        for mailbox in spare[: max(0, len(self._indexes) - _INDEXES)]:
            if mailbox != index.mailbox.id:
                del self._indexes[mailbox]

    async def load_index(self, mailbox_id: MailboxId) -> MailboxIndex:
        """The index, read on a reader's thread if it is not in memory yet."""
        if mailbox_id not in self._indexes:
            mailbox = self.read(lambda tx: lookup.get(tx, mailbox_id))
            fresh = MailboxIndex(mailbox, self.db.read, self.flag_sets)
            await self.read_slow(fresh.load)
            fresh.stale = True  # the doorbell may have rung meanwhile
            if mailbox_id not in self._indexes:
                self._keep(fresh)
        return self.index(mailbox_id)

    def snapshot(self, mailbox_id: MailboxId) -> Snapshot:
        """The mailbox as it is now, its UIDs shared with the index. Raises NoSuchMailbox."""
        return self.read(self.index(mailbox_id).snapshot)

    async def facts(self, mailbox_id: MailboxId) -> Facts | None:
        """What never changes of the messages that the index has now; None if that cannot be had from one snapshot.

        When it returns nothing else has run since: the index has just the UIDs that the facts are of.
        """
        for _ in range(_TRIES):
            index = self.index(mailbox_id)
            known, uids, mailbox = index.facts, index.uids, index.mailbox
            if known.uids is uids:
                return known
            follow = partial(facts.following, mailbox=mailbox, known=known, uids=uids)
            few = len(uids) - len(known.uids) <= _FEW and known.uids == uids[: len(known.uids)]
            found = self.read(follow) if few else await self.read_slow(follow)
            if found is not None:
                index.facts = found
        return None

    async def search(self, mailbox: Mailbox, query: Query) -> list[Uid]:
        """The UIDs a query is true of, ascending (DECISIONS 20)."""
        asked = set(search.text_queries(query))
        hits = search.NO_HITS
        if asked:
            hits = search.Hits(*await self.text_index.find(asked))
        await self.load_index(mailbox.id)
        recent_from = self.snapshot(mailbox.id).recent_from
        known = await self.facts(mailbox.id) if search.asks_facts(query) else None
        columns = self.index(mailbox.id).columns(recent_from)
        if known is not None and known.uids is not columns.uids:
            known = None
        now = self.clock()

        def evaluate(tx: ReadTx) -> list[Uid]:
            return search.Evaluation(tx, mailbox, query, columns, hits, now, known).run()

        fast = search.is_lasting(query) if known is not None else search.is_fast(query)
        if fast and len(columns.uids) * sum(1 for _ in search.leaves(query)) <= _INLINE:
            return self.read(evaluate)
        return await self.read_slow(evaluate)

    async def check(self) -> list[str]:
        """What is wrong with the data, in words; empty when every invariant holds."""
        return await self.read_slow(check.check) + await self.text_index.check()

    # Following the changes

    def _on_touched(self, tx: WriteTx, event: Touched) -> None:
        ring = tx.kept(_Ring)
        if not ring.touched:
            tx.after(lambda: self.rung(ring))
        for mailbox in event.mailboxes or (None,):
            ring.touched.setdefault(mailbox, []).append(event.shift)

    def rung(self, ring: "_Ring") -> None:
        """In the loop, after a commit: what is in memory follows, and whoever listens is woken."""
        touched = {mailbox: shifts for mailbox, shifts in ring.touched.items() if mailbox is not None}
        for mailbox, shifts in touched.items():
            index = self._indexes.get(mailbox)
            if index is not None:
                known = [shift for shift in shifts if shift is not None]
                if len(known) == len(shifts):
                    index.follow(known)
                else:
                    index.stale = True
        self.doorbell.ring(touched)

    def _on_stale(self, tx: WriteTx, event: Stale) -> None:
        tx.after(self.housekeeping.poke)

    # Unread (DECISIONS 8)

    def _on_watched(self, tx: WriteTx, event: Watched) -> None:
        event.answer = self.sessions.watched(event.mailbox) != NOBODY

    def _on_lingering(self, tx: WriteTx, event: Lingering) -> None:
        tx.after(self._arm)

    def _sweep(self, tx: WriteTx, mailbox: MailboxId) -> int:
        try:
            account = lookup.get(tx, mailbox).account
        except NoSuchMailbox:
            return 0
        watched, until = self.sessions.watched(mailbox), tx.now - views.LINGER_MILLIS
        return views.sweep(tx, account, mailbox, watched=watched, until=until)

    async def _sweep_unread(self, mailbox: MailboxId) -> None:
        await self.write(lambda tx: self._sweep(tx, mailbox))

    def _sweep_later(self, mailbox: MailboxId) -> None:
        self._spawn(self._sweep_unread(mailbox))

    async def sweep_overdue(self) -> None:
        """Let go what was read in Unread half an hour ago, whoever is watching."""
        for mailbox in self.read(views.lingering_views):
            await self._sweep_unread(mailbox)
        self._arm()

    def _arm(self) -> None:
        """Come back when the next message that lingers is due."""
        due = self.read(views.next_overdue)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if due is not None:
            seconds = max(1.0, (due - self.clock()) / 1000)
            self._timer = self._loop.call_later(seconds, lambda: self._spawn(self.sweep_overdue()))

    def _position(self, mailbox: MailboxId) -> ModSeq | None:
        """The account's modseq, for an Unread view; None for any other mailbox, which need not be watched."""

        def look(tx: ReadTx) -> ModSeq | None:
            box = lookup.get(tx, mailbox)
            if box.view is not View.UNREAD:
                return None
            return ModSeq(tx.value("mailstore.views.position", account=box.account))

        return self.read(look)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class _Ring:
    """The mailboxes that a transaction touched (None: something that belongs to none), and what it did to each in order
    (None: something that is not known). One ring for all of them."""

    def __init__(self) -> None:
        self.touched: dict[MailboxId | None, list[Shift | None]] = {}


def _report(what: str, error: BaseException) -> None:
    _log.warning("%s: %s", what, error)


__all__ = ["SERIES", "Prepared", "Renderer", "Store"]
