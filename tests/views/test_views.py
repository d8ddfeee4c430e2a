"""Action, Unread and All, case by case (PRODUCT section 2, DECISIONS 8, 9, 10)."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from mailstore import labels, mailboxes, views
from mailstore.events import Gone, Mail, Restored, Trashed
from mailstore.flags import FlagOp
from tests.store.helpers import Desk, mail, make_desk, open_store


async def request(desk: Desk, box: str = "INBOX") -> Any:
    """An open approval request."""
    return await desk.append(box, mail("Approve?", message_id="<r@x>"), labels=["open"])


async def label(desk: Desk, email: Any, on: Any) -> None:
    await desk.write(lambda tx: labels.set_label(tx, email, "open", on))


def told(desk: Desk, *kinds: Any) -> Any:
    return [type(event).__name__ for event in desk.events if isinstance(event, kinds or (Trashed, Gone, Restored))]


# All


@pytest.mark.parametrize("box", ["INBOX", "Archive", "Sent", "Agents/Assistant", "Work"])
async def test_all_shows_what_belongs_to_threads(desk: Desk, box: Any) -> None:
    await desk.write(lambda tx: mailboxes.create(tx, desk.account.id, "Work"))
    await desk.append(box)
    assert desk.uids("All") == [1]


@pytest.mark.parametrize("box", ["Drafts", "Trash", "Junk", "Activity", "Automations", "Memory"])
async def test_all_leaves_out_what_does_not(desk: Desk, box: Any) -> None:
    await desk.append(box)
    assert desk.uids("All") == []
    await desk.append("INBOX")
    await desk.move("INBOX", [1], box)
    assert desk.uids("All") == []


async def test_a_message_is_in_all_once_and_keeps_its_uid_wherever_it_is_filed(desk: Desk) -> None:
    await desk.append("INBOX")
    await desk.move("INBOX", [1], "Archive")
    await desk.move("Archive", [1], "INBOX")
    assert desk.uids("All") == [1]
    await desk.copy("INBOX", [2], "Archive")
    assert desk.uids("All") == [1, 2]  # an independent copy is its own message
    await desk.move("INBOX", [2], "Trash")
    await desk.move("Trash", [1], "INBOX")
    assert desk.uids("All") == [2, 3]  # it left and came back: never under an old UID


# Unread


async def test_unread_shows_unseen_mail_of_inbox_and_the_users_folders(desk: Desk) -> None:
    await desk.write(lambda tx: mailboxes.create(tx, desk.account.id, "Work"))
    for box in ("INBOX", "Work", "Archive", "Sent", "Drafts", "Junk", "Activity", "Agents/Assistant"):
        await desk.append(box, mail(box))
    await desk.append("INBOX", mail("read"), "\\Seen")
    assert desk.uids("Unread") == [1, 2]
    await desk.move("INBOX", [1], "Archive")
    await desk.flag("Archive", [1], "\\Seen", op=FlagOp.REMOVE)
    assert desk.uids("Unread") == [2]
    await desk.move("Archive", [1], "Work")
    assert desk.uids("Unread") == [2, 3]


async def test_read_mail_leaves_unread_at_once_when_nobody_looks(desk: Desk) -> None:
    await desk.append("INBOX")
    await desk.flag("INBOX", [1], "\\Seen")
    assert desk.uids("Unread") == []
    await desk.flag("INBOX", [1], "\\Seen", op=FlagOp.REMOVE)
    assert desk.uids("Unread") == [2]


async def test_a_message_read_while_unread_is_open_stays_until_it_is_reopened(desk: Desk) -> None:
    await desk.append("INBOX", mail("a"))
    await desk.append("INBOX", mail("b"))
    assert await desk.select("Unread", "phone") == [1, 2]
    await desk.flag("Unread", [1], "\\Seen")
    await desk.flag("INBOX", [2], "\\Seen")
    assert desk.uids("Unread") == [1, 2]
    assert await desk.select("Unread", "phone") == []


async def test_it_stays_for_whoever_has_looked_since_before_it_was_read(desk: Desk) -> None:
    await desk.append("INBOX", mail("a"))
    await desk.append("INBOX", mail("b"))
    await desk.select("Unread", "early")
    await desk.flag("INBOX", [1], "\\Seen")
    assert await desk.select("Unread", "late") == [1, 2]
    await desk.flag("INBOX", [2], "\\Seen")
    await desk.leave("Unread", "early")
    assert desk.uids("Unread") == [2]  # the late one came after a was read, and before b was
    await desk.leave("Unread", "late")
    assert desk.uids("Unread") == []


async def test_it_leaves_after_half_an_hour_whoever_looks(desk: Desk) -> None:
    await desk.append("INBOX")
    await desk.select("Unread", "forgotten")
    await desk.flag("INBOX", [1], "\\Seen")
    desk.clock.pass_minutes(29)
    await desk.store.sweep_overdue()
    assert desk.uids("Unread") == [1]
    desk.clock.pass_minutes(1)
    await desk.store.sweep_overdue()
    assert desk.uids("Unread") == []


async def test_the_half_hour_is_kept_by_a_timer(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "LINGER_MILLIS", 0)
    await desk.append("INBOX")
    await desk.select("Unread", "forgotten")
    left = asyncio.Event()
    desk.store.doorbell.subscribe(desk.box("Unread").id, lambda: left.set() if not desk.uids("Unread") else None)
    await desk.flag("INBOX", [1], "\\Seen")
    await asyncio.wait_for(left.wait(), 10)


async def test_it_becomes_unread_again_without_leaving(desk: Desk) -> None:
    await desk.append("INBOX")
    await desk.select("Unread", "phone")
    await desk.flag("Unread", [1], "\\Seen")
    await desk.flag("Unread", [1], "\\Seen", op=FlagOp.REMOVE)
    assert await desk.select("Unread", "phone") == [1]


async def test_what_lingers_leaves_when_it_is_filed_away(desk: Desk) -> None:
    await desk.append("INBOX")
    await desk.select("Unread", "phone")
    await desk.flag("Unread", [1], "\\Seen")
    await desk.move("Unread", [1], "Archive")
    assert desk.uids("Unread") == []


async def test_what_lingers_at_a_crash_has_left_after_the_start(tmp_path: Path, clock: Any) -> None:
    store = await open_store(tmp_path / "u", clock)
    desk = await make_desk(store, clock)
    await desk.append("INBOX")
    await desk.select("Unread", "phone")
    await desk.flag("INBOX", [1], "\\Seen")
    await store.close()
    store = desk.store = await open_store(tmp_path / "u", clock)
    assert desk.uids("Unread") == []
    assert await store.check() == []
    await store.close()


# Action


async def test_action_shows_open_requests_and_each_leaves_when_decided(desk: Desk) -> None:
    first = await request(desk)
    await desk.append("INBOX", mail("a notice"))
    assert desk.uids("Action") == [1]
    assert desk.email("Action", 1) == first.email
    await label(desk, first.email, False)
    assert desk.uids("Action") == []
    await label(desk, first.email, True)
    assert desk.uids("Action") == [2]
    await desk.write(lambda tx: labels.set_label(tx, first.email, "other", True))
    assert desk.read(lambda tx: labels.of(tx, first.email)) == ["open", "other"]


@pytest.mark.parametrize("box", ["Archive", "Junk", "Sent", "Agents/Assistant"])
async def test_filing_a_request_elsewhere_leaves_it_in_action(desk: Desk, box: Any) -> None:
    await request(desk)
    await desk.move("INBOX", [1], box)
    assert desk.uids("Action") == [1]
    assert told(desk) == []


async def test_moving_a_request_out_of_action_returns_it_under_a_new_uid(desk: Desk) -> None:
    await request(desk)
    moved = await desk.move("Action", [1], "Archive")
    assert (moved.source_uids, moved.target_uids) == ([1], [1])
    assert desk.uids("Archive") == [1]
    assert desk.uids("INBOX") == []
    assert desk.uids("Action") == [2]
    assert desk.uids("All") == [1]


async def test_a_request_in_trash_is_not_in_action_and_returns_if_still_open(desk: Desk) -> None:
    await request(desk)
    await desk.move("INBOX", [1], "Trash")
    assert desk.uids("Action") == []
    assert told(desk) == ["Trashed"]
    await desk.move("Trash", [1], "INBOX")
    assert desk.uids("Action") == [2]


@pytest.mark.parametrize("view", ["Action", "Unread", "All"])
async def test_expunging_in_a_view_moves_to_trash_and_destroys_nothing(desk: Desk, view: Any) -> None:
    one = await request(desk)
    assert await desk.delete(view, [1]) == [1]
    assert desk.uids("Trash") == [1]
    assert desk.email("Trash", 1) == one.email
    assert desk.flags("Trash", 1) == set()  # so that expunging Trash does not destroy it at once
    assert [desk.uids(name) for name in ("INBOX", "Action", "Unread", "All")] == [[], [], [], []]
    assert told(desk) == ["Trashed"]
    assert await desk.expunge("Trash") == []


async def test_a_request_filed_by_copy_and_expunge_stays_open(desk: Desk) -> None:
    """Clients without MOVE file so; who knew the first message's id still reaches it."""
    one = await request(desk)
    await desk.copy("INBOX", [1], "Archive")
    assert desk.uids("Action") == [1]
    await desk.delete("INBOX", [1])
    assert told(desk) == []
    assert desk.uids("Action") == [2]
    assert desk.email("Action", 2) == desk.email("Archive", 1)
    assert desk.read(lambda tx: labels.has(tx, one.email, "open"))
    await label(desk, one.email, False)
    assert desk.uids("Action") == []


async def test_a_request_filed_by_append_and_expunge_stays_open(desk: Desk) -> None:
    """Classic Outlook moves between accounts and folders so."""
    one = await request(desk)
    await desk.append("Archive", desk.raw("INBOX", 1))
    await desk.delete("INBOX", [1])
    assert desk.email("Action", 2) == desk.email("Archive", 1)
    await label(desk, one.email, False)
    assert desk.uids("Action") == []


async def test_destroying_a_request_is_told(desk: Desk) -> None:
    one = await request(desk)
    await desk.delete("INBOX", [1])
    assert desk.uids("Action") == []
    (gone,) = [event for event in desk.events if isinstance(event, Gone)]
    assert gone.mails == [Mail(one.email, one.thread, "<r@x>")]


async def test_a_subscriber_may_change_mail_in_the_transaction_that_tells_it(desk: Desk) -> None:
    """As the bridge rejects a request when it is trashed."""
    one = await request(desk)
    desk.store.on(Trashed, lambda tx, event: labels.set_label(tx, event.mails[0].email, "open", False))
    await desk.move("INBOX", [1], "Trash")
    await desk.move("Trash", [1], "INBOX")
    assert desk.uids("Action") == []
    assert desk.read(lambda tx: labels.of(tx, one.email)) == []


# Selecting and copying out of views


async def test_a_copy_out_of_a_view_is_independent(desk: Desk) -> None:
    await request(desk)
    await desk.flag("Action", [1], "\\Deleted")
    copied = await desk.copy("Action", [1], "Archive")
    assert copied.target_uids == [1]
    assert desk.flags("Archive", 1) == set()
    assert desk.uids("Action") == [1]
    assert desk.uids("All") == [1, 2]


async def test_moving_out_of_unread_to_where_it_was_gives_new_uids(desk: Desk) -> None:
    await desk.append("INBOX")
    moved = await desk.move("Unread", [1], "INBOX")
    assert moved.target_uids == [2]
    assert (desk.uids("INBOX"), desk.uids("Unread"), desk.uids("All")) == ([2], [2], [1])


async def test_views_of_large_mailboxes_move_together(desk: Desk) -> None:
    for n in range(300):
        await desk.append("INBOX", mail(str(n)))
    await desk.move("INBOX", list(range(1, 301, 2)), "Archive")
    assert len(desk.uids("Unread")) == 150
    assert desk.uids("All") == list(range(1, 301))
    await desk.flag("All", list(range(1, 301)), "\\Seen")
    assert desk.uids("Unread") == []
    await desk.move("All", list(range(1, 301)), "Trash")
    assert desk.uids("All") == []
    assert len(desk.uids("Trash")) == 300
