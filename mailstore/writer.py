"""The one writer: a thread that runs whole functions in grouped transactions.

The rule (DECISIONS 1): no result, exception or wake-up leaves this thread before COMMIT has returned. Functions that
wait together share one COMMIT and so one fsync; one that raises takes back only its own changes, the first of a group
with the transaction and the others with a savepoint. When SQLite has ended the transaction by itself, or COMMIT fails,
every function of the group has failed.
"""

import asyncio
import functools
import logging
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from mailstore.errors import Broken, Closed, Full, StoreError
from mailstore.transaction import Subscribers, WriteTx

_GROUP_SIZE = 256
_GROUP_SECONDS = 0.02  # a longer group would keep its first caller waiting for the others' work

_log = logging.getLogger(__name__)


class Probe(Protocol):
    """Is told of each point where a crash would be interesting; a test's probe kills the process there."""

    def point(self, name: str) -> None:
        """Called on the thread that reached the point: "commit.before" and "commit.after", each with the names of the
        functions that share the commit behind it.
        """


@dataclass(slots=True)
class Job:
    """A function to run, the future that waits for it, and what came of it.

    No function: copy SQLite's log into the file. Only the thread that writes does so: until 3.51.3 SQLite could lose
    what one connection committed while another copied.
    """

    fn: Callable[[WriteTx], Any] | None
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    result: Any = None
    error: BaseException | None = None
    afters: list[Callable[[], None]] = field(default_factory=list)


class Writer:
    """Owns the write connection; `submit` may be called from any thread."""

    def __init__(
        self,
        connect: Callable[[], sqlite3.Connection],
        queries: Mapping[str, str],
        subscribers: Subscribers,
        probe: Probe | None,
        clock: Callable[[], int],
    ) -> None:
        self._connection = connect()  # here, so that a file that cannot be opened is the opener's fault to hear of
        self._queries = queries
        self._subscribers = subscribers
        self._probe = probe
        self._clock = clock
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._set_aside: list[Job | None] = []
        self._closed = False
        self._current: WriteTx | None = None
        self._thread = threading.Thread(target=self._work, name="mailstore-writer", daemon=True)
        self._thread.start()

    def submit(self, job: Job) -> None:
        """Queue a job; its future is settled in its loop. Raises Closed."""
        if self._closed:
            raise Closed("the database is closed")
        self._jobs.put(job)

    def current(self, thread: int) -> WriteTx | None:
        """The transaction of the function that runs now, if `thread` is the writer's."""
        return self._current if thread == self._thread.ident else None

    def stop(self) -> None:
        """Refuse new jobs, finish the queued ones, close the connection, and wait for that."""
        if not self._closed:
            self._closed = True
            self._jobs.put(None)
        self._thread.join()

    def _work(self) -> None:
        try:
            while (job := self._set_aside.pop() if self._set_aside else self._jobs.get()) is not None:
                run = self._run_group if job.fn is not None else _copy_log
                _deliver(run(self._connection, job))
        finally:
            self._connection.close()

    def _run_group(self, connection: sqlite3.Connection, first: Job) -> list[Job]:
        """Run `first` and what is waiting behind it, then commit; every job of the group returned is settled."""
        group: list[Job] = []
        job: Job | None = first
        deadline = time.monotonic() + _GROUP_SECONDS
        try:
            connection.execute("BEGIN IMMEDIATE")
            while job is not None:
                group.append(job)
                self._run_one(connection, job, first=len(group) == 1)
                if not connection.in_transaction:
                    raise job.error or Broken("the transaction ended early")
                job = self._next() if len(group) < _GROUP_SIZE and time.monotonic() < deadline else None
            self._commit(connection, group)
        except BaseException as error:  # rollback: whatever broke the group, each function must be told
            _fail(connection, group or [first], error)
        return group or [first]

    def _next(self) -> Job | None:
        """A job that waits already, if any; what is not for a transaction is set aside for the outer loop."""
        if self._jobs.empty():
            return None
        job = self._jobs.get()
        if job is None or job.fn is None:
            self._set_aside.append(job)
            return None
        return job

    def _run_one(self, connection: sqlite3.Connection, job: Job, *, first: bool) -> None:
        """The first of a group has nothing before it to keep and needs no savepoint, for which SQLite copies every page
        that is changed."""
        assert job.fn is not None
        tx = WriteTx(connection, self._queries, self._subscribers, self._clock())
        if not first:
            connection.execute("SAVEPOINT one")
        self._current = tx
        try:
            job.result = job.fn(tx)
            job.afters = tx.afters
        except BaseException as error:  # rollback: the function's changes go, its group's stay
            job.error = error
            if connection.in_transaction:
                _take_back(connection, first=first)
        if not first and connection.in_transaction:
            connection.execute("RELEASE one")

    def _commit(self, connection: sqlite3.Connection, group: list[Job]) -> None:
        names = "" if self._probe is None else " ".join(map(_name, group))
        if self._probe is not None:
            self._probe.point(f"commit.before {names}")
        connection.execute("COMMIT")
        if self._probe is not None:
            self._probe.point(f"commit.after {names}")


def _copy_log(connection: sqlite3.Connection, job: Job) -> list[Job]:
    try:
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
    except sqlite3.Error as error:
        job.error = translate(error)
    return [job]


def _take_back(connection: sqlite3.Connection, *, first: bool) -> None:
    if first:
        connection.execute("ROLLBACK")
        connection.execute("BEGIN IMMEDIATE")
    else:
        connection.execute("ROLLBACK TO one")


def _name(job: Job) -> str:
    """What a job is called for the probe: the name of its function, or of the one that holds its lambda."""
    fn = job.fn.func if isinstance(job.fn, functools.partial) else job.fn
    return str(getattr(fn, "__qualname__", type(fn).__name__)).removesuffix(".<lambda>").removesuffix(".<locals>")


def _fail(connection: sqlite3.Connection, group: list[Job], error: BaseException) -> None:
    if connection.in_transaction:
        connection.execute("ROLLBACK")
    for job in group:
        job.result = None
        job.afters = []
        job.error = job.error or _shared(error)


def _shared(error: BaseException) -> BaseException:
    """The error a function gets when another's (or COMMIT's) failure took its changes along."""
    if isinstance(error, sqlite3.Error):
        return translate(error)
    broken = Broken("another change in the same commit failed; nothing was kept")
    broken.__cause__ = error
    return broken


def translate(error: BaseException) -> BaseException:
    """A full disk becomes Full; a COMMIT that failed becomes Broken; a StoreError stays itself."""
    if isinstance(error, StoreError) or not isinstance(error, sqlite3.Error):
        return error
    full = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
    told: StoreError = Full("the disk is full; nothing was kept") if full else Broken("the commit failed")
    told.__cause__ = error
    return told


def _deliver(group: list[Job]) -> None:
    loops: dict[asyncio.AbstractEventLoop, list[Job]] = {}
    for job in group:
        loops.setdefault(job.loop, []).append(job)
    for loop, jobs in loops.items():
        try:
            loop.call_soon_threadsafe(_settle, loop, jobs)
        except RuntimeError:
            _log.warning("%d committed changes have nobody left to tell: their loop is closed", len(jobs))


def _settle(loop: asyncio.AbstractEventLoop, jobs: list[Job]) -> None:
    """In the loop: schedule wake-ups first, so that they have run when the caller goes on."""
    for job in jobs:
        for fn in job.afters:
            loop.call_soon(fn)
    for job in jobs:
        if job.future.done():
            continue
        if job.error is None:
            job.future.set_result(job.result)
        else:
            job.future.set_exception(_raisable(job.error))


def _raisable(error: BaseException) -> BaseException:
    if isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
        return translate(error)
    if isinstance(error, StopIteration):
        return RuntimeError("a write function raised StopIteration")
    return error
