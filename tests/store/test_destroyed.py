"""A destroyed message is gone at once, and what is left of it is collected behind the commit."""

from pathlib import Path
from typing import Any

import pytest

from mailstore import accounts, labels, mailboxes, messages, removal, threads
from mailstore.copies import living
from mailstore.model import ThreadKeys
from tests.store.helpers import Desk, mail, make_desk, open_store

INDEX = "AAECAwQFBgcICQoLDA0ODxAREhMUFQ=="


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is collected by itself while a test looks."""
    monkeypatch.setattr("mailstore.housekeeping.QUIET_SECONDS", 3600.0)
    monkeypatch.setattr("mailstore.housekeeping.PATIENCE_SECONDS", 3600.0)


def rows(desk: Desk, table: str) -> int:
    return int(desk.read(lambda tx: tx._connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]))


async def collect(desk: Desk, limit: int = 100) -> bool:
    return bool(await desk.write(lambda tx: removal.collect(tx, limit)))


async def test_what_is_destroyed_is_found_by_nobody_before_it_is_collected(desk: Desk) -> None:
    account = desk.account.id
    raw = mail("Gone soon", message_id="<a@x>", thread_index=INDEX)
    one = await desk.append("INBOX", raw, labels=["open", "other"])
    await desk.write(lambda tx: threads.alias(tx, account, one.thread, "code:A-7F3K"))
    await desk.delete("INBOX", [1])
    assert rows(desk, "email") == rows(desk, "destroyed") == 1
    assert [desk.uids(name) for name in ("INBOX", "Action", "Unread", "All", "Trash")] == [[], [], [], [], []]
    assert desk.read(lambda tx: messages.email(tx, one.email)) is None
    assert desk.read(lambda tx: messages.locate(tx, one.email)) == []
    assert desk.read(lambda tx: living(tx, one.email)) == []
    assert desk.read(lambda tx: messages.by_message_id(tx, account, "<a@x>")) == []
    assert desk.read(lambda tx: threads.messages(tx, one.thread)) == []
    assert desk.read(lambda tx: threads.by_alias(tx, account, "code:A-7F3K")) is None
    assert desk.read(lambda tx: threads.find(tx, account, ThreadKeys(("<a@x>",), (), None, None))) is None
    assert desk.read(lambda tx: labels.of(tx, one.email)) == []
    assert await desk.store.check() == []


async def test_a_label_put_on_what_is_destroyed_goes_to_nobody(desk: Desk) -> None:
    one = await desk.append("INBOX", mail("a"))
    await desk.delete("INBOX", [1])
    await desk.write(lambda tx: labels.set_label(tx, one.email, "open", True))
    assert desk.uids("Action") == []
    assert await desk.store.check() == []


async def test_a_reply_to_what_is_destroyed_begins_a_thread(desk: Desk) -> None:
    one = await desk.append("INBOX", mail("a", message_id="<a@x>", thread_index=INDEX))
    await desk.delete("INBOX", [1])
    reply = await desk.append("INBOX", mail("Re: a", in_reply_to="<a@x>", thread_index=INDEX))
    assert reply.thread != one.thread
    await desk.store.housekeeping.settle()
    assert desk.read(lambda tx: threads.messages(tx, reply.thread)) == [reply.email]
    assert await desk.store.check() == []


async def test_collecting_deletes_all_that_is_left(desk: Desk) -> None:
    account = desk.account.id
    one = await desk.append("INBOX", mail("a"))
    kept = await desk.append("INBOX", mail("b"))
    notes = [(account, appended.email) for appended in (one, kept)]
    put = "INSERT INTO annotation VALUES (?, 'email', ?, '/comment', x'00')"
    await desk.write(lambda tx: tx._connection.executemany(put, notes))
    await desk.delete("INBOX", [1])
    await desk.store.housekeeping.settle()
    assert [rows(desk, table) for table in ("email", "thread", "content", "content_chunk")] == [1, 1, 1, 1]
    assert [rows(desk, table) for table in ("destroyed", "orphan")] == [0, 0]
    assert rows(desk, f"annotation WHERE target = {kept.email}") == rows(desk, "annotation") == 1
    assert desk.raw("INBOX", 2) == mail("b")
    assert await desk.store.check() == []


async def test_it_is_collected_in_steps(desk: Desk) -> None:
    for number in range(5):
        await desk.append("INBOX", mail(str(number)))
    await desk.delete("INBOX", [1, 2, 3, 4, 5])
    assert [await collect(desk, 2), rows(desk, "email")] == [True, 3]
    assert await desk.store.check() == []
    assert [await collect(desk, 2), await collect(desk, 2), rows(desk, "email")] == [True, False, 0]
    assert not await collect(desk, 2)


async def test_what_a_process_left_is_collected_by_the_next(
    tmp_path: Path, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await open_store(tmp_path / "d", clock)
    desk = await make_desk(store, clock)
    await desk.append("INBOX", mail("a"))
    await desk.append("INBOX", mail("b"))
    await desk.delete("INBOX", [1])
    await store.close()
    again = await open_store(tmp_path / "d", clock)
    desk = Desk(again, desk.account, clock)
    assert rows(desk, "email") == 2
    assert await again.check() == []
    await again.housekeeping.settle()
    assert rows(desk, "email") == 1
    assert desk.uids("INBOX") == [2]
    assert await again.check() == []
    await again.close()


async def test_the_same_bytes_again_are_kept_when_the_old_message_is_collected(desk: Desk) -> None:
    await desk.append("INBOX", mail("a"))
    await desk.delete("INBOX", [1])
    again = await desk.append("INBOX", mail("a"))
    await desk.store.housekeeping.settle()
    assert desk.raw("INBOX", again.uid) == mail("a")
    assert (rows(desk, "email"), rows(desk, "content")) == (1, 1)
    assert await desk.store.check() == []


async def test_a_thread_that_was_named_meanwhile_stays_for_its_next_message(desk: Desk) -> None:
    """The courier names a thread whose mail the user has destroyed, and the answer to what it delivers finds it."""
    account = desk.account.id
    one = await desk.append("INBOX", mail("a"))
    await desk.delete("INBOX", [1])
    await desk.write(lambda tx: threads.ensure(tx, account, one.thread))
    await desk.write(lambda tx: threads.alias(tx, account, one.thread, str(threads.index_alias(bytes(range(22))))))
    await desk.store.housekeeping.settle()
    reply = await desk.append("INBOX", mail("Re: a", thread_index=INDEX))
    assert reply.thread == one.thread
    assert await desk.store.check() == []


async def test_a_message_that_was_replaced_is_collected_too(desk: Desk) -> None:
    old = await desk.append("Activity", mail("[running] a"), labels=["run:1"])
    box, prepared = desk.box("Activity"), desk.store.prepare(mail("[done] a"))
    new = await desk.write(lambda tx: messages.replace(tx, box, old.email, prepared))
    assert desk.read(lambda tx: living(tx, old.email)) == [new.email]
    await desk.store.housekeeping.settle()
    assert desk.read(lambda tx: living(tx, old.email)) == [new.email]
    assert desk.read(lambda tx: labels.of(tx, new.email)) == ["run:1"]
    assert rows(desk, "email") == 1


async def test_an_account_is_removed_with_what_was_not_collected(store: Any, clock: Any) -> None:
    desk, eve = await make_desk(store, clock), await make_desk(store, clock, "eve")
    for each in (desk, eve):
        await each.append("INBOX", mail("a"))
        await each.append("INBOX", mail("b"))
        await each.delete("INBOX", [1])
    await store.write(lambda tx: accounts.remove(tx, desk.account.id))
    assert (rows(eve, "destroyed"), rows(eve, "email")) == (1, 2)
    await store.housekeeping.settle()
    assert (rows(eve, "destroyed"), rows(eve, "email"), rows(eve, "content")) == (0, 1, 1)
    assert await store.check() == []


async def test_a_mailbox_may_be_deleted_while_its_old_mail_is_not_collected(desk: Desk) -> None:
    await desk.write(lambda tx: mailboxes.create(tx, desk.account.id, "Work"))
    await desk.append("Work", mail("a"))
    await desk.append("Work", mail("b"))
    await desk.delete("Work", [1])
    box = desk.box("Work")
    await desk.write(lambda tx: mailboxes.delete(tx, box))
    assert (rows(desk, "destroyed"), desk.uids("All")) == (2, [])
    await desk.store.housekeeping.settle()
    assert (rows(desk, "email"), rows(desk, "thread")) == (0, 0)
