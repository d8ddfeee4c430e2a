"""A file that an earlier version made is opened as it was left.

data/schema-0001.sql is one, and schema-0001.json what that version said of it: by mailbox its counters (messages,
unseen, deleted, size, modseq), and of each message UID, id, content, size, modseq, flags, thread, EMAILID.
"""

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from mailstore import accounts, changes, mailboxes
from mailstore.model import ModSeq
from mailstore.store import FILE, Store
from tests.store.helpers import Clock, Desk, mail, open_store

DATA = Path(__file__).parent / "data"
SAID: dict[str, Any] = json.loads((DATA / "schema-0001.json").read_text())
LAST_ID = 14  # given to a message that is gone


async def opened(home: Path, clock: Clock) -> Store:
    def make() -> None:
        home.mkdir()
        with closing(sqlite3.connect(home / FILE)) as connection:
            connection.executescript((DATA / "schema-0001.sql").read_text())

    await asyncio.to_thread(make)
    return await open_store(home, clock)


def desks(store: Store, clock: Clock) -> list[Desk]:
    return [Desk(store, account, clock) for account in store.read(accounts.all)]


def says(desk: Desk, name: str) -> dict[str, Any]:
    box = desk.box(name)
    status = desk.read(lambda tx: mailboxes.status(tx, box))
    rows = desk.fetch(name, desk.uids(name))
    return {
        "status": [status.messages, status.unseen, status.deleted, status.size, status.highest_modseq],
        "rows": [
            [
                row.uid,
                row.email,
                row.content,
                row.size,
                row.modseq,
                sorted(desk.flags(name, row.uid)),
                row.thread,
                row.email_object_id,
            ]
            for row in rows
        ],
    }


async def test_every_mailbox_says_what_it_said(tmp_path: Path, clock: Clock) -> None:
    store = await opened(tmp_path / "old", clock)
    assert await store.check() == []
    said = {
        f"{desk.account.name}/{box.name}": found
        for desk in desks(store, clock)
        for box in desk.read(lambda tx, desk=desk: mailboxes.all(tx, desk.account.id))
        if (found := says(desk, box.name))["rows"] or f"{desk.account.name}/{box.name}" == "you/Unread"
    }
    left = said.pop("you/Unread"), SAID["you/Unread"]
    assert said == {name: of for name, of in SAID.items() if name != "you/Unread"}
    # the reader who kept a read message in Unread is gone since, so it has left
    assert [row[0] for row in left[0]["rows"]] == [row[0] for row in left[1]["rows"] if "\\Seen" not in row[5]]
    await store.close()


async def test_the_log_still_tells_what_happened(tmp_path: Path, clock: Clock) -> None:
    store = await opened(tmp_path / "old", clock)
    desk = desks(store, clock)[0]
    for name, box in (("INBOX", desk.box("INBOX")), ("All", desk.box("All")), ("Work", desk.box("Work"))):
        delta = desk.read(lambda tx, box=box: changes.since(tx, box, ModSeq(26)))
        told = {row[0] for row in SAID[f"you/{name}"]["rows"] if row[4] > 26}
        assert set(delta.changed) | set(delta.arrived) == told, name
    await store.close()


async def test_life_goes_on(tmp_path: Path, clock: Clock) -> None:
    store = await opened(tmp_path / "old", clock)
    desk = desks(store, clock)[0]
    fresh = await desk.append("INBOX", mail("After"))
    assert fresh.email == LAST_ID + 1
    await desk.flag("All", desk.uids("All"), "\\Flagged")
    assert "\\Flagged" in desk.flags("INBOX", 5)
    await desk.flag("INBOX", [5], "\\Seen")
    assert 3 not in desk.uids("Unread")
    await desk.move("Action", [1], "Work")
    await desk.copy("Unread", desk.uids("Unread"), "Archive")
    assert await desk.expunge("INBOX") == [2]
    assert await store.check() == []
    await store.close()
