"""The database as a contract: what `write`, `read` and the group commit promise (DECISIONS 1), on real files."""

import asyncio
import os
import random
import shutil
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mailstore import writer
from mailstore.errors import Broken, Closed, Full, TooOld
from mailstore.sqlite import Database, ReadTx, Series, WriteTx

SCHEMA = """
CREATE TABLE item (id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;
CREATE TABLE parent (id INTEGER PRIMARY KEY) STRICT;
CREATE TABLE child (parent INTEGER NOT NULL REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED) STRICT;
"""
QUERIES = """
-- name: add
-- Adds one item.
INSERT INTO item (body) VALUES (:body);

-- name: add-as
-- Adds one item under an id of its own.
INSERT INTO item (id, body) VALUES (:id, :body)

-- name: bodies
SELECT body FROM item ORDER BY id

-- name: count
SELECT count(*) FROM item

-- name: orphan
-- Breaks a deferred foreign key: nothing is wrong until COMMIT.
INSERT INTO child VALUES (:parent)

-- name: rename
UPDATE item SET body = :body WHERE body = :old
"""


def make_series(folder: Path, schema: str = SCHEMA, queries: str = QUERIES) -> Series:
    folder.mkdir(exist_ok=True)
    (folder / "0001_first.sql").write_text(schema)
    (folder / "items.sql").write_text(queries)
    return Series("t", folder)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A group is as large as what waits, however slow the machine: on a busy one 20 ms can pass between two inserts."""
    monkeypatch.setattr(writer, "_GROUP_SECONDS", 60.0)


@pytest.fixture
async def db(tmp_path: Path) -> AsyncIterator[Database]:
    database = await Database.open(tmp_path / "t.db", [make_series(tmp_path / "sql")])
    yield database
    await database.close()


def add(body: str) -> Any:
    return lambda tx: tx.insert("t.items.add", body=body)


def bodies(tx: ReadTx) -> list[str]:
    return [row["body"] for row in tx.all("t.items.bodies")]


class Gate:
    """Holds the writer in a first function, so that what is submitted meanwhile becomes one group behind it."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.open = threading.Event()

    def hold(self, tx: WriteTx) -> None:
        self.entered.set()
        assert self.open.wait(10)

    async def group(self, db: Database, *functions: Any) -> list[Any]:
        first = asyncio.ensure_future(db.write(self.hold))
        assert await asyncio.to_thread(self.entered.wait, 10)
        rest = [asyncio.ensure_future(db.write(fn)) for fn in functions]
        await asyncio.sleep(0)  # each has submitted its function now
        self.open.set()
        return await asyncio.gather(first, *rest, return_exceptions=True)


async def test_write_returns_what_the_function_returned_and_read_sees_it(db: Any) -> None:
    assert await db.write(add("a")) == 1
    assert await db.write(lambda tx: [tx.insert("t.items.add", body=b) for b in "bc"]) == [2, 3]
    assert db.read(bodies) == ["a", "b", "c"]
    assert await db.read_slow(bodies) == ["a", "b", "c"]


async def test_a_function_sees_its_own_changes_and_counts_them(db: Any) -> None:
    def change(tx: WriteTx) -> tuple[int, int, str, object]:
        tx.many("t.items.add", ({"body": str(n)} for n in range(3)))
        changed = tx.run("t.items.rename", old="1", body="one")
        return changed, tx.value("t.items.count"), bodies(tx)[1], tx.one("t.items.bodies") and None

    assert await db.write(change) == (1, 3, "one", None)


async def test_a_function_that_raises_takes_back_only_its_own_changes(db: Any) -> None:
    def fail(tx: WriteTx) -> None:
        tx.insert("t.items.add", body="lost")
        raise KeyError("mine")

    results = await Gate().group(db, add("a"), fail, add("b"))
    assert isinstance(results[2], KeyError)
    assert db.read(bodies) == ["a", "b"]


async def test_so_does_the_first_of_a_group(db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has the transaction to itself, which is begun anew for the others."""
    gate = Gate()
    hold = gate.hold

    def fail(tx: WriteTx) -> None:
        tx.insert("t.items.add", body="lost")
        hold(tx)
        raise KeyError("mine")

    monkeypatch.setattr(gate, "hold", fail)
    results = await gate.group(db, add("a"), add("b"))
    assert isinstance(results[0], KeyError)
    assert results[1:] == [1, 2]
    assert db.read(bodies) == ["a", "b"]


def bodies_without_the_log(db: Database, folder: Path) -> list[str]:
    """What the file holds by itself."""
    alone = folder / "alone.sqlite3"
    shutil.copy(db.path, alone)
    with closing(sqlite3.connect(alone)) as connection:
        return [row[0] for row in connection.execute("SELECT body FROM item ORDER BY id")]


async def test_the_log_is_copied_into_the_file_when_that_is_asked_for(db: Any, tmp_path: Path) -> None:
    await db.write(add("a"))
    assert bodies_without_the_log(db, tmp_path) == []
    await db.checkpoint()
    assert bodies_without_the_log(db, tmp_path) == ["a"]
    await db.write(add("b"))
    assert db.read(bodies) == await db.read_slow(bodies) == ["a", "b"]
    await db.checkpoint()
    assert bodies_without_the_log(db, tmp_path) == ["a", "b"]


async def test_the_log_is_copied_between_two_commits_and_nothing_is_left_waiting(db: Any, tmp_path: Path) -> None:
    gate = Gate()
    first = asyncio.ensure_future(db.write(gate.hold))
    assert await asyncio.to_thread(gate.entered.wait, 10)
    waiting = [asyncio.ensure_future(one) for one in (db.write(add("a")), db.checkpoint(), db.write(add("b")))]
    await asyncio.sleep(0)
    closing_ = asyncio.ensure_future(db.close())
    gate.open.set()
    assert await asyncio.gather(first, *waiting, closing_) == [None, 1, None, 2, None]
    with pytest.raises(Closed):
        await db.checkpoint()


@pytest.mark.parametrize("position", range(4))
async def test_a_failed_commit_fails_every_function_of_its_group(db: Any, position: Any) -> None:
    functions = [add(str(n)) for n in range(4)]
    functions[position] = lambda tx: tx.insert("t.items.orphan", parent=7)
    rung = []
    functions.append(lambda tx: tx.after(lambda: rung.append(1)))
    results = await Gate().group(db, *functions)
    assert [type(result) for result in results] == [Broken] * 6
    assert db.read(bodies) == []
    assert rung == []
    assert await db.write(add("next")) == 1


@pytest.mark.parametrize("position", range(4))
async def test_a_transaction_that_ends_by_itself_fails_its_group(db: Any, position: Any) -> None:
    """ON CONFLICT ROLLBACK ends the whole transaction inside the function, and the function swallows the error."""

    def rollback(tx: WriteTx) -> None:
        try:
            tx._connection.execute("INSERT OR ROLLBACK INTO item VALUES (1, 'x'), (1, 'y')")
        except sqlite3.IntegrityError:
            tx.insert("t.items.add", body="outside any transaction")

    functions = [add(str(n)) for n in range(4)]
    functions[position] = rollback
    results = await Gate().group(db, *functions)
    assert all(isinstance(result, Broken) for result in results[: position + 2])
    assert db.read(bodies) == [str(n) for n in range(position + 1, 4)]


async def test_a_full_disk_is_told_as_full_and_leaves_no_half(db: Any) -> None:
    await db.write(add("kept"))
    await db.write(lambda tx: tx._connection.execute("PRAGMA max_page_count=12").fetchall())
    large = "x" * 40_000

    def grow(tx: WriteTx) -> None:
        tx.insert("t.items.add", body="half")
        tx.insert("t.items.add", body=large)

    with pytest.raises(Full):
        await db.write(grow)
    assert db.read(bodies) == ["kept"]
    await db.write(lambda tx: tx._connection.execute("PRAGMA max_page_count=100000").fetchall())
    await db.write(grow)
    assert db.read(bodies) == ["kept", "half", large]


async def test_nothing_is_told_before_the_commit_has_returned(tmp_path: Path) -> None:
    seen: list[str] = []

    @dataclass
    class Watch:
        """At each commit, whether another connection sees the row yet, and what the caller was told so far."""

        database: Database | None = None

        def point(self, name: str) -> None:
            other = sqlite3.connect(tmp_path / "t.db")
            seen.append(f"{name.rpartition('.')[2]} {other.execute('SELECT count(*) FROM item').fetchone()[0]} {told}")
            other.close()

    told: list[str] = []
    database = await Database.open(tmp_path / "t.db", [make_series(tmp_path / "sql")], probe=Watch())

    def change(tx: WriteTx) -> None:
        tx.insert("t.items.add", body="a")
        tx.after(lambda: told.append("rung"))

    await database.write(change)
    told.append("returned")
    assert seen == ["change 0 []", "change 1 []"]
    assert told == ["rung", "returned"]
    await database.close()


async def test_functions_that_wait_together_share_one_commit(tmp_path: Path) -> None:
    points: list[str] = []

    class Count:
        def point(self, name: str) -> None:
            points.append(name)

    database = await Database.open(tmp_path / "t.db", [make_series(tmp_path / "sql")], probe=Count())
    await Gate().group(database, *(add(str(n)) for n in range(50)))
    after = [point for point in points if point.startswith("commit.after")]
    assert [point.count("add") for point in after] == [50]
    assert database.read(bodies) == [str(n) for n in range(50)]
    await database.close()


async def test_events_reach_their_subscribers_inside_the_transaction(db: Any) -> None:
    @dataclass(frozen=True)
    class Added:
        body: str

    db.on(Added, lambda tx, event: tx.insert("t.items.add", body=event.body + "!"))

    def change(tx: WriteTx) -> None:
        tx.emit(Added("a"))
        tx.emit("a string nobody subscribed to")

    await db.write(change)
    assert db.read(bodies) == ["a!"]

    def refuse(tx: WriteTx, event: Added) -> None:
        raise ValueError(event.body)

    db.on(Added, refuse)
    with pytest.raises(ValueError, match="a"):
        await db.write(change)
    assert db.read(bodies) == ["a!"]


async def test_a_cancelled_caller_leaves_no_half_and_no_open_transaction(db: Any) -> None:
    dice = random.Random(7)

    def pair(n: int) -> Any:
        def change(tx: WriteTx) -> None:
            tx.insert("t.items.add", body=f"{n} first")
            tx.insert("t.items.add", body=f"{n} second")

        return change

    async def one(n: int) -> None:
        task = asyncio.ensure_future(db.write(pair(n)))
        for _ in range(dice.randrange(4)):
            await asyncio.sleep(0)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            pass

    await asyncio.gather(*(one(n) for n in range(200)))
    kept = db.read(bodies)
    assert len(kept) % 2 == 0
    assert all(a.split()[0] == b.split()[0] for a, b in zip(kept[::2], kept[1::2], strict=True))
    await db.write(add("the writer still works"))


async def test_a_cancelled_caller_unwinds_only_after_the_outcome(db: Any) -> None:
    gate = Gate()
    task = asyncio.ensure_future(db.write(gate.hold))
    assert await asyncio.to_thread(gate.entered.wait, 10)
    task.cancel()
    done, _ = await asyncio.wait([task], timeout=0.05)
    assert not done
    task.cancel()
    gate.open.set()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 10)


async def test_racing_changes_never_interleave(db: Any) -> None:
    """Twenty callers try to take one row; exactly one gets it, fifty times over."""
    for n in range(50):
        await db.write(add(f"free {n}"))
        taken = await asyncio.gather(
            *(
                db.write(lambda tx, old=f"free {n}", by=by: tx.run("t.items.rename", old=old, body=f"{by}"))
                for by in range(20)
            )
        )
        assert sum(taken) == 1


async def test_a_read_keeps_one_snapshot_while_the_writer_goes_on(db: Any) -> None:
    await db.write(add("a"))
    started, go_on = threading.Event(), threading.Event()

    def look(tx: ReadTx) -> tuple[int, int]:
        before = tx.value("t.items.count")
        started.set()
        assert go_on.wait(10)
        return before, tx.value("t.items.count")

    task = asyncio.ensure_future(db.read_slow(look))
    assert await asyncio.to_thread(started.wait, 10)
    await db.write(add("b"))
    go_on.set()
    assert await task == (1, 1)
    assert db.read(lambda tx: tx.value("t.items.count")) == 2


async def test_a_read_cannot_write(db: Any) -> None:
    def sneak(tx: ReadTx) -> None:
        tx._execute("t.items.add", {"body": "x"})

    with pytest.raises(sqlite3.OperationalError):
        db.read(sneak)
    with pytest.raises(sqlite3.OperationalError):
        await db.read_slow(sneak)


async def test_a_read_inside_a_write_sees_what_it_has_written(db: Any) -> None:
    def change(tx: WriteTx) -> list[str]:
        tx.insert("t.items.add", body="mine")
        found: list[str] = db.read(bodies)
        return found

    assert await db.write(change) == ["mine"]
    assert db.read(lambda tx: (bodies(tx), db.read(bodies))) == (["mine"], ["mine"])
    with pytest.raises(RuntimeError, match="loop"):
        await asyncio.to_thread(db.read, bodies)


async def test_close_finishes_what_is_queued_and_then_refuses(tmp_path: Path) -> None:
    database = await Database.open(tmp_path / "t.db", [make_series(tmp_path / "sql")])
    writes = [asyncio.ensure_future(database.write(add(str(n)))) for n in range(20)]
    await asyncio.sleep(0)
    await database.close()
    await database.close()
    assert len(await asyncio.gather(*writes)) == 20
    with pytest.raises(Closed):
        await database.write(add("late"))
    with pytest.raises(Closed):
        database.read(bodies)
    again = await Database.open(tmp_path / "t.db", [make_series(tmp_path / "sql")])
    assert len(again.read(bodies)) == 20
    await again.close()


async def test_the_file_is_private(db: Any) -> None:
    assert db.path.stat().st_mode & 0o777 == 0o600


async def test_commits_are_full_sync_unless_the_data_can_be_made_again(tmp_path: Path) -> None:
    series = [make_series(tmp_path / "sql")]
    for durable, level in ((True, 2), (False, 1)):
        database = await Database.open(tmp_path / f"{durable}.db", series, durable=durable)
        row = await database.write(lambda tx: tx._connection.execute("PRAGMA synchronous").fetchone())
        assert row[0] == level
        await database.close()


async def test_migrations_run_in_order_once_and_a_copy_is_made_first(tmp_path: Path) -> None:
    series = make_series(tmp_path / "sql")
    database = await Database.open(tmp_path / "t.db", [series])
    await database.write(add("old"))
    await database.close()
    assert not [name for name in os.listdir(tmp_path) if name.startswith("t.db.before-")]

    (tmp_path / "sql" / "0002_size.sql").write_text("ALTER TABLE item ADD COLUMN size INTEGER;")
    (tmp_path / "sql" / "0003_fill.sql").write_text("UPDATE item SET size = length(body);")
    for _ in range(2):
        database = await Database.open(tmp_path / "t.db", [series])
        assert database.read(bodies) == ["old"]
        await database.close()
    copy = sqlite3.connect(tmp_path / "t.db.before-t-0002")
    assert copy.execute("SELECT * FROM item").fetchall() == [(1, "old")]
    copy.close()
    file = sqlite3.connect(tmp_path / "t.db")
    assert file.execute("SELECT body, size FROM item").fetchall() == [("old", 3)]
    file.close()


async def test_a_migration_that_fails_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    series = make_series(tmp_path / "sql")
    await (await Database.open(tmp_path / "t.db", [series])).close()
    broken = tmp_path / "sql" / "0002_broken.sql"
    broken.write_text("CREATE TABLE extra (id INTEGER) STRICT; INSERT INTO nowhere VALUES (1);")
    with pytest.raises(sqlite3.OperationalError):
        await Database.open(tmp_path / "t.db", [series])
    broken.unlink()
    database = await Database.open(tmp_path / "t.db", [series])
    tables = database.read(lambda tx: tx._connection.execute("SELECT name FROM sqlite_schema").fetchall())
    assert "extra" not in [row[0] for row in tables]
    await database.close()


async def test_a_newer_file_is_refused_untouched(tmp_path: Path) -> None:
    series = make_series(tmp_path / "sql")
    step = tmp_path / "sql" / "0002_later.sql"
    step.write_text("CREATE TABLE later (id INTEGER) STRICT;")
    await (await Database.open(tmp_path / "t.db", [series])).close()
    step.unlink()
    with pytest.raises(TooOld) as refusal:
        await Database.open(tmp_path / "t.db", [series])
    assert "newer" in str(refusal.value)
    assert refusal.value.code == "too-old"


async def test_a_query_defined_twice_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"t\.items\.add"):
        await Database.open(tmp_path / "t.db", [make_series(tmp_path / "sql", queries=QUERIES * 2)])
