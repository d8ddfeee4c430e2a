"""One copy of each sent mail, in every order (DECISIONS 11; the cases sent-*, draft-*)."""

import itertools
from typing import Any

import pytest

from mailstore import labels, messages
from mailstore.events import Gone
from tests.store.helpers import Desk, mail, make_desk

ID = "<m1@client>"
DATE = "Mon, 30 Nov 2026 10:00:00 +0100"


def letter(body: str = "Please summarise.", *, message_id: str = ID, date: str = DATE, **more: Any) -> Any:
    return mail("Notes", body, message_id=message_id, date=date, **more)


async def submit(desk: Desk, raw: bytes, **more: Any) -> Any:
    """The server files its own copy."""
    return await desk.append("Sent", raw, "\\Seen", submitted=True, **more)


async def client(desk: Desk, raw: bytes, *words: Any) -> Any:
    """A mail client appends its copy."""
    return await desk.append("Sent", raw, *(words or ("\\Seen",)))


async def test_sent_01_the_clients_copy_is_the_servers(desk: Desk) -> None:
    ours = await submit(desk, letter())
    theirs = await client(desk, letter())
    assert (theirs.uid, theirs.email, theirs.created) == (ours.uid, ours.email, False)
    assert desk.uids("Sent") == [1]
    assert desk.uids("All") == [1]


async def test_sent_01_append_before_the_250(desk: Desk) -> None:
    theirs = await client(desk, letter())
    ours = await submit(desk, letter(), key="submission-1")
    assert (ours.uid, ours.created) == (theirs.uid, False)
    assert desk.uids("Sent") == [1]
    assert (await submit(desk, letter(), key="submission-1")).uid == theirs.uid


async def test_different_bytes_the_clients_copy_stays(desk: Desk) -> None:
    """The client's copy has the Bcc that the submitted one has not."""
    ours = await submit(desk, letter(), labels=["note"])
    with_bcc = letter(bcc="secret@example.org")
    theirs = await client(desk, with_bcc)
    assert theirs.created
    assert theirs.uid == 2
    assert desk.uids("Sent") == [2]
    assert desk.raw("Sent", 2) == with_bcc
    assert theirs.thread == ours.thread
    assert [event for event in desk.events if isinstance(event, Gone)] == []
    assert desk.read(lambda tx: labels.has(tx, ours.email, "note"))
    assert desk.read(lambda tx: messages.locate(tx, ours.email))[0][1] == 2


async def test_different_bytes_append_before_the_250(desk: Desk) -> None:
    with_bcc = letter(bcc="secret@example.org")
    theirs = await client(desk, with_bcc)
    ours = await submit(desk, letter())
    assert (ours.uid, ours.created) == (theirs.uid, False)
    assert desk.raw("Sent", 1) == with_bcc


async def test_sent_02_other_message_id_same_letter(desk: Desk) -> None:
    ours = await submit(desk, letter(message_id="<A@server>"))
    theirs = await client(desk, letter(message_id="<B@client>", date="Mon, 30 Nov 2026 09:01:30 +0000"))
    assert theirs.created
    assert desk.uids("Sent") == [2]
    assert theirs.thread == ours.thread


@pytest.mark.parametrize(
    "change",
    [
        {"date": "Mon, 30 Nov 2026 10:02:01 +0100"},
        {"body": "Other words."},
        {"to": "other@postroom.internal"},
        {"from": "Eve <eve@example.org>"},
    ],
)
async def test_sent_02_if_unsure_both_stay(desk: Desk, change: Any) -> None:
    await submit(desk, letter(message_id="<A@server>"))
    await client(desk, letter(message_id="<B@client>", **change))
    assert desk.uids("Sent") == [1, 2]


async def test_two_that_a_client_appends_are_two(desk: Desk) -> None:
    await client(desk, letter())
    await client(desk, letter())
    assert desk.uids("Sent") == [1, 2]


async def test_every_order_of_two_letters_with_and_without_bcc_ends_with_one_copy_each(desk: Desk) -> None:
    bcc = {"<1@x>": {}, "<2@x>": {"bcc": "b@example.org"}}
    steps = [(who, message_id) for who in ("client", "server") for message_id in bcc]
    for number, order in enumerate(itertools.permutations(steps)):
        for who, message_id in order:
            unique = message_id.replace("@", f".{number}@")
            if who == "client":
                await client(desk, letter(f"Order {number}", message_id=unique, **bcc[message_id]))
            else:
                await submit(desk, letter(f"Order {number}", message_id=unique))
        kept = [desk.raw("Sent", uid) for uid in desk.uids("Sent")[-2:]]
        assert len(desk.uids("Sent")) == 2 * (number + 1), order
        assert sum(b"Bcc: b@example.org" in raw for raw in kept) == 1, order


async def test_the_second_comers_seen_goes_onto_the_one_that_stays(desk: Desk) -> None:
    await desk.append("Sent", letter(), submitted=True)
    await client(desk, letter(), "\\Seen", "kw")
    assert "\\Seen" in desk.flags("Sent", 1)


async def test_a_copy_that_was_filed_away_is_not_sought(desk: Desk) -> None:
    await submit(desk, letter())
    await desk.move("Sent", [1], "Archive")
    assert (await client(desk, letter())).created
    assert (desk.uids("Sent"), desk.uids("Archive")) == ([2], [1])


async def test_matching_is_by_account_and_only_in_sent(desk: Desk, store: Any, clock: Any) -> None:
    eve = await make_desk(store, clock, "eve")
    await submit(eve, letter())
    assert (await client(desk, letter())).created
    await desk.append("INBOX", letter())
    await desk.append("Archive", letter())
    assert (desk.uids("INBOX"), desk.uids("Archive"), eve.uids("Sent")) == ([1], [1], [1])


async def test_draft_02_drafts_are_kept_byte_for_byte_beside_the_sent_mail(desk: Desk) -> None:
    draft = letter(x_mozilla_draft_info="internal/draft; vcard=0", bcc="b@example.org", fcc="imap://you/Sent")
    first = await desk.append("Drafts", draft, "\\Draft")
    again = await desk.append("Drafts", draft, "\\Draft")
    await submit(desk, letter())
    assert (first.uid, again.uid) == (1, 2)
    assert desk.raw("Drafts", 1) == draft
    assert desk.uids("Sent") == [1]


async def test_draft_03_the_draft_flag_is_the_clients(desk: Desk) -> None:
    await desk.append("Drafts", letter(), "\\Draft")
    await desk.move("Drafts", [1], "Sent")
    assert desk.flags("Sent", 1) == {"\\Draft"}
    assert (await desk.append("Drafts", letter(), "\\Draft")).uid == 2
