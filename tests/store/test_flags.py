"""Flags and keywords: what is shared, what belongs to one placement, and what each change tells."""

from functools import partial
from typing import Any

import pytest

from mailstore import changes, flags, keywords
from mailstore.errors import BadFlag, QuotaOver
from mailstore.flags import FlagOp
from mailstore.model import ModSeq
from tests.store.helpers import Desk, mail


def since(desk: Desk, name: str, modseq: Any) -> Any:
    return desk.read(lambda tx: changes.since(tx, desk.box(name), modseq))


def modseq(desk: Desk, name: str) -> Any:
    return desk.store.snapshot(desk.box(name).id).highest_modseq


async def test_add_remove_replace(desk: Desk) -> None:
    await desk.append("INBOX", mail(), "\\Seen", "one")
    await desk.flag("INBOX", [1], "\\Flagged", "two")
    assert desk.flags("INBOX", 1) == {"\\Seen", "\\Flagged", "one", "two"}
    await desk.flag("INBOX", [1], "\\Seen", "ONE", op=FlagOp.REMOVE)
    assert desk.flags("INBOX", 1) == {"\\Flagged", "two"}
    await desk.flag("INBOX", [1], "\\Draft", op=FlagOp.REPLACE)
    assert desk.flags("INBOX", 1) == {"\\Draft"}
    await desk.flag("INBOX", [1], op=FlagOp.REPLACE)
    assert desk.flags("INBOX", 1) == set()


async def test_flags_are_shared_with_views_but_deleted_is_of_one_place(desk: Desk) -> None:
    await desk.append("INBOX")
    await desk.flag("All", [1], "\\Flagged", "\\Deleted", "kw")
    assert desk.flags("INBOX", 1) == {"\\Flagged", "kw"}
    assert desk.flags("Unread", 1) == {"\\Flagged", "kw"}
    assert desk.flags("All", 1) == {"\\Flagged", "kw", "\\Deleted"}
    assert await desk.expunge("INBOX") == []


async def test_a_change_is_told_to_every_mailbox_that_shows_the_message(desk: Desk) -> None:
    await desk.append("INBOX")
    await desk.append("INBOX", mail("other"))
    before = {name: modseq(desk, name) for name in ("INBOX", "All", "Unread", "Archive")}
    rung: list[str] = []
    for name in before:
        desk.store.doorbell.subscribe(desk.box(name).id, partial(rung.append, name))
    stored = await desk.flag("INBOX", [1], "\\Flagged")
    assert stored.changed == [1]
    assert sorted(rung) == ["All", "INBOX", "Unread"]
    for name in ("INBOX", "All", "Unread"):
        assert since(desk, name, before[name]).changed == [1]
    assert since(desk, "Archive", before["Archive"]).changed == []


async def test_what_does_not_change_is_not_told(desk: Desk) -> None:
    await desk.append("INBOX", mail(), "\\Seen", "Kw")
    before = modseq(desk, "INBOX")
    rung: list[int] = []
    desk.store.doorbell.subscribe(desk.box("INBOX").id, lambda: rung.append(1))
    stored = await desk.flag("INBOX", [1, 77], "\\Seen", "kW")
    assert (stored.changed, stored.modified) == ([], [])
    assert modseq(desk, "INBOX") == before
    assert rung == []


async def test_one_store_is_one_modseq(desk: Desk) -> None:
    for n in range(5):
        await desk.append("INBOX", mail(str(n)))
    await desk.flag("INBOX", [2, 3, 5], "\\Flagged", "\\Deleted")
    rows = desk.fetch("INBOX", [1, 2, 3, 4, 5])
    assert len({row.modseq for row in rows if row.uid in (2, 3, 5)}) == 1
    assert rows[1].modseq == modseq(desk, "INBOX")
    assert rows[0].modseq < rows[1].modseq


async def test_unchanged_since_leaves_alone_what_changed_meanwhile(desk: Desk) -> None:
    for n in range(3):
        await desk.append("INBOX", mail(str(n)))
    seen_at = modseq(desk, "INBOX")
    await desk.flag("INBOX", [2], "\\Answered")
    stored = await desk.flag("INBOX", [1, 2, 3], "\\Flagged", unchanged_since=seen_at)
    assert (stored.changed, stored.modified) == ([1, 3], [2])
    assert desk.flags("INBOX", 2) == {"\\Answered"}
    none = await desk.flag("INBOX", [1, 2, 3], "\\Draft", unchanged_since=ModSeq(0))
    assert (none.changed, none.modified) == ([], [1, 2, 3])


async def test_a_change_of_deleted_counts_for_unchanged_since_in_its_own_mailbox_only(desk: Desk) -> None:
    await desk.append("INBOX")
    seen_at = modseq(desk, "INBOX")
    await desk.flag("INBOX", [1], "\\Deleted")
    assert (await desk.flag("INBOX", [1], "\\Flagged", unchanged_since=seen_at)).modified == [1]
    assert (await desk.flag("All", [1], "\\Flagged", unchanged_since=seen_at)).changed == [1]


async def test_keywords_keep_the_spelling_they_first_had(desk: Desk) -> None:
    await desk.append("INBOX", mail("a"), "$Forwarded")
    await desk.append("INBOX", mail("b"), "$FORWARDED", "nonjunk")
    await desk.flag("INBOX", [1], "NonJunk")
    assert desk.flags("INBOX", 1) == {"$Forwarded", "nonjunk"}
    assert desk.read(lambda tx: flags.known(tx, desk.account.id)) == ["$Forwarded", "nonjunk"]


async def test_the_same_flags_are_the_same_set(desk: Desk) -> None:
    await desk.append("INBOX", mail("a"), "b", "a", "\\Seen")
    await desk.append("INBOX", mail("b"), "a", "b", "\\Seen")
    await desk.append("INBOX", mail("c"), "a", "\\Seen")
    index: Any = desk.store.index(desk.box("INBOX").id)
    assert index.flag_set(1) is index.flag_set(2)
    assert index.flag_set(3).keywords == ("a",)
    assert index.flag_set(4) is None


@pytest.mark.parametrize("word", ["\\*", "\\Custom", "two words", "(", "", "ü", "x" * 200, 'a"b', "a]"])
async def test_a_flag_that_cannot_be_is_refused_and_nothing_changes(desk: Desk, word: str) -> None:
    await desk.append("INBOX")
    with pytest.raises(BadFlag):
        await desk.flag("INBOX", [1], "\\Seen", word)
    with pytest.raises(BadFlag):
        await desk.append("INBOX", mail("x"), word)
    assert desk.flags("INBOX", 1) == set()
    assert desk.uids("INBOX") == [1]


async def test_recent_cannot_be_set_and_is_passed_over(desk: Desk) -> None:
    await desk.append("INBOX", mail(), "\\Recent", "\\Seen")
    await desk.flag("INBOX", [1], "\\Recent")
    assert desk.flags("INBOX", 1) == {"\\Seen"}


async def test_many_keywords_and_their_limit(desk: Desk) -> None:
    await desk.append("INBOX")
    for n in range(keywords.MAX_KEYWORDS // 64):
        await desk.flag("INBOX", [1], *(f"k{n}-{m}" for m in range(64)))
    assert len(desk.flags("INBOX", 1)) == keywords.MAX_KEYWORDS
    with pytest.raises(QuotaOver):
        await desk.flag("INBOX", [1], "one-more")
    await desk.flag("INBOX", [1], "K0-1", op=FlagOp.REMOVE)


async def test_recent_is_claimed_once(desk: Desk) -> None:
    inbox = desk.box("INBOX")

    def claim(tx: Any) -> Any:
        return flags.claim_recent(tx, inbox)

    assert await desk.write(claim) is None
    await desk.append("INBOX", mail("a"))
    await desk.append("INBOX", mail("b"))
    assert desk.store.snapshot(inbox.id).recent == 2
    assert await desk.write(claim) == (1, 2)
    assert await desk.write(claim) is None
    assert desk.store.snapshot(inbox.id).recent == 0
    await desk.append("INBOX", mail("c"))
    await desk.delete("INBOX", [3])
    assert desk.store.snapshot(inbox.id).recent == 0
    assert await desk.write(claim) is None


async def test_set_keywords_follows_a_message_that_was_filed(desk: Desk) -> None:
    one = await desk.append("INBOX", mail(), "old")
    await desk.write(lambda tx: flags.set_keywords(tx, one.email, add=["$Approved"], remove=["OLD"]))
    assert desk.flags("INBOX", 1) == {"$Approved"}
    await desk.copy("INBOX", [1], "Archive")
    await desk.delete("INBOX", [1])
    await desk.write(lambda tx: flags.set_keywords(tx, one.email, add=["$Done"]))
    assert desk.flags("Archive", 1) == {"$Approved", "$Done"}
    await desk.delete("Archive", [1])
    await desk.write(lambda tx: flags.set_keywords(tx, one.email, add=["$Late"]))
