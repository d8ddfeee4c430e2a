"""A full disk: work waits until there is space again, then goes on where it stood, and the users are told once.

The rule (DECISIONS 14): what a peer asks for is refused at once (452, NO [UNAVAILABLE]), because the peer has it still.
What the runtime has to write down is not given up, because nobody else knows it: that write waits, and the run with it.
"""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime
from typing import Final, TypeVar

from agents.runtime import Runtime
from mailstore import accounts, threads
from mailstore.errors import Full
from mailstore.model import Millis
from mailstore.sqlite import Database, ReadTx, WriteTx

log = logging.getLogger(__name__)
T = TypeVar("T")
E = TypeVar("E")

LOOK_SECONDS: Final = 5.0
HOUR_MS: Final = 3_600_000
_HELP: Final = "help"


class Space:
    """Knows of a full disk by the writes that failed, and of its end by writing the mail that tells of it."""

    def __init__(self, db: Database, clock: Callable[[], Millis], look_seconds: float = LOOK_SECONDS) -> None:
        self._db = db
        self._clock = clock
        self._look_seconds = look_seconds
        self._since: Millis = 0
        self._full = asyncio.Event()
        self._free = asyncio.Event()
        self._free.set()
        self.watched = False
        db.when_full(self._notice)

    def _notice(self) -> None:
        if not self._full.is_set():
            log.error("the disk is full: mail is refused, and what is under way waits")
            self._since = self._clock()
            self._free.clear()
            self._full.set()

    async def free(self) -> None:
        """Wait until there is space, as far as is known."""
        await self._free.wait()

    async def run(self, runtime: Runtime, wake: Callable[[], None]) -> None:
        """Look for space while there is none, tell the users when there is, and call `wake`; until cancelled."""
        self.watched = True
        try:
            while True:
                await self._full.wait()
                await asyncio.sleep(self._look_seconds)
                if await self._told(runtime):
                    log.warning("there is space again")
                    self._full.clear()
                    self._free.set()
                    wake()
        finally:
            self.watched = False
            self._free.set()  # at the end of the program nobody is to wait for ever

    async def _told(self, runtime: Runtime) -> bool:
        """Whether there is space for the mail that tells of it."""
        try:
            await self._db.write(lambda tx: self._tell(tx, runtime))
        except Full:
            return False
        return True

    def _tell(self, tx: WriteTx, runtime: Runtime) -> None:
        """One mail to everybody; within an hour it is the same mail, as a disk that is nearly full fills up again."""
        for account in accounts.all(tx):
            runtime.notice(
                tx,
                key=f"space.{account.id}.{self._since // HOUR_MS}",
                account=account.id,
                agent=_HELP,
                thread=str(threads.new(tx, account.id)),
                subject="The disk was full",
                body=body(self._since, self._clock()),
            )


def body(since: Millis, until: Millis) -> str:
    """What the users are told. Times are local."""
    return (
        f"The disk that Postroom keeps its mail on was full from {_at(since)} to {_at(until)}.\n\n"
        "Mail that you sent meanwhile was refused, and your client told you so or has it still: send it again. Nothing "
        "that was accepted is lost. Tasks that were under way waited and go on now.\n\n"
        "What to do: free some space for good, or it happens again. `postroom doctor` says how much there is."
    )


def _at(moment: Millis) -> str:
    return f"{datetime.fromtimestamp(moment / 1000).astimezone():%d %b %H:%M:%S}"


class PatientDatabase:
    """The database as the runtime has it (agents.ports.Database): a write that finds the disk full is run again later.

    A function that failed so has left nothing behind, so that it may be run again. Before `Space.run` is at work, which
    is while the program starts, a full disk is an error.
    """

    def __init__(self, db: Database, space: Space) -> None:
        self._db = db
        self._space = space

    def read(self, fn: Callable[[ReadTx], T]) -> T:
        """See Database.read."""
        return self._db.read(fn)

    async def read_slow(self, fn: Callable[[ReadTx], T]) -> T:
        """See Database.read_slow."""
        return await self._db.read_slow(fn)

    async def write(self, fn: Callable[[WriteTx], T]) -> T:
        """See Database.write; it does not raise Full."""
        while True:
            try:
                return await self._db.write(fn)
            except Full:
                if not self._space.watched:
                    raise
            await self._space.free()

    def on(self, event_type: type[E], fn: Callable[[WriteTx, E], None]) -> None:
        """See Database.on."""
        self._db.on(event_type, fn)
