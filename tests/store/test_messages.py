"""Appending, copying, moving, removing and reading messages, through the public face."""

import hashlib
from typing import Any

import pytest

from mailstore import mailboxes, messages, threads
from mailstore.errors import CannotModify, NoSuchMailbox, StoreError
from mailstore.events import Arrived, Gone, Mail, Restored, Trashed
from mailstore.model import ContentId, ThreadId, ThreadKeys, Uid
from tests.store.helpers import Desk, mail


def told(desk: Desk, kind: Any) -> Any:
    return [event for event in desk.events if isinstance(event, kind)]


async def test_an_appended_message_comes_back_byte_for_byte(desk: Desk) -> None:
    raw = mail("Grüße".encode().decode("latin-1"), "Körper\r\n.\r\n")
    appended = await desk.append("INBOX", raw, "\\Seen", "$Work", internal_date=1_000)
    (row,) = desk.fetch("INBOX", [appended.uid], header=True)
    assert desk.raw("INBOX", appended.uid) == raw
    assert row.size == len(raw)
    assert row.header == raw[: row.header_size]
    assert raw[: row.header_size].endswith(b"\r\n\r\n")
    assert (row.internal_date, row.save_date) == (1_000, desk.clock.now)
    assert desk.flags("INBOX", appended.uid) == {"\\Seen", "$Work"}
    assert appended.created
    assert appended.uidvalidity == desk.box("INBOX").uidvalidity


async def test_uids_ascend_and_are_never_given_again(desk: Desk) -> None:
    first = [(await desk.append("INBOX", mail(str(n)))).uid for n in range(3)]
    await desk.delete("INBOX", [3])
    again = await desk.append("INBOX", mail("again"))
    assert first == [1, 2, 3]
    assert again.uid == 4


@pytest.mark.parametrize("size", [0, 1, 262_143, 262_144, 262_145, 700_000])
async def test_large_bytes_are_kept_in_chunks_and_read_from_any_point(desk: Desk, size: Any) -> None:
    raw = (mail("Large", "") + bytes(range(256)) * (size // 256 + 1))[:size]
    appended = await desk.append("INBOX", raw)
    (row,) = desk.fetch("INBOX", [appended.uid])

    def body(start: int = 0, length: int | None = None) -> bytes:
        found: bytes = desk.read(lambda tx: messages.body(tx, row.content, start, length))
        return found

    assert body() == raw
    for start in (0, 1, 262_143, 262_144, size - 1, size, size + 10):
        if start >= 0:
            assert body(start) == raw[start:]
            for length in (0, 1, 100, 262_144, 300_000):
                assert body(start, length) == raw[start : start + length]


async def test_equal_bytes_are_stored_once(desk: Desk) -> None:
    for _ in range(3):
        await desk.append("INBOX", mail("Same"))
    assert desk.uids("INBOX") == [1, 2, 3]
    assert len({row.content for row in desk.fetch("INBOX", [1, 2, 3])}) == 1
    assert len({row.email for row in desk.fetch("INBOX", [1, 2, 3])}) == 3


async def test_nothing_can_be_put_into_a_view_or_a_parent(desk: Desk) -> None:
    await desk.append("INBOX")
    for view in ("Action", "Unread", "All"):
        with pytest.raises(CannotModify, match="view"):
            await desk.append(view)
        with pytest.raises(CannotModify, match="view"):
            await desk.copy("INBOX", [1], view)
        with pytest.raises(CannotModify, match="view"):
            await desk.move("INBOX", [1], view)
    with pytest.raises(NoSuchMailbox):
        await desk.append("Agents")
    assert desk.uids("INBOX") == [1]


async def test_a_delivery_key_counts_once_for_ever(desk: Desk) -> None:
    first = await desk.append("INBOX", mail("Once"), key="run-1/step-2")
    again = await desk.append("INBOX", mail("Once, made again"), key="run-1/step-2")
    assert first.created
    assert not again.created
    assert (again.uid, again.email, again.thread) == (first.uid, first.email, first.thread)
    await desk.delete("INBOX", [first.uid])
    assert not (await desk.append("INBOX", mail("Once"), key="run-1/step-2")).created
    assert desk.uids("INBOX") == []


async def test_copy_makes_independent_messages_in_pairs(desk: Desk) -> None:
    for n in range(4):
        await desk.append("INBOX", mail(str(n)), "\\Flagged", "kw", internal_date=n)
    await desk.append("Archive")
    copied = await desk.copy("INBOX", [4, 99, 2], "Archive")
    assert (copied.source_uids, copied.target_uids) == ([2, 4], [2, 3])
    assert copied.uidvalidity == desk.box("Archive").uidvalidity
    assert [row.internal_date for row in desk.fetch("Archive", [2, 3])] == [1, 3]
    assert desk.flags("Archive", 2) == {"\\Flagged", "kw"}
    await desk.flag("Archive", [2], "\\Seen")
    assert "\\Seen" not in desk.flags("INBOX", 2)
    original, copy = desk.fetch("INBOX", [2])[0], desk.fetch("Archive", [2])[0]
    assert original.email != copy.email
    assert original.email_object_id == copy.email_object_id  # RFC 8474: a copy is the same email
    assert original.thread_object_id == copy.thread_object_id


async def test_move_keeps_the_message_and_gives_it_a_new_place(desk: Desk) -> None:
    for n in range(3):
        await desk.append("INBOX", mail(str(n)), "\\Answered")
    before = {row.email for row in desk.fetch("INBOX", [1, 3])}
    moved = await desk.move("INBOX", [3, 1, 77], "Archive")
    assert (moved.source_uids, moved.target_uids) == ([1, 3], [1, 2])
    assert desk.uids("INBOX") == [2]
    assert {row.email for row in desk.fetch("Archive", [1, 2])} == before
    assert desk.flags("Archive", 1) == {"\\Answered"}
    within = await desk.move("INBOX", [2], "INBOX")
    assert within.target_uids == [4]
    assert desk.uids("INBOX") == [4]
    assert (await desk.move("INBOX", [2], "Archive")).source_uids == []


async def test_expunge_takes_only_what_is_deleted(desk: Desk) -> None:
    for n in range(4):
        await desk.append("INBOX", mail(str(n)))
    await desk.flag("INBOX", [1, 3, 4], "\\Deleted")
    assert await desk.expunge("INBOX", [1, 2]) == [1]
    assert await desk.expunge("INBOX") == [3, 4]
    assert await desk.expunge("INBOX") == []
    assert desk.uids("INBOX") == [2]
    box = desk.box("INBOX")
    assert await desk.write(lambda tx: messages.expunge(tx, box, [Uid(2)], only_deleted=False)) == [2]


async def test_bytes_go_after_their_last_message(desk: Desk) -> None:
    one = await desk.append("INBOX", mail("Shared"))
    await desk.copy("INBOX", [one.uid], "Archive")
    (row,) = desk.fetch("INBOX", [one.uid])
    await desk.delete("INBOX", [one.uid])
    await desk.store.housekeeping.settle()
    assert desk.raw("Archive", 1) == mail("Shared")
    await desk.delete("Archive", [1])
    await desk.store.housekeeping.settle()
    assert desk.read(lambda tx: messages.body(tx, row.content)) == b""
    await desk.append("INBOX", mail("Shared"))
    assert desk.raw("INBOX", 2) == mail("Shared")


async def test_bytes_appended_again_before_the_sweep_are_kept(desk: Desk) -> None:
    await desk.append("INBOX", mail("Back"))
    await desk.delete("INBOX", [1])
    await desk.append("INBOX", mail("Back"))
    await desk.store.housekeeping.settle()
    assert desk.raw("INBOX", 2) == mail("Back")


async def test_replace_puts_a_new_message_where_the_old_one_was(desk: Desk) -> None:
    old = await desk.append("Activity", mail("[running] Summary"), "\\Seen", labels=["run:7"])
    new_raw = desk.store.prepare(mail("[done] Summary"))
    box = desk.box("Activity")
    desk.events.clear()
    new = await desk.write(lambda tx: messages.replace(tx, box, old.email, new_raw, flags=["\\Seen"]))
    assert desk.uids("Activity") == [new.uid] == [2]
    assert new.thread == old.thread
    assert told(desk, Gone) == []
    third = desk.store.prepare(mail("[done] Summary (6 s)"))
    newest = await desk.write(lambda tx: messages.replace(tx, box, old.email, third, flags=["\\Seen"]))
    assert desk.uids("Activity") == [newest.uid]  # the old id is known to stand for what took its place
    await desk.delete("Activity", [newest.uid])
    assert (await desk.write(lambda tx: messages.replace(tx, box, old.email, third))).created
    assert (await desk.write(lambda tx: messages.replace(tx, box, None, third))).created


async def test_events_tell_arrivals_with_how_they_came(desk: Desk) -> None:
    one = await desk.append("INBOX", how="deliver")
    await desk.copy("INBOX", [1], "Agents/Assistant")
    await desk.move("INBOX", [1], "Archive")
    assert [(event.how, event.mailbox.name, event.uid) for event in told(desk, Arrived)] == [
        ("deliver", "INBOX", 1),
        ("copy", "Agents/Assistant", 1),
        ("move", "Archive", 1),
    ]
    assert told(desk, Arrived)[2].emails == [one.email]


async def test_events_tell_trash_and_back(desk: Desk) -> None:
    one = await desk.append("INBOX", mail(message_id="<a@x>"))
    await desk.move("INBOX", [1], "Trash")
    await desk.move("Trash", [1], "Archive")
    mails = [Mail(one.email, one.thread, "<a@x>")]
    assert told(desk, Trashed) == [Trashed(desk.account.id, mails)]
    assert told(desk, Restored) == [Restored(desk.account.id, mails)]
    assert told(desk, Gone) == []


async def test_events_tell_what_is_gone_with_its_last_copy(desk: Desk) -> None:
    await desk.append("INBOX", mail("a"))
    await desk.copy("INBOX", [1], "Archive")
    await desk.delete("INBOX", [1])
    assert told(desk, Gone) == []
    await desk.delete("Archive", [1])
    await desk.append("Junk", mail("b"))
    await desk.delete("Junk", [1])
    assert [event.junked for event in told(desk, Gone)] == [False, True]


async def test_what_is_done_to_many_is_told_once(desk: Desk) -> None:
    """And only of those that the change is the end of: one has a copy in Archive, one in Trash."""
    emails = [(await desk.append("INBOX", mail(str(number)))).email for number in range(5)]
    await desk.copy("INBOX", [2], "Archive")
    await desk.copy("INBOX", [3], "Trash")
    desk.events.clear()
    await desk.delete("INBOX", [1, 2, 3, 4])
    assert [[mail.email for mail in event.mails] for event in told(desk, Gone)] == [[emails[0], emails[3]]]
    assert [[mail.email for mail in event.mails] for event in told(desk, Trashed)] == [[emails[2]]]
    await desk.append("INBOX", mail("5"))
    copied = await desk.copy("INBOX", [5, 6], "Archive")
    arrived = told(desk, Arrived)[-1]
    assert (arrived.uid, len(arrived.emails), arrived.how) == (copied.target_uids[0], 2, "copy")


async def test_copy_to_trash_and_expunge_is_a_move_to_trash(desk: Desk) -> None:
    """Clients without MOVE delete so."""
    one = await desk.append("INBOX", mail("a"))
    await desk.copy("INBOX", [1], "Trash")
    assert told(desk, Trashed) == []
    await desk.delete("INBOX", [1])
    assert [[mail.email for mail in event.mails] for event in told(desk, Trashed)] == [[one.email]]
    assert told(desk, Gone) == []
    await desk.delete("Trash", [1])
    assert len(told(desk, Gone)) == 1


async def test_a_message_is_found_by_its_ids(desk: Desk) -> None:
    one = await desk.append("INBOX", mail("Subject here", message_id="<a@x>"))
    account = desk.account.id
    assert desk.read(lambda tx: messages.by_message_id(tx, account, "<a@x>")) == [one.email]
    assert desk.read(lambda tx: messages.by_message_id(tx, account, "<b@x>")) == []
    info = desk.read(lambda tx: messages.email(tx, one.email))
    assert info is not None
    assert (info.subject, info.message_id, info.thread) == ("Subject here", "<a@x>", one.thread)
    places = desk.read(lambda tx: messages.locate(tx, one.email))
    assert [(box.name, uid) for box, uid in places] == [("INBOX", 1), ("Unread", 1), ("All", 1)]
    await desk.copy("INBOX", [1], "Archive")
    await desk.delete("INBOX", [1])
    assert desk.read(lambda tx: messages.email(tx, one.email)) is None
    places = desk.read(lambda tx: messages.locate(tx, one.email))
    assert [(box.name, uid) for box, uid in places] == [("Archive", 1), ("All", 2)]


async def test_a_header_longer_than_a_chunk_is_read_whole(desk: Desk) -> None:
    raw = b"X-Long: " + b"a" * 300_000 + b"\r\nSubject: x\r\n\r\nbody\r\n"
    await desk.append("INBOX", raw)
    (row,) = desk.fetch("INBOX", [1], header=True)
    assert row.header == raw[: row.header_size]
    assert row.header_size > 300_000


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\r\n",
        b"\0\0\0",
        b"\xff\xfe\xfd: \x80\r\nSubject: \xff\xc3\r\nMessage-ID: <\xff@\xed\xa0\x80>\r\n\r\n\xff",
        b"Subject: =?utf-8?b?7aCA?=\r\nFrom: =?x?q?=00?= <@>\r\n\r\n",
        b"Date: Fri, 99 Foo 99999 99:99:99 +9999\r\n\r\n",
        b"References: " + b"<a@b> " * 5000 + b"\r\n\r\n",
        b"In-Reply-To: <\xed\xb2\x80@x>\r\nThread-Index: !!!!\r\n\r\n",
        b"Content-Type: multipart/mixed; boundary=x\r\n\r\n" + b"--x\r\n" * 500,
    ],
)
async def test_hostile_messages_are_kept_like_any_other(desk: Desk, raw: bytes) -> None:
    for name in ("INBOX", "Sent"):
        appended = await desk.append(name, raw)
        assert desk.raw(name, appended.uid) == raw
    await desk.store.housekeeping.settle()
    assert hashlib.sha256(desk.raw("INBOX", 1)).digest() == hashlib.sha256(raw).digest()


async def test_a_thread_is_found_by_each_key_in_its_order(desk: Desk) -> None:
    index = bytes(range(22))
    encoded = "AAECAwQFBgcICQoLDA0ODxAREhMUFQ=="
    a = await desk.append("INBOX", mail("a", message_id="<a@x>"))
    b = await desk.append("INBOX", mail("b", message_id="<b@x>", thread_index=encoded))
    account = desk.account.id
    await desk.write(lambda tx: threads.alias(tx, account, a.thread, "code:A-7F3K"))

    def find(**keys: Any) -> Any:
        return desk.read(lambda tx: threads.find(tx, account, ThreadKeys(**keys)))

    assert a.thread != b.thread
    assert find(in_reply_to=("<a@x>",), references=("<b@x>",)) == a.thread
    assert find(in_reply_to=("<no@x>",), references=("<a@x>", "<b@x>", "<no2@x>")) == b.thread
    assert find(thread_index=index + b"reply") == b.thread
    assert find(code="a-7f3k") == a.thread
    assert find(in_reply_to=("<no@x>",), thread_index=b"short", code="B-0000") is None
    reply = await desk.append("INBOX", mail("Re: a", in_reply_to="<a@x>"))
    assert reply.thread == a.thread
    assert desk.read(lambda tx: threads.messages(tx, a.thread)) == [a.email, reply.email]
    assert (await desk.append("INBOX", mail("a"))).thread not in (a.thread, b.thread)  # never by subject


async def test_a_short_code_in_subject_or_topic_finds_its_thread(desk: Desk) -> None:
    asked = await desk.append("INBOX", mail("Approve? Send mail [A-7F3K]", message_id="<a@x>"))
    other = await desk.append("INBOX", mail("other", message_id="<other@x>"))
    await desk.write(lambda tx: threads.alias(tx, desk.account.id, asked.thread, "code:A-7F3K"))
    topic = "=?utf-8?q?Approve=3F_Send_mail_=5BA-7F3K=5D?="
    for raw in (mail("AW: Approve? Send mail [a-7f3k]"), mail("changed", thread_topic=topic)):
        assert (await desk.append("INBOX", raw)).thread == asked.thread
    nearer = await desk.append("INBOX", mail("Re: Approve? Send mail [A-7F3K]", in_reply_to="<other@x>"))
    assert nearer.thread == other.thread
    for raw in (mail("Re: [B-2222]"), mail("A-7F3K"), mail("changed", thread_topic="Approve? Send mail")):
        assert (await desk.append("INBOX", raw)).thread not in (asked.thread, other.thread)


async def test_a_thread_is_forgotten_with_its_last_message_and_can_be_taken_up_again(desk: Desk) -> None:
    one = await desk.append("INBOX", mail("a", message_id="<a@x>", thread_index="AAECAwQFBgcICQoLDA0ODxAREhMUFQ=="))
    await desk.write(lambda tx: threads.alias(tx, desk.account.id, one.thread, "code:X"))
    await desk.delete("INBOX", [1])
    assert desk.read(lambda tx: threads.by_alias(tx, desk.account.id, "code:X")) is None
    assert desk.read(lambda tx: threads.messages(tx, one.thread)) == []
    late = await desk.append("INBOX", mail("the result"), thread=one.thread)
    assert late.thread == one.thread
    other = await desk.append("INBOX", mail("b"))
    assert other.thread != one.thread


async def test_an_unknown_mailbox_and_a_foreign_thread_are_refused(desk: Desk, store: Any, clock: Any) -> None:
    from tests.store.helpers import make_desk

    other = await make_desk(store, clock, "eve")
    theirs = await other.append("INBOX")
    with pytest.raises(StoreError, match="another account"):
        await desk.append("INBOX", thread=ThreadId(theirs.thread))
    await desk.write(lambda tx: mailboxes.create(tx, desk.account.id, "Work"))
    box = desk.box("Work")
    await desk.write(lambda tx: mailboxes.delete(tx, box))
    prepared = store.prepare(mail())
    with pytest.raises(NoSuchMailbox):
        await desk.write(lambda tx: messages.append(tx, box, prepared))
    with pytest.raises(ValueError, match="accounts"):
        await store.write(lambda tx: messages.copy(tx, other.box("INBOX"), [theirs.uid], desk.box("INBOX")))
    assert desk.read(lambda tx: messages.body(tx, ContentId(999))) == b""
