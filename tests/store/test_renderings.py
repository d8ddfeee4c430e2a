"""Renderings are made behind the commit: nobody can tell, none is missing in the end, and none outlives its bytes."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bridge.imap.items import RENDERERS
from mailstore import content, housekeeping, messages, ordering, removal, renderings
from mailstore.errors import NotStored
from mailstore.model import ContentId, Uid
from mailstore.parse import Message, parse
from mailstore.queries import load_migrations
from mailstore.store import SERIES, Store
from tests.store.helpers import Clock, Desk, mail, make_desk, open_store

Made = list[str]


def subjects(made: Made) -> Callable[[Message], bytes]:
    """A renderer that says of which messages it was asked."""

    def render(message: Message) -> bytes:
        made.append(message.subject)
        return b"<" + message.subject.encode() + b">"

    return render


async def resting(home: Path, clock: Clock, **renderers: Any) -> tuple[Store, Desk]:
    """A store that does nothing by itself, and its first account."""
    store = await open_store(home, clock, renderers=renderers)
    await store.housekeeping.stop()
    return store, await make_desk(store, clock)


def mark(desk: Desk, name: str) -> int:
    return desk.read(lambda tx: renderings.marks(tx, [name]))[name]


async def test_an_append_renders_nothing_and_a_message_is_rendered_once_behind_it(tmp_path: Path, clock: Clock) -> None:
    made: Made = []
    store, desk = await resting(tmp_path / "r", clock, subject=subjects(made))
    await desk.append("INBOX", mail("One"))
    await desk.append("INBOX", mail("Two"))
    assert (made, mark(desk, "subject")) == ([], 0)
    await store.housekeeping.settle()
    assert (made, mark(desk, "subject")) == (["One", "Two"], 2)
    assert [row.rendered for row in desk.fetch("INBOX", [1, 2], "subject")] == [(b"<One>",), (b"<Two>",)]
    await store.housekeeping.settle()
    assert made == ["One", "Two"]
    assert await store.check() == []
    await store.close()


async def test_who_asks_before_gets_the_same_with_one_parse(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[bytes] = []

    def counted(raw: bytes) -> Message:
        parsed.append(raw)
        return parse(raw)

    monkeypatch.setattr("mailstore.renderings.parse", counted)
    store, desk = await resting(tmp_path / "r", clock, **RENDERERS)
    names = tuple(RENDERERS)
    for number in range(3):
        await desk.append("INBOX", mail(f"number {number}"))
    early = desk.fetch("INBOX", [1, 2, 3], *names)
    assert parsed == [mail(f"number {number}") for number in range(3)]
    await store.housekeeping.settle()
    assert desk.fetch("INBOX", [1, 2, 3], *names) == early
    assert len(parsed) == 3
    await store.close()


async def test_what_nobody_can_make_is_refused(tmp_path: Path, clock: Clock) -> None:
    store, desk = await resting(tmp_path / "r", clock, subject=subjects([]))
    await desk.append("INBOX", mail("One"))
    with pytest.raises(NotStored):
        desk.read(lambda tx: messages.fetch(tx, desk.box("INBOX"), [Uid(1)], ["subject"]))
    with pytest.raises(NotStored):
        desk.fetch("INBOX", [1], "unheard-of")
    await store.close()


async def test_an_order_asked_for_before_is_that_asked_for_after(tmp_path: Path, clock: Clock) -> None:
    made: Made = []
    render = subjects(made)
    store, desk = await resting(tmp_path / "r", clock, subject=render)
    await desk.append("INBOX", mail("One"))
    early = desk.read(lambda tx: ordering.rows(tx, desk.box("INBOX"), [1], ("subject", render)))
    assert early[0].rendered == b"<One>"
    await store.housekeeping.settle()
    assert desk.read(lambda tx: ordering.rows(tx, desk.box("INBOX"), [1], ("subject", render))) == early
    assert made == ["One", "One"]
    await store.close()


async def test_what_was_left_undone_and_what_is_new_is_rendered_after_a_start(tmp_path: Path, clock: Clock) -> None:
    made: Made = []
    store, desk = await resting(tmp_path / "r", clock, old=subjects(made))
    await desk.append("INBOX", mail("One"))
    await store.housekeeping.settle()
    await desk.append("INBOX", mail("Two"))
    await store.close()
    assert made == ["One"]
    store = desk.store = await open_store(
        tmp_path / "r", clock, renderers={"old": subjects(made), "new": subjects(made)}
    )
    await store.housekeeping.settle()
    assert sorted(made) == ["One", "One", "Two", "Two"]
    assert (mark(desk, "old"), mark(desk, "new")) == (2, 2)
    rows = desk.fetch("INBOX", [1, 2], "old", "new")
    assert [row.rendered for row in rows] == [(b"<One>", b"<One>"), (b"<Two>", b"<Two>")]
    assert len(made) == 4
    assert await store.check() == []
    await store.close()


async def test_it_happens_by_itself(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(housekeeping, "QUIET_SECONDS", 0.01)
    kept, keep = asyncio.Event(), renderings.keep

    def told(tx: Any, *args: Any, **more: Any) -> None:
        keep(tx, *args, **more)
        tx.after(kept.set)

    monkeypatch.setattr(renderings, "keep", told)
    store = await open_store(tmp_path / "r", clock, renderers={"subject": subjects([])})
    desk = await make_desk(store, clock)
    await desk.append("INBOX", mail("One"))
    await asyncio.wait_for(kept.wait(), 60)
    box = desk.box("INBOX")
    assert desk.read(lambda tx: messages.fetch(tx, box, [Uid(1)], ["subject"]))[0].rendered == (b"<One>",)
    await store.close()


async def test_bytes_that_were_swept_meanwhile_get_no_rendering(tmp_path: Path, clock: Clock) -> None:
    store, desk = await resting(tmp_path / "r", clock, subject=subjects([]))
    await desk.append("INBOX", mail("One"))
    await desk.append("INBOX", mail("Two"))
    facts = await store.facts(desk.box("INBOX").id)
    assert facts is not None
    await desk.delete("INBOX", [1])
    await desk.delete("Trash", [1])
    await desk.write(removal.collect)
    assert await desk.write(content.sweep) == [1]
    made = {ContentId(1): {"subject": b"one"}, ContentId(2): {"subject": b"two"}}
    await desk.write(lambda tx: renderings.keep(tx, made, ["subject"], ContentId(2)))
    assert desk.read(lambda tx: messages.stored(tx, facts, ["subject"], renderers=store.renderers)) is None
    assert [row.rendered for row in desk.fetch("INBOX", [2], "subject")] == [(b"two",)]
    assert await store.check() == []
    await store.close()


async def test_the_check_finds_one_that_is_missing_and_one_without_bytes(tmp_path: Path, clock: Clock) -> None:
    store, desk = await resting(tmp_path / "r", clock, subject=subjects([]))
    await desk.append("INBOX", mail("One"))
    await store.housekeeping.settle()
    await store.close()
    with closing(sqlite3.connect(tmp_path / "r" / "postroom.sqlite3")) as file, file:
        file.execute("UPDATE rendered SET content = 77")
    store = await open_store(tmp_path / "r", clock)
    (fault,) = await store.check()
    assert fault == "renderings and the bytes they are of do not go together: (1, 1), (1, 77)"
    await store.close()


def test_a_store_from_before_the_marks_is_known_as_far_as_each_kind_is_whole() -> None:
    with closing(sqlite3.connect(":memory:")) as file:
        steps = {step.number: step.sql for step in load_migrations(SERIES)}
        for number in range(1, 6):
            file.executescript(steps[number])
        for each in (1, 2, 5):
            row = (each, bytes([each]), 1, 1, "", "")
            file.execute(
                "INSERT INTO content (id, hash, size, header_size, subject, base_subject) VALUES (?,?,?,?,?,?)", row
            )
        file.executemany("INSERT INTO rendering VALUES (?, ?)", [(1, "whole"), (2, "late"), (3, "none")])
        file.executemany("INSERT INTO rendered VALUES (?, ?, x'')", [(1, 1), (1, 2), (1, 5), (2, 1), (2, 5)])
        file.executescript(steps[6])
        assert file.execute("SELECT name, mark FROM rendering").fetchall() == [("whole", 5), ("late", 1), ("none", 0)]
