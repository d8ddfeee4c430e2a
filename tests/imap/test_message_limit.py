"""The limit on the messages of a command (RFC 9738), where it is announced: what the dialogue cannot show by itself."""

import re
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import fields
from pathlib import Path

from config.settings import Imap
from tests.imap.harness import Answer, House, house_settings, letter, open_house

CODE = re.compile(rb"\[MESSAGELIMIT (\d+)(?: (\d+))?\]")


@asynccontextmanager
async def house_of(folder: Path, limit: int, *, messages: int, extensions: str = "all") -> AsyncIterator[House]:
    imap = Imap(extensions="all" if extensions == "all" else "default", message_limit=limit)
    async with open_house(folder, ("ada",), settings=house_settings(folder, imap=imap)) as house:
        for number in range(messages):
            await house.append("INBOX", letter(f"message {number}"))
        yield house


def uids(answer: Answer) -> list[int]:
    return [int(found[1]) for line in answer.untagged if (found := re.search(rb"UID (\d+)", line))]


def lowest(answer: Answer) -> int | None:
    found = CODE.search(answer.text)
    return int(found[2]) if found else None


def test_the_limit_is_large() -> None:
    # req rfc9738/3-thousand
    [limit] = [each for each in fields(Imap) if each.name == "message_limit"]
    assert limit.metadata["low"] >= 1000
    assert Imap().message_limit >= 100_000  # who does not know of it sees only so many messages of a mailbox


async def test_a_client_that_goes_on_below_the_code_sees_every_message_once(tmp_path: Path) -> None:
    # req rfc9738/3.1-repeat
    async with house_of(tmp_path, 4, messages=11) as house:
        client = await house.login("ada", "INBOX")
        seen: list[int] = []
        top: int | None = 4294967295
        while top is not None:
            answer = await client.command(f"UID FETCH 1:{top} (FLAGS)")
            assert answer.ok
            seen += sorted(uids(answer), reverse=True)
            reached = lowest(answer)
            top = reached - 1 if reached else None
        assert seen == list(range(11, 0, -1))


async def test_moving_and_expunging_again_and_again_empties_a_mailbox(tmp_path: Path) -> None:
    async with house_of(tmp_path, 4, messages=11) as house:
        client = await house.login("ada", "INBOX")
        assert [lowest(await client.command("UID MOVE 1:* Archive")) for _ in range(3)] == [8, 4, None]
        await client.command("SELECT Archive")
        for part in ("1:4", "5:8", "9:11"):
            assert (await client.command(f"STORE {part} +FLAGS.SILENT (\\Deleted)")).ok
        assert [lowest(await client.command("UID EXPUNGE 1:*")) for _ in range(3)] == [8, 4, None]
        assert (await client.command("STATUS Archive (MESSAGES)")).untagged == [b'STATUS "Archive" (MESSAGES 0)']


async def test_with_qresync_the_tagged_answer_keeps_the_modseq(tmp_path: Path) -> None:
    # req rfc9738/3.1-highestmodseq
    async with house_of(tmp_path, 2, messages=4) as house:
        client = await house.login("ada")
        await client.command("ENABLE QRESYNC")
        await client.command("SELECT INBOX")
        moved = await client.command("UID MOVE 1:* Archive")
        assert moved.text.startswith(b"[HIGHESTMODSEQ ")
        [limit] = [line for line in moved.untagged if b"MESSAGELIMIT" in line]
        assert limit.startswith(b"NO [MESSAGELIMIT 2 3]")
        for of in (1, 2):
            await client.command(f"UID STORE {of} +FLAGS.SILENT (\\Deleted)")
        await house.append("INBOX", letter("five"), flags=["\\Deleted"])
        await client.command("NOOP")
        gone = await client.command("UID EXPUNGE 1:*")
        assert gone.text.startswith(b"[HIGHESTMODSEQ ")
        assert [line for line in gone.untagged if line.startswith((b"NO", b"VANISHED"))] == [
            b"NO [MESSAGELIMIT 2 2] Done for the newest messages only",
            b"VANISHED 2,5",
        ]


async def test_reading_marks_only_what_was_read(tmp_path: Path) -> None:
    async with house_of(tmp_path, 2, messages=4) as house:
        client = await house.login("ada", "INBOX")
        assert (await client.command("FETCH 1:* (BODY[TEXT])")).text.startswith(b"[MESSAGELIMIT 2 3]")
        assert (await client.command("STATUS INBOX (UNSEEN)")).untagged == [b'STATUS "INBOX" (UNSEEN 2)']


async def test_a_watched_result_goes_on_with_the_messages_that_were_looked_at(tmp_path: Path) -> None:
    """What was beyond the limit does not come in later, as if it were new."""
    async with house_of(tmp_path, 2, messages=4) as house:
        client = await house.login("ada", "INBOX")
        answer = await client.command("UID SEARCH RETURN (UPDATE ALL) UNSEEN")
        assert answer.text.startswith(b"[MESSAGELIMIT 2 3]")
        assert answer.only(b"ESEARCH") == [b'ESEARCH (TAG "t3") UID ALL 3:4']
        await house.append("INBOX", letter("five"))
        news = await client.command("NOOP")
        assert news.only(b"ESEARCH") == [b'ESEARCH (TAG "t3") UID ADDTO (0 5)']


async def test_a_mailbox_within_the_limit_knows_nothing_of_it(tmp_path: Path) -> None:
    # req rfc9738/4.1-few
    async with house_of(tmp_path, 4, messages=4) as house:
        client = await house.login("ada", "INBOX")
        assert await _limited(house, client_commands()) == []
        assert len((await client.command("FETCH 1:* (UID)")).untagged) == 4


async def test_without_the_extension_there_is_no_limit(tmp_path: Path) -> None:
    # req rfc9738/4.2-not-announced
    async with house_of(tmp_path, 1, messages=4, extensions="default") as house:
        client = await house.login("ada")
        assert b"MESSAGELIMIT" not in b" ".join((await client.command("CAPABILITY")).untagged)
        assert await _limited(house, client_commands()) == []
        await client.command("SELECT INBOX")
        assert not (await client.command("SEARCH UIDAFTER 1")).ok


async def test_a_larger_mailbox_limits_each_of_the_same_commands(tmp_path: Path) -> None:
    """That the two tests above could fail."""
    async with house_of(tmp_path, 3, messages=4) as house:
        assert await _limited(house, client_commands()) == list(client_commands())


def client_commands() -> Iterable[str]:
    """Commands on four messages, the last of which leaves none."""
    return (
        "FETCH 1:* (FLAGS)",
        "UID FETCH 1:* (FLAGS)",
        "SEARCH SUBJECT message",
        "UID SEARCH ALL",
        "STORE 1:* +FLAGS (\\Deleted)",
        "UID STORE 1:* -FLAGS.SILENT (\\Seen)",
        "COPY 1:* Drafts",
        "UID COPY 1:* Drafts",
        "THREAD REFERENCES UTF-8 ALL",
        "MOVE 1:* Archive",
    )


async def _limited(house: House, commands: Iterable[str]) -> list[str]:
    """Those of the commands that were told of a limit."""
    client = await house.login("ada", "INBOX")
    answers = [(text, await client.command(text)) for text in commands]
    assert [text for text, answer in answers if answer.status == b"BAD"] == []
    return [text for text, answer in answers if CODE.search(answer.text)]
