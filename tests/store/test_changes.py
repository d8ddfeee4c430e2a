"""The change log, the index in memory that follows it, and the doorbell."""

from collections.abc import Callable
from typing import Any

import pytest

from mailstore import annotations, changes, mailboxes
from mailstore.errors import NoSuchMailbox
from mailstore.model import ModSeq, Uid
from tests.store.helpers import Desk, mail


def since(desk: Desk, name: str, modseq: Any) -> Any:
    return desk.read(lambda tx: changes.since(tx, desk.box(name), modseq))


def snapshot(desk: Desk, name: str) -> Any:
    return desk.read(lambda tx: changes.snapshot(tx, desk.box(name)))


async def fill(desk: Desk, number: Any, name: str = "INBOX") -> None:
    for n in range(number):
        await desk.append(name, mail(str(n)))


async def test_since_tells_what_happened_folded(desk: Desk) -> None:
    await fill(desk, 5)
    start = snapshot(desk, "INBOX").highest_modseq
    await desk.flag("INBOX", [1, 2], "\\Seen")
    await desk.flag("INBOX", [2, 3], "\\Flagged")
    await desk.delete("INBOX", [3])
    await desk.append("INBOX", mail("came and stays"))
    await desk.append("INBOX", mail("came and went"))
    await desk.flag("INBOX", [6], "\\Seen")
    await desk.move("INBOX", [7], "Archive")
    delta = since(desk, "INBOX", start)
    assert (delta.arrived, delta.gone, delta.changed) == ([6], [3], [1, 2])
    assert delta.highest == snapshot(desk, "INBOX").highest_modseq
    nothing = since(desk, "INBOX", delta.highest)
    assert (nothing.arrived, nothing.gone, nothing.changed, nothing.highest) == ([], [], [], delta.highest)


async def test_every_change_raises_the_modseq_of_the_mailboxes_it_concerns_and_no_other(desk: Desk) -> None:
    await fill(desk, 3)
    names = ("INBOX", "All", "Unread", "Archive", "Trash", "Drafts")

    def positions() -> Any:
        return {name: snapshot(desk, name).highest_modseq for name in names}

    async def moved_by(change: Any) -> Any:
        before = positions()
        await change
        after = positions()
        assert all(after[name] >= before[name] for name in names)
        return {name for name in names if after[name] > before[name]}

    assert await moved_by(desk.append("Drafts")) == {"Drafts"}
    assert await moved_by(desk.flag("INBOX", [1], "\\Flagged")) == {"INBOX", "All", "Unread"}
    assert await moved_by(desk.flag("INBOX", [1], "\\Deleted")) == {"INBOX"}
    assert await moved_by(desk.move("INBOX", [2], "Archive")) == {"INBOX", "Archive", "Unread"}
    assert await moved_by(desk.expunge("INBOX")) == {"INBOX", "All", "Unread"}
    assert await moved_by(desk.copy("Archive", [1], "Trash")) == {"Trash"}


async def test_the_snapshot_in_memory_is_the_one_on_disk(desk: Desk) -> None:
    await fill(desk, 4)
    for step in range(4):
        await desk.flag("INBOX", [1 + step], "\\Seen")
        if step == 1:
            await desk.delete("INBOX", [3])
        assert desk.store.snapshot(desk.box("INBOX").id) == snapshot(desk, "INBOX")
    assert snapshot(desk, "INBOX").first_unseen is None
    assert snapshot(desk, "Drafts").first_unseen is None
    await desk.append("INBOX")
    assert desk.store.snapshot(desk.box("INBOX").id).first_unseen == 5


async def test_a_list_of_uids_once_given_never_changes(desk: Desk) -> None:
    await fill(desk, 3)
    held = desk.store.snapshot(desk.box("INBOX").id).uids
    again = desk.store.snapshot(desk.box("INBOX").id).uids
    assert again is held  # sessions share it
    await desk.append("INBOX")
    await desk.delete("INBOX", [1])
    assert list(held) == [1, 2, 3]
    assert desk.uids("INBOX") == [2, 3, 4]


async def test_the_index_answers_for_one_and_for_many(desk: Desk) -> None:
    await fill(desk, 6)
    index: Any = await desk.store.load_index(desk.box("INBOX").id)
    assert id(index) == id(desk.store.index(desk.box("INBOX").id))
    await desk.flag("INBOX", [2, 4], "\\Seen")
    await desk.delete("INBOX", [5])
    for uids in ([], [1], [1, 2, 3, 4, 6], [2, 3, 4], [1, 3, 6], [4, 5, 6], [5], [6, 7], [99]):
        assert index.flag_sets(uids) == [index.flag_set(uid) for uid in uids]
        assert index.modseqs(uids) == [index.modseq(uid) for uid in uids]
    assert [each and each.bits for each in index.flag_sets([1, 2, 5])] == [0, 1, None]
    assert index.flag_sets(index.uids) == index.flag_sets(list(index.uids))
    assert index.changed_since(index.modseq(4) - 1) == [2, 4]
    assert index.highest_modseq == snapshot(desk, "INBOX").highest_modseq


async def test_a_change_of_everything_is_followed_too(desk: Desk) -> None:
    await fill(desk, 400)
    index: Any = desk.store.index(desk.box("INBOX").id)
    assert len(index.uids) == 400
    await desk.flag("INBOX", list(range(1, 401)), "\\Seen")
    assert {each.bits for each in index.flag_sets(list(index.uids))} == {1}
    await desk.move("INBOX", list(range(2, 401)), "Trash")
    assert list(index.uids) == [1]


async def test_the_doorbell_rings_once_a_commit_after_it_and_stops_when_told(desk: Desk) -> None:
    heard = []
    box = desk.box("INBOX")
    stop = desk.store.doorbell.subscribe(box.id, lambda: heard.append(desk.uids("INBOX")))
    await desk.append("INBOX")
    assert heard == [[1]]

    def both(tx: Any) -> None:
        from mailstore import flags
        from mailstore.flags import FlagOp

        flags.store(tx, box, [Uid(1)], FlagOp.ADD, ["\\Seen"])
        flags.store(tx, box, [Uid(1)], FlagOp.ADD, ["\\Flagged"])

    await desk.write(both)
    assert len(heard) == 2
    stop()
    stop()
    await desk.append("INBOX")
    assert len(heard) == 2


async def test_who_listens_everywhere_hears_of_mail_names_subscriptions_and_notes(desk: Desk) -> None:
    heard: list[frozenset[Any]] = []
    stop = desk.store.doorbell.subscribe_everywhere(heard.append)
    account, box = desk.box("INBOX").account, desk.box("INBOX")
    await desk.append("INBOX")
    assert box.id in heard.pop()
    made = await desk.write(lambda tx: mailboxes.create(tx, account, "New/Folder"))
    assert made.id in heard.pop()
    await desk.write(lambda tx: mailboxes.rename(tx, made, "New/Name"))
    assert heard.pop() == {made.id}
    await desk.write(lambda tx: mailboxes.subscribe(tx, account, "New/Name", True))
    assert heard.pop() == {made.id}
    await desk.write(lambda tx: mailboxes.subscribe(tx, account, "Nowhere", True))
    assert heard.pop() == frozenset()
    await desk.write(lambda tx: annotations.put(tx, account, made, {"/private/comment": b"x"}))
    assert heard.pop() == {made.id}
    await desk.write(lambda tx: annotations.put(tx, account, None, {"/private/comment": b"x"}))
    assert heard.pop() == frozenset()
    await desk.write(lambda tx: mailboxes.delete(tx, made))
    assert heard.pop() == {made.id}
    stop()
    stop()
    await desk.append("INBOX")
    assert heard == []


async def test_a_change_that_fails_rings_nobody_and_leaves_the_index_alone(desk: Desk) -> None:
    heard = []
    desk.store.doorbell.subscribe(desk.box("INBOX").id, lambda: heard.append(1))
    prepared, box = desk.store.prepare(mail()), desk.box("INBOX")

    def fail(tx: Any) -> None:
        from mailstore import messages

        messages.append(tx, box, prepared)
        raise RuntimeError("after the append")

    with pytest.raises(RuntimeError):
        await desk.write(fail)
    assert heard == []
    assert desk.uids("INBOX") == []


async def test_expunged_since_gives_ranges(desk: Desk) -> None:
    await fill(desk, 9)
    start = snapshot(desk, "INBOX").highest_modseq
    await desk.delete("INBOX", [2, 3])
    await desk.delete("INBOX", [4, 8])

    def expunged(modseq: Any) -> Any:
        return desk.read(lambda tx: changes.expunged_since(tx, desk.box("INBOX"), modseq))

    assert expunged(start) == [(2, 4), (8, 8)]
    assert expunged(snapshot(desk, "INBOX").highest_modseq) == []


async def test_the_log_is_kept_ninety_days_and_then_everything_missing_is_told(desk: Desk) -> None:
    await fill(desk, 5)
    start = snapshot(desk, "INBOX").highest_modseq
    await desk.delete("INBOX", [2])
    desk.clock.pass_minutes(60 * 24 * 60)
    await desk.delete("INBOX", [4])
    middle = snapshot(desk, "INBOX").highest_modseq

    async def prune() -> None:
        await desk.write(lambda tx: changes.prune(tx, desk.account.id))

    await prune()
    assert since(desk, "INBOX", start).gone == [2, 4]
    desk.clock.pass_minutes(60 * 24 * 31)
    await desk.flag("INBOX", [5], "\\Seen")
    await prune()
    old = since(desk, "INBOX", start)
    assert (old.complete, old.changed) == (False, [5])
    assert desk.read(lambda tx: changes.expunged_since(tx, desk.box("INBOX"), start)) == [(2, 2), (4, 4)]
    assert desk.read(lambda tx: changes.expunged_since(tx, desk.box("INBOX"), ModSeq(0))) == [(2, 2), (4, 4)]
    recent = since(desk, "INBOX", middle)
    assert (recent.complete, recent.changed) == (True, [5])
    assert desk.uids("INBOX") == [1, 3, 5]


async def test_a_deleted_mailbox_is_told_as_gone(desk: Desk) -> None:
    await desk.write(lambda tx: mailboxes.create(tx, desk.account.id, "Work"))
    box = desk.box("Work")
    await desk.append("Work")
    index: Any = desk.store.index(box.id)
    assert list(index.uids) == [1]
    heard = []
    desk.store.doorbell.subscribe(box.id, lambda: heard.append(1))
    await desk.write(lambda tx: mailboxes.delete(tx, box))
    assert heard == [1]
    asks: list[Callable[[], Any]] = [
        lambda: since(desk, "Work", 0),
        lambda: index.uids,
        lambda: desk.store.snapshot(box.id),
    ]
    for ask in asks:
        with pytest.raises((NoSuchMailbox, AssertionError)):
            ask()


async def test_indexes_are_given_up_but_for_mailboxes_that_somebody_has_open(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mailstore.store._INDEXES", 2)
    boxes = [desk.box(name).id for name in ("INBOX", "Archive", "Junk", "Trash", "Sent")]
    leave = desk.store.doorbell.subscribe(boxes[0], lambda: None)
    opened = await desk.store.load_index(boxes[0])
    first = await desk.store.load_index(boxes[1])
    for box in boxes[2:]:
        await desk.store.load_index(box)
    assert len(desk.store._indexes) == 2
    assert desk.store.index(boxes[0]) is opened
    await fill(desk, 1, "Archive")
    again = desk.store.index(boxes[1])
    assert again is not first
    assert list(again.uids) == [1]
    leave()
    await desk.store.load_index(boxes[2])
    assert boxes[0] not in desk.store._indexes
