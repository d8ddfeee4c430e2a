"""Two accounts with the same mail: no key of one finds anything of the other's (DECISIONS 7)."""

from typing import Any

import pytest

from mailstore import accounts, flags, mailboxes, messages, threads
from mailstore.events import Gone
from mailstore.model import Role, ThreadKeys, View
from mailstore.query import EmailIdIs, Header, Text, ThreadIdIs
from tests.store.helpers import Desk, mail, make_desk

INDEX = "AAECAwQFBgcICQoLDA0ODxAREhMUFQ=="
RAW = mail("Shared subject", "Shared words", message_id="<same@x>", thread_index=INDEX)


@pytest.fixture
async def eve(store: Any, clock: Any, desk: Desk) -> Any:
    """The other account; both get the same bytes under the same keys."""
    eve = await make_desk(store, clock, "eve")
    mine = await desk.append("INBOX", RAW, "MyKeyword", key="delivery", labels=["open"])
    await desk.write(lambda tx: threads.alias(tx, desk.account.id, mine.thread, "code:A-7F3K"))
    return eve


def test_nothing_is_found_by_message_id(desk: Desk, eve: Any) -> None:
    assert eve.read(lambda tx: messages.by_message_id(tx, eve.account.id, "<same@x>")) == []


@pytest.mark.parametrize(
    "keys",
    [
        ThreadKeys(in_reply_to=("<same@x>",)),
        ThreadKeys(references=("<same@x>",)),
        ThreadKeys(thread_index=bytes(range(22))),
        ThreadKeys(code="A-7F3K"),
    ],
)
def test_a_thread_is_found_by_no_key(desk: Desk, eve: Any, keys: Any) -> None:
    assert desk.read(lambda tx: threads.find(tx, desk.account.id, keys)) is not None
    assert eve.read(lambda tx: threads.find(tx, eve.account.id, keys)) is None


async def test_the_same_bytes_are_messages_of_their_own(desk: Desk, eve: Any) -> None:
    theirs = await eve.append("INBOX", RAW)
    mine = desk.fetch("INBOX", [1])[0]
    row = eve.fetch("INBOX", [theirs.uid])[0]
    assert row.content == mine.content  # the bytes are kept once
    assert (row.email, row.thread, row.email_object_id) != (mine.email, mine.thread, mine.email_object_id)
    assert row.thread != mine.thread
    assert eve.uids("Action") == []
    await eve.flag("INBOX", [1], "\\Seen")
    assert "\\Seen" not in desk.flags("INBOX", 1)


async def test_a_delivery_key_is_the_accounts_own(desk: Desk, eve: Any) -> None:
    assert (await eve.append("INBOX", RAW, key="delivery")).created


async def test_keywords_of_an_account_that_was_removed_never_come_up_in_another(desk: Desk, eve: Any) -> None:
    hers = await eve.append("INBOX", RAW, "Hers")
    assert eve.store.index(eve.box("INBOX").id).flag_set(hers.uid).keywords == ("Hers",)
    await eve.write(lambda tx: accounts.remove(tx, eve.account.id))
    mine = await desk.append("INBOX", mail("Another"), "Mine")
    found = desk.store.index(desk.box("INBOX").id).flag_set(mine.uid)
    assert found is not None
    assert found.keywords == ("Mine",)
    assert desk.fetch("INBOX", [mine.uid])[0].keywords == ("Mine",)


async def test_keywords_are_spelled_as_each_account_likes(desk: Desk, eve: Any) -> None:
    await eve.append("INBOX", RAW, "MYKEYWORD")
    assert eve.flags("INBOX", 1) == {"MYKEYWORD"}
    assert desk.flags("INBOX", 1) == {"MyKeyword"}
    assert eve.read(lambda tx: flags.known(tx, eve.account.id)) == ["MYKEYWORD"]


async def test_changes_ring_and_count_only_in_their_account(desk: Desk, eve: Any) -> None:
    await eve.append("INBOX", RAW)
    before = eve.store.snapshot(eve.box("INBOX").id).highest_modseq
    rung = []
    for box in eve.read(lambda tx: mailboxes.all(tx, eve.account.id)):
        eve.store.doorbell.subscribe(box.id, lambda: rung.append(1))
    await desk.flag("INBOX", [1], "\\Flagged")
    await desk.copy("INBOX", [1], "Archive")
    await desk.delete("INBOX", [1])
    assert rung == []
    assert eve.store.snapshot(eve.box("INBOX").id).highest_modseq == before


async def test_deleting_everywhere_means_in_the_account(desk: Desk, eve: Any) -> None:
    await eve.append("INBOX", RAW)
    await desk.delete("INBOX", [1])
    assert isinstance(desk.events[-1], Gone)
    await desk.store.housekeeping.settle()
    assert eve.raw("INBOX", 1) == RAW


@pytest.mark.parametrize("indexed", [False, True])
async def test_search_finds_only_the_accounts_mail(desk: Desk, eve: Any, indexed: Any) -> None:
    if indexed:
        await desk.store.housekeeping.settle()
    mine = desk.fetch("INBOX", [1])[0]
    queries = [Text("shared words"), Header("subject", "shared"), EmailIdIs(mine.email_object_id),
               ThreadIdIs(mine.thread_object_id)]  # packed, to be seen at a glance  # fmt: skip
    for query in queries:
        assert await desk.store.search(desk.box("INBOX"), query) == [1]
        assert await eve.store.search(eve.box("INBOX"), query) == []


def test_mailboxes_and_roles_are_the_accounts_own(desk: Desk, eve: Any) -> None:
    for look in (
        lambda tx, account: mailboxes.find(tx, account, "INBOX"),
        lambda tx, account: mailboxes.by_role(tx, account, Role.TRASH),
        lambda tx, account: mailboxes.by_view(tx, account, View.ALL),
    ):
        mine = desk.read(lambda tx, look=look: look(tx, desk.account.id))
        theirs = eve.read(lambda tx, look=look: look(tx, eve.account.id))
        assert mine.id != theirs.id
        assert theirs.account == eve.account.id


async def test_removing_one_account_leaves_the_other_whole(desk: Desk, eve: Any) -> None:
    await eve.append("INBOX", RAW)
    await desk.write(lambda tx: accounts.remove(tx, desk.account.id))
    await desk.store.housekeeping.settle()
    assert eve.raw("INBOX", 1) == RAW
    assert eve.uids("All") == [1]
