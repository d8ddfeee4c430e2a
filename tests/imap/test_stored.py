"""FETCH without rows says the same as FETCH with them: every kind of item, messages that have left, and bytes that are
gone under its hands."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bridge.imap.base import fetch, stored
from config.settings import Imap
from mailstore import content, messages
from mailstore.sqlite import ReadTx
from tests.imap.harness import Client, House, house_settings, letter, open_house

ITEMS = (
    "FULL",
    "(UID FLAGS RFC822.SIZE INTERNALDATE ENVELOPE BODYSTRUCTURE)",
    "(UID BODY.PEEK[])",
    "(BODY.PEEK[1] BODY.PEEK[1.MIME] BODY.PEEK[2])",
    "(BODY.PEEK[TEXT]<3.9> FLAGS)",
    "(UID BODY.PEEK[HEADER.FIELDS (SUBJECT FROM DATE)])",
    "(BODY.PEEK[HEADER.FIELDS (SUBJECT RECEIVED)] RFC822.HEADER)",
    "(BODY.PEEK[HEADER.FIELDS.NOT (SUBJECT)] MODSEQ)",
    "(EMAILID THREADID SAVEDATE RFC822.SIZE BODY.PEEK[TEXT])",
    "(PREVIEW BINARY.SIZE[1] BINARY.PEEK[1])",
)
LARGE = letter("Large", "x" * 70 + "\n" + "line of a large mail\n" * 20_000)
ODD = b"Subject : blank before the colon\r\nX-Nul: \0\r\n\r\nbody \0 with NUL\r\n"


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    settings = house_settings(tmp_path, imap=Imap(extensions="all"))
    async with open_house(tmp_path, settings=settings) as house:
        for number in range(12):
            raw = (
                letter(f"Number {number}", f"Body {number}.\n" * number)
                if number % 5
                else (LARGE, ODD, b"")[number // 5]
            )
            await house.append("INBOX", raw, ("\\Seen", "$Work") if number % 2 else ())
        yield house


async def by_rows(client: Client, command: str, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What is answered when rows are read."""

    async def nothing(session: Any, selected: Any, plan: Any, numbers: Any, uids: Any) -> tuple[int, Any]:
        return 0, uids

    with monkeypatch.context() as patch:
        patch.setattr(fetch, "send_stored", nothing)
        return (await client.command(command)).untagged


@pytest.mark.parametrize("which", ["1:*", "3", "2:4,7,9:12"])
async def test_the_same_is_said_with_rows_and_without(
    house: House, monkeypatch: pytest.MonkeyPatch, which: str
) -> None:
    client = await house.login(select="INBOX")
    await client.command("ENABLE CONDSTORE")
    for items in ITEMS:
        for command in (f"FETCH {which} {items}", f"UID FETCH {which} {items}"):
            said = (await client.command(command)).untagged
            assert said, command
            assert said == await by_rows(client, command, monkeypatch), command


async def test_messages_that_another_client_took_away_are_passed_over(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, other = await house.login(select="INBOX"), await house.login(select="INBOX")
    await client.command("FETCH 1:* (ENVELOPE)")
    assert (await other.command("UID STORE 2,5 +FLAGS (\\Deleted)")).ok
    assert (await other.command("EXPUNGE")).ok
    await house.append("INBOX", letter("Late"))
    said = (await client.command("FETCH 1:* (UID RFC822.SIZE)")).untagged
    told = [line for line in said if b" FETCH (UID" in line]
    numbers = [int(line.split()[0]) for line in told]
    assert numbers == [1, 3, 4, 6, 7, 8, 9, 10, 11, 12]
    assert told == await by_rows(client, "FETCH 1:12 (UID RFC822.SIZE)", monkeypatch)


async def test_reading_marks_as_read_and_says_so_once(house: House) -> None:
    client = await house.login(select="INBOX")
    said = (await client.command("FETCH 1:4 (BODY[TEXT]<0.4>)")).untagged
    lines = [line for line in said if b" FETCH (" in line]
    assert len(lines) == 4
    assert all(b"\\Seen" in line for line in (lines[0], lines[2]))
    assert (await client.command("NOOP")).untagged == []


async def test_rows_are_read_from_where_something_is_not_stored(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when a message is expunged and swept between the look at the index and the read."""
    client = await house.login(select="INBOX")
    whole = (await client.command("FETCH 1:* (UID BODY.PEEK[])")).untagged
    plain = content.first_chunks

    def losing(tx: ReadTx, contents: Any) -> dict[int, bytes]:
        found = plain(tx, contents)
        return {
            key: data for key, data in found.items() if not data.startswith(b"From: Bob") or b"Number 7" not in data
        }

    monkeypatch.setattr(stored, "BODY_BYTES", 200)
    monkeypatch.setattr(messages, "first_chunks", losing)
    assert (await client.command("FETCH 1:* (UID BODY.PEEK[])")).untagged == whole


async def test_a_plan_that_was_kept_is_the_plan_that_was_read(house: House) -> None:
    """The same text gives the same answer again, and what differs in a literal or by what follows is read anew."""
    client = await house.login(select="INBOX")
    for command in ("FETCH 2 (UID ENVELOPE)", "UID FETCH 2 (ENVELOPE)", "FETCH 2 (UID ENVELOPE) ", "FETCH 2 ALL"):
        first = await client.command(command)
        assert first.untagged == (await client.command(command)).untagged, command
    for name in ("Subject", "Message-ID", "Subject"):
        literal = f"FETCH 2 (BODY.PEEK[HEADER.FIELDS ({{{len(name)}+}}\r\n{name})])"
        (said,) = (await client.command(literal)).untagged
        assert f"BODY[HEADER.FIELDS ({name})]".encode() in said
    assert len((await client.command("FETCH 1:* (UID) (CHANGEDSINCE 9999)")).untagged) <= 1
    assert len((await client.command("FETCH 1:* (UID)")).untagged) == 12
    assert (await client.command("FETCH 1:* (UID) nonsense")).status == b"BAD"


async def test_plans_are_kept_within_bounds(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "PLANS", 3)
    client = await house.login(select="INBOX")
    for number in range(1, 9):
        (said,) = (await client.command(f"FETCH 2 (BODY.PEEK[]<0.{number}>)")).untagged
        assert b"{%d}" % number in said
    (session,) = house.service.sessions
    assert len(session.dialect.plans) <= 3
    await client.command(f"FETCH 2 (BODY.PEEK[HEADER.FIELDS ({'X' * 2000})])")
    assert not any(len(text) > fetch.PLAN_BYTES for _, text in session.dialect.plans)
