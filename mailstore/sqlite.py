"""The database: one SQLite file in WAL mode, one writer, readers that never block it.

The rule: a change is a whole function run by the writer (`write`); its caller hears of it only after a COMMIT that
reached the disk (synchronous=FULL). Reads that take microseconds run in the loop (`read`); what may take over a
millisecond runs on a reader's thread (`read_slow`); both see one snapshot.
"""

import asyncio
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import aiosqlite

from mailstore.errors import Closed, Full
from mailstore.migrate import migrate
from mailstore.queries import Series, load_queries
from mailstore.transaction import ReadTx, WriteTx
from mailstore.writer import Job, Probe, Writer

__all__ = ["Database", "Probe", "ReadTx", "Series", "WriteTx"]

T = TypeVar("T")
E = TypeVar("E")

_SLOW_READERS = 2
_WRITER_KIB = 16_384  # page cache, taken as needed: a change of 10,000 messages touches far more than SQLite's 2 MB
_READER_KIB = 8_192
_LOG_PAGES = 4_000  # a commit that finds a longer log copies it into the file; `checkpoint` does that before, behind it
_MAPPED_BYTES = 1 << 30  # of the file: readers take pages where the system has them, without a call and a copy for each


def system_millis() -> int:
    """Now, in UTC milliseconds."""
    return time.time_ns() // 1_000_000


class Database:
    """Made by `Database.open`; lives in the loop that opened it."""

    def __init__(
        self, path: Path, queries: dict[str, str], *, durable: bool, probe: Probe | None, clock: Callable[[], int]
    ) -> None:
        self.path = path
        self.queries = queries
        self._subscribers: dict[type, list[Callable[[WriteTx, Any], None]]] = {}
        self._when_full: list[Callable[[], None]] = []
        self._writer = Writer(partial(_connect, path, durable=durable), queries, self._subscribers, probe, clock)
        self._reader = _connect(path, durable=durable, reading=True)
        self._slow: asyncio.Queue[_SlowReader] = asyncio.Queue()
        self._slow_all: list[_SlowReader] = []
        self._closed = False
        self._thread = threading.get_ident()

    @classmethod
    async def open(
        cls,
        path: Path,
        series: Sequence[Series],
        *,
        probe: Probe | None = None,
        durable: bool = True,
        clock: Callable[[], int] = system_millis,
    ) -> "Database":
        """Open or make the file (mode 0600) and bring it up to date. Raises TooOld.

        `durable=False` (synchronous=NORMAL) is for data that can be made again; `clock` gives UTC milliseconds.
        """
        queries = load_queries(series)
        await asyncio.to_thread(_prepare, path, series)
        database = cls(path, queries, durable=durable, probe=probe, clock=clock)
        for _ in range(_SLOW_READERS):
            reader = _SlowReader(path)
            await reader.open()
            database._slow_all.append(reader)
            database._slow.put_nowait(reader)
        return database

    def read(self, fn: Callable[[ReadTx], T]) -> T:
        """Run point reads (under a millisecond) here and now, on one snapshot.

        Inside another read it sees that one's snapshot, inside a function given to `write` what that has written.
        """
        if self._closed:
            raise Closed("the database is closed")
        thread = threading.get_ident()
        if thread == self._thread:
            return _snapshot(self._reader, self.queries, fn)
        current = self._writer.current(thread)
        if current is None:
            raise RuntimeError("read() belongs to the loop; on another thread use what read_slow or write hands in")
        return fn(current)

    async def read_slow(self, fn: Callable[[ReadTx], T]) -> T:
        """Run a longer read on a reader's thread, on one snapshot."""
        if self._closed:
            raise Closed("the database is closed")
        reader = await self._slow.get()
        try:
            return await reader.call(self.queries, fn)
        finally:
            self._slow.put_nowait(reader)

    async def checkpoint(self) -> None:
        """Copy what was committed from SQLite's log into the file, between two changes. What a snapshot still needs
        stays in the log. Raises Closed, Full."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        self._writer.submit(Job(None, loop, future))
        await future

    async def write(self, fn: Callable[[WriteTx], T]) -> T:
        """Run a whole change on the writer; returns what `fn` returned, after COMMIT.

        A cancelled caller waits for the outcome and is then cancelled: it never unwinds while its change is undecided.
        Raises what `fn` raised, Full, Broken or Closed.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._writer.submit(Job(fn, loop, future))
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            await _outcome(future)
            raise
        except Full:
            for told in self._when_full:
                told()
            raise

    def when_full(self, fn: Callable[[], None]) -> None:
        """Call `fn` in the loop whenever a change failed because the disk is full."""
        self._when_full.append(fn)

    def on(self, event_type: type[E], fn: Callable[[WriteTx, E], None]) -> None:
        """Call `fn(tx, event)` inside the transaction that emits an event of exactly this type."""
        self._subscribers.setdefault(event_type, []).append(fn)

    async def close(self) -> None:
        """Finish queued changes, then close every connection. May be called twice."""
        if self._closed:
            return
        self._closed = True
        await asyncio.to_thread(self._writer.stop)
        self._reader.close()
        for reader in self._slow_all:
            await reader.close()


class _SlowReader(aiosqlite.Connection):
    """An aiosqlite connection on whose thread a whole function can run."""

    def __init__(self, path: Path) -> None:
        super().__init__(partial(_connect, path, durable=False, reading=True), iter_chunk_size=1024)
        self._thread.daemon = True  # a store that was not closed must not keep the process from ending

    async def open(self) -> None:
        """Start the thread and connect on it."""
        await self  # type: ignore[unused-awaitable]  # it awaits to itself

    async def call(self, queries: dict[str, str], fn: Callable[[ReadTx], T]) -> T:
        outcome: Any = await self._execute(partial(_snapshot, self._conn, queries, fn))  # type: ignore[no-untyped-call]  # aiosqlite leaves it untyped
        return outcome  # type: ignore[no-any-return]  # as above


def _snapshot(connection: sqlite3.Connection, queries: dict[str, str], fn: Callable[[ReadTx], T]) -> T:
    if connection.in_transaction:
        return fn(ReadTx(connection, queries))  # a read within a read
    connection.execute("BEGIN")
    try:
        return fn(ReadTx(connection, queries))
    finally:
        connection.execute("ROLLBACK")


def _prepare(path: Path, series: Sequence[Series]) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    connection = _connect(path, durable=True)
    try:
        migrate(connection, path, series)
    finally:
        connection.close()


def _connect(path: Path, *, durable: bool, reading: bool = False) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, isolation_level=None, timeout=5.0, check_same_thread=False, cached_statements=512
    )
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute("PRAGMA temp_store=MEMORY")
    connection.execute(f"PRAGMA cache_size={-_READER_KIB if reading else -_WRITER_KIB}")
    connection.execute(f"PRAGMA wal_autocheckpoint={_LOG_PAGES}")
    if reading:
        connection.execute(f"PRAGMA mmap_size={_MAPPED_BYTES}")
        connection.execute("PRAGMA query_only=ON")
    return connection


async def _outcome(future: "asyncio.Future[Any]") -> None:
    """Wait until the writer has decided, however often the waiting task is cancelled."""
    while not future.done():
        try:
            await asyncio.wait((future,))
        except asyncio.CancelledError:
            continue
    future.exception()  # seen, so that it is not reported as lost
