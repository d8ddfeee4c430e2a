"""What is done behind the commits: by itself, in small steps, and again after a failure."""

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from mailstore import housekeeping
from mailstore.query import Text
from tests.store.helpers import Desk, mail, make_desk, open_store


def watch(store: Any, monkeypatch: pytest.MonkeyPatch, faults: Any = ()) -> Any:
    """Tell of each batch that reaches the index; `faults` are raised first."""
    done, waiting = asyncio.Event(), list(faults)
    add = store.text_index.add

    async def added(documents: Any, mark: Any) -> None:
        if waiting:
            raise waiting.pop(0)
        await add(documents, mark)
        done.set()

    monkeypatch.setattr(store.text_index, "add", added)
    monkeypatch.setattr(housekeeping, "QUIET_SECONDS", 0.01)
    monkeypatch.setattr(housekeeping, "PATIENCE_SECONDS", 0.05)
    return done


async def test_the_index_fills_by_itself(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    done = watch(desk.store, monkeypatch)
    await desk.append("INBOX", mail("Needle"))
    await asyncio.wait_for(done.wait(), 60)
    assert desk.store.text_index.mark == 1
    assert await desk.store.search(desk.box("INBOX"), Text("needle")) == [1]


async def test_it_goes_on_after_a_failure_and_says_so(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    done = watch(desk.store, monkeypatch, [sqlite3.OperationalError("disk I/O error")])
    await desk.append("INBOX", mail("Needle"))
    await asyncio.wait_for(done.wait(), 60)
    assert desk.store.text_index.mark == 1
    assert "behind" in caplog.text


async def test_a_fault_of_ours_is_reported_and_mail_goes_on(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    watch(desk.store, monkeypatch, [RuntimeError("a fault")])
    await desk.append("INBOX", mail("Needle"))
    task = desk.store.housekeeping._task
    assert task is not None
    await asyncio.wait([task], timeout=60)
    assert "housekeeping has stopped" in caplog.text
    assert await desk.store.search(desk.box("INBOX"), Text("needle")) == [1]


async def test_a_batch_ends_with_a_large_message(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(housekeeping, "_BATCH_BYTES", 1000)
    marks = []
    add = desk.store.text_index.add

    async def added(documents: Any, mark: Any) -> None:
        marks.append(mark)
        await add(documents, mark)

    monkeypatch.setattr(desk.store.text_index, "add", added)
    for n in range(6):
        await desk.append("INBOX", mail(str(n), "x" * (2000 if n == 2 else 10)))
    await desk.store.housekeeping.settle()
    assert 3 in marks
    assert marks[-1] == 6


async def test_what_was_left_undone_is_found_at_the_next_start(
    tmp_path: Path, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await open_store(tmp_path / "h", clock)
    desk = await make_desk(store, clock)
    await desk.append("INBOX", mail("Needle"))
    await desk.append("INBOX", mail("Gone"))
    await desk.delete("INBOX", [2])
    await store.close()
    store = desk.store = await open_store(tmp_path / "h", clock)
    await store.housekeeping.settle()
    assert store.text_index.mark >= 1
    assert store.read(lambda tx: tx.all("mailstore.content.orphans", limit=9)) == []
    assert await store.check() == []
    await store.close()


async def test_closing_at_any_moment_ends_soon(tmp_path: Path, clock: Any) -> None:
    """A cancellation that meets a poke must not be lost."""
    for steps in range(12):
        store = await open_store(tmp_path / f"c{steps}", clock)
        desk = await make_desk(store, clock)
        await desk.append("INBOX")
        for _ in range(steps):
            await asyncio.sleep(0)
        store.housekeeping.poke()
        await asyncio.wait_for(store.close(), 10)
