"""The text index: a second SQLite file with what the mail says, filled behind the commits.

The rule (DECISIONS 3): everything in it can be made again, so it is not synced on each commit, is thrown away when it
is broken or belongs to another store, and never holds a commit of the main file up. `mark` says how far it goes; what
is beyond is for the searcher to scan.
"""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path

from mailstore.folding import Document, field_has, fold_needle
from mailstore.model import ContentId
from mailstore.query import Address, Body, Header, Query, Text
from mailstore.sqlite import Database, ReadTx, Series, WriteTx

TextQuery = Text | Body | Header | Address
_MAX_TRIGRAMS = 32
SERIES = Series("index", files("mailstore") / "indexsql")


class TextIndex:
    """Made by `TextIndex.open`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    async def open(cls, path: Path, store: int, highest_content: ContentId) -> "TextIndex":
        """Open the index of this store; one that is broken, foreign or from the future is made anew."""
        try:
            database = await Database.open(path, [SERIES], durable=False)
        except sqlite3.DatabaseError:
            _remove(path)
            database = await Database.open(path, [SERIES], durable=False)
        known = database.read(_state)
        if known["store"] not in (0, store) or known["mark"] > highest_content:
            await database.close()
            _remove(path)
            database = await Database.open(path, [SERIES], durable=False)
        await database.write(lambda tx: tx.run("index.docs.set-state", name="store", value=store))
        return cls(database)

    @property
    def mark(self) -> ContentId:
        """Every content up to this one is indexed."""
        return ContentId(self._database.read(_state)["mark"])

    async def add(self, documents: Mapping[ContentId, Document], mark: ContentId) -> None:
        """Add documents; with them everything up to `mark` is indexed."""
        rows = [
            {"content": content, "head": each.head, "parts": each.parts, "body": each.body}
            for content, each in documents.items()
        ]

        def write(tx: WriteTx) -> None:
            tx.many("index.docs.add", rows)
            tx.many("index.docs.add-words", rows)
            tx.run("index.docs.set-state", name="mark", value=mark)

        await self._database.write(write)

    async def forget(self, contents: Sequence[ContentId]) -> None:
        """Drop documents whose content is gone."""
        ids = json.dumps(list(contents))

        def write(tx: WriteTx) -> None:
            rows = [dict(row) for row in tx.all("index.docs.get", contents=ids)]
            tx.many("index.docs.remove-words", rows)
            tx.run("index.docs.remove", contents=ids)

        await self._database.write(write)

    async def find(self, queries: Iterable[TextQuery]) -> tuple[ContentId, dict[Query, set[ContentId]]]:
        """For each query the indexed contents it is true of, and how far the index went when asked."""
        asked = list(queries)

        def read(tx: ReadTx) -> tuple[ContentId, dict[Query, set[ContentId]]]:
            return ContentId(_state(tx)["mark"]), {query: _find(tx, query) for query in asked}

        return await self._database.read_slow(read)

    async def check(self) -> list[str]:
        """Whether words and documents agree."""
        try:
            await self._database.write(lambda tx: tx.run("index.docs.check"))
        except sqlite3.DatabaseError as error:
            return [f"the text index is broken ({error}); it is made again when its file is removed"]
        return []

    async def close(self) -> None:
        await self._database.close()


def true_of(query: TextQuery, document: Document) -> bool:
    """Whether a query is true of one document; what the index finds is exactly this."""
    match query:
        case Text(needle):
            return document.text_has(fold_needle(needle))
        case Body(needle):
            return fold_needle(needle) in document.body
        case Header(name, needle) | Address(name, needle):
            return field_has(document.head, fold_needle(name), fold_needle(needle))


def _find(tx: ReadTx, query: TextQuery) -> set[ContentId]:
    needle = fold_needle(query.needle)
    match query:
        case Text():
            return {ContentId(row["content"]) for row in _rows(tx, "text", needle)}
        case Body():
            return {ContentId(row["content"]) for row in _rows(tx, "body", needle)}
        case Header(name) | Address(name):
            field = fold_needle(name)
            rows = _rows(tx, "head", needle or f"\n{field}:")
            return {ContentId(row["content"]) for row in rows if field_has(row["head"], field, needle)}


def _rows(tx: ReadTx, where: str, needle: str) -> list[sqlite3.Row]:
    trigrams = _trigrams(needle)
    if trigrams is None:
        return tx.all(f"index.docs.scan-{where}", needle=needle)
    return tx.all(f"index.docs.match-{where}", needle=needle, trigrams=trigrams)


def _trigrams(needle: str) -> str | None:
    """The FTS5 query for messages with all trigrams of the needle; None when it is too short to have one."""
    found = list(dict.fromkeys(needle[at : at + 3] for at in range(len(needle) - 2)))
    if not found:
        return None
    step = max(1, len(found) // _MAX_TRIGRAMS)
    return " AND ".join('"' + trigram.replace('"', '""') + '"' for trigram in found[::step])


def _state(tx: ReadTx) -> dict[str, int]:
    return {name: tx.value("index.docs.state", name=name) for name in ("mark", "store")}


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
