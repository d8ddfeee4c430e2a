"""What can wait: rendering messages, filling the text index, deleting what is left of messages and their content,
shortening the log.

The rule: it works behind the commits, in small steps, and only after a moment of quiet (or when it has waited long), so
that it takes nothing from whoever is appending; whatever is left undone is found again at the next start.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from mailstore import accounts, changes, content, removal, renderings
from mailstore.errors import StoreError
from mailstore.folding import Document, document_of
from mailstore.model import ContentId
from mailstore.parse import parse
from mailstore.renderings import Renderer
from mailstore.sqlite import Database
from mailstore.textindex import TextIndex
from mailstore.transaction import ReadTx, WriteTx

QUIET_SECONDS = 0.25
PATIENCE_SECONDS = 5.0
_BATCH = 32
_BATCH_BYTES = 4 << 20
_STEPS = 4  # after which the log is copied; a commit does it when it finds a log of many times that size
_DAY_SECONDS = 86_400.0


class Housekeeping:
    """One task; `poke` tells it that there may be work."""

    def __init__(
        self,
        database: Database,
        index: TextIndex,
        renderers: Callable[[], Mapping[str, Renderer]],
        report: Callable[[str, BaseException], None],
    ) -> None:
        self._database = database
        self._index = index
        self._renderers = renderers
        self._report = report
        self._poked = asyncio.Event()
        self._last_poke = 0.0
        self._task: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()
        self._steps = 0  # since the log was last copied

    def start(self) -> None:
        """Begin, with whatever an earlier process left undone."""
        self._poked.set()
        self._task = asyncio.get_running_loop().create_task(self._work(), name="mailstore-housekeeping")
        self._task.add_done_callback(self._ended)

    def poke(self) -> None:
        """Content was added, or messages were destroyed."""
        self._last_poke = asyncio.get_running_loop().time()
        self._poked.set()

    async def stop(self) -> None:
        """Stop at the next step."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        """A fault of ours is not to pass in silence; mail goes on without the index."""
        if not task.cancelled() and (error := task.exception()) is not None:
            self._report("housekeeping has stopped; searching goes on without new mail indexed", error)

    async def settle(self) -> None:
        """Do everything there is to do now."""
        async with self._lock:
            while await self._sweep_some():
                self._steps += 1
            while await self._read_some():
                self._steps += 1
            if self._steps >= _STEPS:
                await self._database.checkpoint()
                self._steps = 0

    async def _work(self) -> None:
        while True:
            try:
                await self._database.write(_prune)
                await self._work_a_day()
            except (StoreError, sqlite3.Error) as error:  # a full disk ends; the work is found again
                self._report("the text index or the sweep is behind", error)
                await asyncio.sleep(PATIENCE_SECONDS)
                self._poked.set()  # what was in hand is still to be done, and nobody else will say so

    async def _work_a_day(self) -> None:
        loop = asyncio.get_running_loop()
        tomorrow = loop.time() + _DAY_SECONDS
        while loop.time() < tomorrow:
            try:
                async with asyncio.timeout_at(tomorrow):  # not wait_for: 3.11's can lose a cancellation
                    await self._poked.wait()
            except TimeoutError:
                return
            self._poked.clear()
            await self._quiet()
            await self.settle()

    async def _quiet(self) -> None:
        """Wait until nobody has poked for a moment, though not for ever."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        while (now := loop.time()) - began < PATIENCE_SECONDS:
            left = self._last_poke + QUIET_SECONDS - now
            if left <= 0:
                return
            await asyncio.sleep(left)

    async def _sweep_some(self) -> bool:
        before = await self._database.write(_sweep)
        gone = before[1]
        if gone:
            await self._index.forget(gone)
        return before[0]

    async def _read_some(self) -> bool:
        """Read the next messages once, for the renderings and for the text index; False when both have all."""
        renderers, indexed = self._renderers(), self._index.mark
        found = await self._database.read_slow(lambda tx: _read_on(tx, indexed, renderers))
        if found.last is None:
            return False
        if found.rendered:
            await self._database.write(partial(renderings.keep, made=found.rendered, names=renderers, mark=found.last))
        if found.documents:
            await self._index.add(found.documents, found.last)
        return True


@dataclass(slots=True)
class _Read:
    """What was made of the messages up to `last`; None when there were none to read."""

    documents: dict[ContentId, Document] = field(default_factory=dict)
    rendered: dict[ContentId, dict[str, bytes]] = field(default_factory=dict)
    last: ContentId | None = None


def _read_on(tx: ReadTx, indexed: ContentId, renderers: Mapping[str, Renderer]) -> _Read:
    """Read messages from the first one that is not rendered or indexed yet."""
    marks = renderings.marks(tx, renderers)
    found, size = _Read(), 0
    for row in tx.all("mailstore.search.unindexed", mark=min([indexed, *marks.values()]), limit=_BATCH):
        each = found.last = ContentId(row["id"])
        raw = content.body(tx, each)
        message = parse(raw)
        if each > indexed:
            found.documents[each] = document_of(message, raw)
        if forms := {name: render(message) for name, render in renderers.items() if each > marks[name]}:
            found.rendered[each] = forms
        size += row["size"]
        if size > _BATCH_BYTES:
            break
    return found


def _sweep(tx: WriteTx) -> tuple[bool, list[ContentId]]:
    """Whether there may be more, and which content was deleted."""
    more = removal.collect(tx)
    looked_at = len(tx.all("mailstore.content.orphans", limit=content.SWEEP))
    return more or looked_at == content.SWEEP, content.sweep(tx)


def _prune(tx: WriteTx) -> None:
    for account in accounts.all(tx):
        changes.prune(tx, account.id)
