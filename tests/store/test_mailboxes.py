"""Accounts and mailboxes: what is there at first, names, renaming, deleting, subscriptions."""

from pathlib import Path
from typing import Any

import pytest

from mailstore import accounts, mailboxes, messages
from mailstore.errors import AlreadyExists, BadName, CannotModify, HasChildren, NoSuchMailbox
from mailstore.events import Gone, Restored, Trashed
from mailstore.model import MailboxId, Role, View
from tests.store.helpers import Desk, mail, make_desk, open_store

STANDARD = [
    "INBOX", "Action", "Unread", "Drafts", "Sent", "Archive", "Junk", "Trash", "All", "Activity", "Automations",
    "Memory", "Agents", "Agents/Assistant",
]  # packed, to be seen at a glance  # fmt: skip


def names(desk: Desk) -> Any:
    return [box.name for box in desk.read(lambda tx: mailboxes.all(tx, desk.account.id))]


async def create(desk: Desk, name: str, **more: Any) -> Any:
    return await desk.write(lambda tx: mailboxes.create(tx, desk.account.id, name, **more))


async def rename(desk: Desk, old: Any, new: Any) -> Any:
    box = desk.box(old)
    return await desk.write(lambda tx: mailboxes.rename(tx, box, new))


async def delete(desk: Desk, name: str) -> None:
    box = desk.box(name)
    await desk.write(lambda tx: mailboxes.delete(tx, box))


async def test_an_account_begins_with_its_mailboxes(desk: Desk) -> None:
    boxes = {box.name: box for box in desk.read(lambda tx: mailboxes.all(tx, desk.account.id))}
    assert list(boxes) == STANDARD
    assert {box.special_use: name for name, box in boxes.items() if box.special_use} == {
        "\\Important": "Action", "\\Drafts": "Drafts", "\\Sent": "Sent", "\\Archive": "Archive", "\\Junk": "Junk",
        "\\Trash": "Trash", "\\All": "All",
    }  # packed, to be seen at a glance  # fmt: skip
    assert [name for name, box in boxes.items() if not box.subscribed] == ["All"]
    assert [name for name, box in boxes.items() if not box.selectable] == ["Agents"]
    assert {box.view: name for name, box in boxes.items() if box.view} == {
        View.ACTION: "Action", View.UNREAD: "Unread", View.ALL: "All"
    }  # packed, to be seen at a glance  # fmt: skip
    assert len({box.uidvalidity for box in boxes.values()}) == len(boxes)
    assert min(box.uidvalidity for box in boxes.values()) > 0


async def test_accounts_are_found_by_name_and_address_and_are_single(desk: Desk, store: Any) -> None:
    def find(login: Any, domain: Any = None) -> Any:
        found = desk.read(lambda tx: accounts.find(tx, login, domain))
        return found and found.name

    assert find("you") == find("YOU") == find("you@postroom.internal") == "you"
    assert find("you@other.example", "other.example") == "you"
    assert find("nobody") is None
    with pytest.raises(AlreadyExists):
        await make_desk(store, desk.clock, "You")
    assert [account.name for account in desk.read(accounts.all)] == ["you"]
    assert desk.read(lambda tx: accounts.get(tx, desk.account.id)) == desk.account


async def test_handover_folders_are_added_and_never_taken(desk: Desk) -> None:
    await desk.write(lambda tx: accounts.ensure_handover(tx, desk.account.id, ["Assistant", "Research"]))
    assert names(desk)[-2:] == ["Agents/Assistant", "Agents/Research"]
    assert desk.box("Agents/Research").role is Role.HANDOVER


async def test_inbox_is_found_in_any_case(desk: Desk) -> None:
    for name in ("inbox", "InBoX", "INBOX"):
        assert desk.box(name).name == "INBOX"
    assert (await create(desk, "inbox/Lists")).name == "INBOX/Lists"
    assert desk.read(lambda tx: mailboxes.find(tx, desk.account.id, "archive")) is None
    assert desk.read(lambda tx: mailboxes.find(tx, desk.account.id, "\ud800")) is None


async def test_create_makes_what_is_missing_above(desk: Desk) -> None:
    box = await create(desk, "Clients/Ärzte/2026/")
    assert box.name == "Clients/Ärzte/2026"
    assert names(desk)[-3:] == ["Clients", "Clients/Ärzte", "Clients/Ärzte/2026"]
    assert box.role is Role.USER
    with pytest.raises(AlreadyExists):
        await create(desk, "Clients")
    assert (await create(desk, "Archive/2026")).role is Role.ARCHIVE
    assert (await create(desk, "Mine", special_use="\\Archive")).special_use == "\\Archive"


@pytest.mark.parametrize("name", ["", "/", "a//b", "/a", "a\nb", "a\0", "x" * 1001, "\ud800"])
async def test_bad_names_are_refused(desk: Desk, name: str) -> None:
    with pytest.raises(BadName):
        await create(desk, name)


@pytest.mark.parametrize("name", ["Agents/Mine", "Agents/Assistant/x", "Action/x", "All/x", "Memory/x", "Activity/y/z"])
async def test_the_places_postroom_keeps_are_not_the_users(desk: Desk, name: str) -> None:
    with pytest.raises(CannotModify):
        await create(desk, name)
    await create(desk, "Work")
    with pytest.raises(CannotModify):
        await rename(desk, "Work", name)


async def test_a_name_is_found_in_its_composed_form_too_and_the_very_name_comes_first(desk: Desk) -> None:
    composed, apart = "Gr\u00fcn", "Gru\u0308n"
    made = await create(desk, composed)
    assert desk.box(apart).id == made.id
    with pytest.raises(AlreadyExists):
        await create(desk, apart)
    await desk.write(lambda tx: mailboxes.subscribe(tx, desk.account.id, composed, True))
    await desk.write(lambda tx: mailboxes.subscribe(tx, desk.account.id, apart, False))
    assert composed not in desk.read(lambda tx: mailboxes.subscriptions(tx, desk.account.id))
    await rename(desk, composed, "Rot")
    kept = await create(desk, apart)
    other = await create(desk, composed)
    assert (desk.box(apart).id, desk.box(composed).id) == (kept.id, other.id)


async def test_status_is_read_from_counters(desk: Desk) -> None:
    raw = mail("x")
    for words in ((), ("\\Seen",), ("\\Deleted",)):
        await desk.append("INBOX", raw, *words)
    status = desk.read(lambda tx: mailboxes.status(tx, desk.box("INBOX")))
    assert (status.messages, status.recent, status.unseen, status.deleted) == (3, 3, 2, 1)
    assert (status.size, status.deleted_size, status.uidnext) == (3 * len(raw), len(raw), 4)
    assert status.uidvalidity == desk.box("INBOX").uidvalidity
    with pytest.raises(NoSuchMailbox):
        desk.read(lambda tx: mailboxes.status(tx, MailboxId(999)))


async def test_rename_keeps_uids_and_uidvalidity_and_takes_children_along(desk: Desk) -> None:
    await create(desk, "Bots/x")
    before = desk.box("Bots/x")
    await desk.write(lambda tx: mailboxes.subscribe(tx, desk.account.id, "Bots/x", True))
    await desk.append("Bots/x")
    await rename(desk, "Bots", "Robots/old")
    after = desk.box("Robots/old/x")
    assert (after.id, after.uidvalidity, after.object_id) == (before.id, before.uidvalidity, before.object_id)
    assert desk.uids("Robots/old/x") == [1]
    assert "Bots" not in names(desk)
    subscribed = desk.read(lambda tx: mailboxes.subscriptions(tx, desk.account.id))
    assert "Robots/old/x" in subscribed
    assert "Bots/x" not in subscribed


async def test_rename_is_refused_where_it_would_hurt(desk: Desk) -> None:
    await create(desk, "Work")
    await create(desk, "Other")
    with pytest.raises(AlreadyExists):
        await rename(desk, "Work", "Other")
    with pytest.raises(AlreadyExists):
        await rename(desk, "Work", "inbox")
    with pytest.raises(CannotModify):
        await rename(desk, "Work", "Work/below")
    for name in STANDARD[1:]:
        with pytest.raises(CannotModify):
            await rename(desk, name, "Elsewhere")
    assert {"Work", "Other"} <= set(names(desk))


async def test_rename_of_inbox_moves_its_mail(desk: Desk) -> None:
    await create(desk, "INBOX/Lists")
    for n in range(3):
        await desk.append("INBOX", mail(str(n)))
    await rename(desk, "INBOX", "old-mail")
    assert desk.uids("old-mail") == [1, 2, 3]
    assert desk.uids("INBOX") == []
    assert "INBOX/Lists" in names(desk)
    assert (await desk.append("INBOX", mail("new"))).uid == 4


async def test_a_folder_renamed_into_trash_is_in_trash_and_back(desk: Desk) -> None:
    """Thunderbird deletes a folder so."""
    await create(desk, "Work")
    one = await desk.append("Work")
    assert desk.uids("Unread") == [1]
    await rename(desk, "Work", "Trash/Work")
    assert desk.box("Trash/Work").role is Role.TRASH
    assert (desk.uids("Unread"), desk.uids("All")) == ([], [])
    assert desk.read(lambda tx: mailboxes.by_role(tx, desk.account.id, Role.TRASH)).name == "Trash"
    await rename(desk, "Trash/Work", "Work")
    assert (desk.uids("Unread"), desk.uids("All")) == ([2], [2])
    assert [type(event) for event in desk.events[1:]] == [Trashed, Restored]
    assert [[mail.email for mail in event.mails] for event in desk.events[1:]] == [[one.email], [one.email]]


async def test_delete_destroys_the_mail_and_tells_so(desk: Desk) -> None:
    await create(desk, "Work")
    one = await desk.append("Work")
    await delete(desk, "Work")
    assert "Work" not in names(desk)
    assert desk.uids("All") == []
    assert [[mail.email for mail in event.mails] for event in desk.events if isinstance(event, Gone)] == [[one.email]]


async def test_a_name_made_again_is_never_taken_for_the_old_one(desk: Desk) -> None:
    """Even when the clock stands still, or a mailbox of the same name comes by renaming."""
    # req 2.3.1.1-validity-rises
    # req rfc9051/2.3.1.1-validity-rises
    seen = set()
    for _ in range(3):
        seen.add((await create(desk, "t")).uidvalidity)
        await delete(desk, "t")
    await create(desk, "u")
    seen.add((await rename(desk, "u", "t")).uidvalidity)
    assert len(seen) == 4
    assert max(seen) == desk.box("t").uidvalidity


async def test_delete_of_a_parent_leaves_its_name(desk: Desk) -> None:
    await create(desk, "a/b")
    await desk.append("a")
    old = desk.box("a").uidvalidity
    await delete(desk, "a")
    assert not desk.box("a").selectable
    assert desk.uids("All") == []
    with pytest.raises(HasChildren):
        await delete(desk, "a")
    again = await create(desk, "a")
    assert again.selectable
    assert again.uidvalidity != old
    await delete(desk, "a/b")
    await delete(desk, "a")
    assert "a" not in names(desk)


async def test_postrooms_own_mailboxes_cannot_be_deleted(desk: Desk) -> None:
    for name in STANDARD:
        with pytest.raises(CannotModify):
            await delete(desk, name)
    await create(desk, "Archive/2026")
    await delete(desk, "Archive/2026")
    assert names(desk) == STANDARD


async def test_subscriptions_may_name_what_is_gone(desk: Desk) -> None:
    await create(desk, "Work")
    for name in ("Work", "nowhere", "INBOX"):
        await desk.write(lambda tx, name=name: mailboxes.subscribe(tx, desk.account.id, name, True))
    await delete(desk, "Work")
    await desk.write(lambda tx: mailboxes.subscribe(tx, desk.account.id, "inbox", False))
    subscribed = desk.read(lambda tx: mailboxes.subscriptions(tx, desk.account.id))
    assert {"Work", "nowhere"} <= set(subscribed)
    assert "INBOX" not in subscribed
    assert not desk.box("INBOX").subscribed


async def test_uidvalidity_and_uids_survive_a_restart(tmp_path: Path, clock: Any) -> None:
    store = await open_store(tmp_path / "again", clock)
    desk = await make_desk(store, clock)
    await desk.append("INBOX")
    before = [(box.name, box.uidvalidity) for box in desk.read(lambda tx: mailboxes.all(tx, desk.account.id))]
    await store.close()
    store = desk.store = await open_store(tmp_path / "again", clock)
    after = [(box.name, box.uidvalidity) for box in desk.read(lambda tx: mailboxes.all(tx, desk.account.id))]
    assert before == after
    assert desk.uids("INBOX") == [1]
    assert (await desk.append("INBOX")).uid == 2
    assert await store.check() == []
    await store.close()


async def test_an_account_is_removed_with_all_it_has(desk: Desk, store: Any, clock: Any) -> None:
    other = await make_desk(store, clock, "eve")
    shared = mail("shared bytes")
    await other.append("INBOX", shared, "kw", key="k", labels=["open"])
    await desk.append("INBOX", shared)
    await store.write(lambda tx: accounts.remove(tx, other.account.id))
    await store.housekeeping.settle()
    assert [account.name for account in desk.read(accounts.all)] == ["you"]
    assert desk.raw("INBOX", 1) == shared
    for table in ("mailboxes", "email", "thread", "log", "keyword", "delivery", "subscription"):
        count = desk.read(
            lambda tx, table=table: tx._connection.execute(
                f"SELECT count(*) FROM {table} WHERE account = ?", (other.account.id,)
            ).fetchone()[0]
        )
        assert count == 0, table
    assert desk.read(lambda tx: messages.by_message_id(tx, other.account.id, "x")) == []
