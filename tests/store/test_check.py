"""`check` finds each kind of damage; it is what the other tests rely on."""

from pathlib import Path
from typing import Any

import pytest

from mailstore import mailboxes
from tests.store.helpers import Desk, mail, make_desk, open_store

DAMAGE = {
    "counters are wrong": "UPDATE mailboxes SET unseen = unseen + 1 WHERE name = 'INBOX'",
    "not placed exactly once": "DELETE FROM placement WHERE uid = 1 AND mailbox = 1",
    "what changes of it disagree": "DELETE FROM state WHERE email = 2",
    "and what changes of it": "INSERT INTO destroyed VALUES (1)",
    "the wrong views": "UPDATE state SET in_all = 0 WHERE email = 1",
    "leads nowhere": "INSERT INTO placement VALUES (1, 99, 99, 1, 0, 0)",
    "do not add up": "UPDATE content_chunk SET data = x'00'",
    "never be swept": "INSERT INTO content VALUES (99, x'00', 0, 0, NULL, '', '', NULL, NULL)",
    "a label": "DELETE FROM label",
    "another account's thread": "UPDATE thread SET account = 2 WHERE id = 1",
    "ahead of its account": "UPDATE accounts SET modseq = 1 WHERE id = 1",
    "keywords that do not exist": "UPDATE state SET keywords = 77",
    "the log does not say so": "DELETE FROM log",
}


@pytest.mark.parametrize("text", DAMAGE)
async def test_damage_is_found(tmp_path: Path, clock: Any, text: str) -> None:
    store = await open_store(tmp_path / "d", clock)
    desk = await make_desk(store, clock)
    await make_desk(store, clock, "eve")
    await desk.append("INBOX", mail("a"), "kw", labels=["open"])
    await desk.append("INBOX", mail("b"))
    assert desk.box("INBOX").id == 1
    assert await store.check() == []
    await store.write(lambda tx: tx._connection.execute(DAMAGE[text]))
    faults = await store.check()
    assert any(text in fault for fault in faults), faults
    await store.close()


async def test_a_store_with_everything_in_it_is_in_order(desk: Desk) -> None:
    await desk.write(lambda tx: mailboxes.create(tx, desk.account.id, "a/b"))
    for number, box in enumerate(("INBOX", "Sent", "Drafts", "Trash", "Junk", "Activity", "a/b")):
        await desk.append(box, mail(box), labels=["open"] if number % 2 else [], key=box)
    assert await desk.store.check() == []
