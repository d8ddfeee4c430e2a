"""How far something under way has come: a row now and then, for Activity.

The rule: telling never delays what is told about, and at most one note is written in a span of seconds; what ends
before the first span has passed writes none.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Final

from agents.office import Office
from agents.ports import Database, WriteTx

PROGRESS_SECONDS: Final = 10.0
Note = Callable[[WriteTx], Any]


class Telling:
    """The notes about one thing under way. `hear` may be called as often as one likes, from the loop only."""

    def __init__(self, db: Database, office: Office, run: str, seconds: float) -> None:
        self._db = db
        self._office = office
        self._run = run
        self._seconds = seconds
        self._last = asyncio.get_running_loop().time()
        self._writing: asyncio.Task[None] | None = None

    def hear(self, note: Note) -> None:
        """Something has come further: note it, unless something was noted a moment ago."""
        now = asyncio.get_running_loop().time()
        if now - self._last >= self._seconds and (self._writing is None or self._writing.done()):
            self._last = now
            self._writing = asyncio.create_task(self._write(note), name=f"progress {self._run}")

    async def _write(self, note: Note) -> None:
        def change(tx: WriteTx) -> None:
            if note(tx):
                tx.after(lambda: self._office.bells.activity(self._run))

        await self._db.write(change)

    async def end(self) -> None:
        """It is over: wait for the note under way. A note that could not be written is missed by nobody."""
        if self._writing is not None:
            await asyncio.wait({self._writing})
            self._writing.exception()
