"""The two kinds of transaction that functions are given: ReadTx looks at one snapshot, WriteTx changes it.

The rule: a statement runs only while its transaction is open. SQLite may end a transaction by itself (a full disk);
whatever a function would do after that would be committed piece by piece, so each statement asks first.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from mailstore.errors import Broken

K = TypeVar("K")
Row = sqlite3.Row
Subscribers = Mapping[type, Sequence[Callable[["WriteTx", Any], None]]]


class ReadTx:
    """Named queries over one snapshot. All rows are fetched at once: a half-read cursor would keep the snapshot old."""

    __slots__ = ("_connection", "_queries")

    def __init__(self, connection: sqlite3.Connection, queries: Mapping[str, str]) -> None:
        self._connection = connection
        self._queries = queries

    def all(self, name: str, /, **params: Any) -> list[sqlite3.Row]:
        """Every row of the query."""
        return self._execute(name, params).fetchall()

    def one(self, name: str, /, **params: Any) -> sqlite3.Row | None:
        """The first row, or None."""
        rows = self._execute(name, params).fetchall()
        return rows[0] if rows else None

    def value(self, name: str, /, **params: Any) -> Any:
        """The first column of the first row, or None."""
        rows = self._execute(name, params).fetchall()
        return rows[0][0] if rows else None

    def columns(self, name: str, /, **params: Any) -> list[list[Any]]:
        """The columns of a query that gives each as a JSON array (json_group_array).

        For thousands of rows: no object is made for a row, and the interpreter's lock is not let go and taken again at
        each, for which a busy loop would make this thread wait.
        """
        return [json.loads(column) for column in self._execute(name, params).fetchone()]

    def pairs(self, name: str, /, **params: Any) -> dict[Any, Any]:
        """The rows of a query of two columns, by the first."""
        return dict(self._execute(name, params, plain=True))

    def _execute(self, name: str, params: Any, *, plain: bool = False) -> sqlite3.Cursor:
        if not self._connection.in_transaction:
            raise Broken("the transaction has ended")
        if not plain:
            return self._connection.execute(self._queries[name], params)
        cursor = self._connection.cursor()
        cursor.row_factory = None
        return cursor.execute(self._queries[name], params)


class WriteTx(ReadTx):
    """What a function given to `Database.write` works with; it lives as long as that function."""

    __slots__ = ("_kept", "_subscribers", "afters", "now")

    def __init__(
        self, connection: sqlite3.Connection, queries: Mapping[str, str], subscribers: Subscribers, now: int
    ) -> None:
        super().__init__(connection, queries)
        self.now = now  # when the function began, UTC milliseconds; one time for all it does
        self._subscribers = subscribers
        self.afters: list[Callable[[], None]] = []
        self._kept: dict[type, Any] = {}

    def run(self, name: str, /, **params: Any) -> int:
        """Run a change; the number of rows it changed."""
        return self._execute(name, params).rowcount

    def insert(self, name: str, /, **params: Any) -> int:
        """Run an INSERT; the rowid it made."""
        return self._execute(name, params).lastrowid or 0

    def many(self, name: str, rows: Iterable[Mapping[str, Any]], /) -> int:
        """Run a change once a row of parameters; the number of rows changed."""
        if not self._connection.in_transaction:
            raise Broken("the transaction has ended")
        return self._connection.executemany(self._queries[name], rows).rowcount

    def emit(self, event: object) -> None:
        """Tell the subscribers of the event's type now, inside this transaction; what they raise undoes it."""
        for subscriber in self._subscribers.get(type(event), ()):
            subscriber(self, event)

    def kept(self, kind: type[K]) -> K:
        """The one object of a class that lives as long as this transaction; made when it is first asked for."""
        if kind not in self._kept:
            self._kept[kind] = kind()
        found: K = self._kept[kind]
        return found

    def after(self, fn: Callable[[], None]) -> None:
        """Run `fn` in the event loop once COMMIT has returned. For wake-ups only: it may be lost in a crash."""
        self.afters.append(fn)
