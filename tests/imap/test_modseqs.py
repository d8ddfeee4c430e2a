"""Modseqs that have to rise (RFC 7162): what a dialogue cannot compare."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from config.settings import Imap
from mailstore import changes
from mailstore.sqlite import WriteTx
from tests.imap.harness import Client, House, house_settings, letter, open_house


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    settings = house_settings(tmp_path, imap=Imap(extensions="all"))
    async with open_house(tmp_path, ("ada",), settings=settings) as house:
        for number in range(8):
            await house.append("INBOX", letter(f"message {number}"), flags=["\\Deleted"] if number < 3 else ())
        yield house


async def highest(client: Client, mailbox: str = "INBOX") -> int:
    line = (await client.command(f"STATUS {mailbox} (HIGHESTMODSEQ)")).only(b"STATUS")[0]
    found = re.search(rb"HIGHESTMODSEQ (\d+)", line)
    assert found
    return int(found[1])


@pytest.mark.parametrize("command", ["UID EXPUNGE 1", "EXPUNGE", "CLOSE", "MOVE 1 Archive", "UID MOVE 8 Archive"])
async def test_each_way_to_go_has_a_modseq_of_its_own(house: House, command: str) -> None:
    # req rfc7162/3.2-expunge
    # req rfc6851/4.4-modseq
    client, other = await house.login("ada"), await house.login("ada")
    await client.command("ENABLE QRESYNC")
    await client.command("SELECT INBOX")
    before = await highest(other)
    answer = await client.command(command)
    assert answer.ok
    after = await highest(other)
    assert after > before
    told = re.search(rb"\[HIGHESTMODSEQ (\d+)\]", answer.text)
    assert (int(told[1]) if told else None) == (None if command == "CLOSE" else after)
    await other.command("ENABLE QRESYNC")
    await other.command("EXAMINE INBOX")
    gone = await other.command(f"UID FETCH 1:* FLAGS (CHANGEDSINCE {before} VANISHED)")
    assert [line for line in gone.untagged if line.startswith(b"VANISHED (EARLIER)")]
    none = await other.command(f"UID FETCH 1:* FLAGS (CHANGEDSINCE {after} VANISHED)")
    assert none.untagged == []


async def test_a_note_with_a_mailbox_is_a_change_of_it(house: House) -> None:
    # req rfc7162/3.2-metadata
    client, other = await house.login("ada", "INBOX"), await house.login("ada", "INBOX")
    before = await highest(other)
    assert (await client.command('SETMETADATA INBOX (/private/comment "mine")')).ok
    after = await highest(other)
    assert after > before
    assert (await client.command('SETMETADATA "" (/private/comment "mine")')).ok
    assert await highest(other) == after
    assert (await other.command("NOOP")).untagged == []


async def test_simultaneous_stores_have_each_their_own(house: House) -> None:
    # req rfc7162/3.1-simultaneous
    clients = [await house.login("ada", "INBOX") for _ in range(5)]
    for client in clients:
        await client.command("ENABLE CONDSTORE")
    answers = await asyncio.gather(*(c.command(f"STORE {n} +FLAGS ($k{n})") for n, c in enumerate(clients, 1)))
    seen = [
        int(found[1])
        for number, answer in enumerate(answers, 1)
        for line in answer.untagged
        if line.startswith(b"%d FETCH" % number) and (found := re.search(rb"MODSEQ \((\d+)\)", line))
    ]
    assert len(set(seen)) == 5


async def test_who_is_older_than_the_log_is_told_all_that_has_gone(house: House) -> None:
    # req rfc7162/3.2.6-too-old
    # req rfc7162/5.3-expired
    client = await house.login("ada", "INBOX")
    start = await highest(client)
    await client.command("UID EXPUNGE 1")
    await client.command("UID EXPUNGE 3")
    account = house.accounts["ada"].id

    def forget(tx: WriteTx) -> None:
        floor = house.store.read(lambda reading: changes.snapshot(reading, house.mailbox("INBOX"))).highest_modseq
        tx.run("mailstore.changes.raise-floor", account=account, floor=floor)

    await house.store.write(forget)
    fresh = await house.login("ada")
    await fresh.command("ENABLE QRESYNC")
    [validity] = (await fresh.command("STATUS INBOX (UIDVALIDITY)")).untagged
    uidvalidity = validity.split()[-1].rstrip(b")").decode()
    answer = await fresh.command(f"EXAMINE INBOX (QRESYNC ({uidvalidity} {start}))")
    assert b"VANISHED (EARLIER) 1,3" in answer.untagged
    part = await fresh.command(f"UID FETCH 2:9 FLAGS (CHANGEDSINCE {start} VANISHED)")
    assert b"VANISHED (EARLIER) 3" in part.untagged
    matched = await fresh.command(f"EXAMINE INBOX (QRESYNC ({uidvalidity} {start} (1 2)))")
    assert b"VANISHED (EARLIER) 3" in matched.untagged


async def test_a_long_line_with_known_uids_is_read(house: House) -> None:
    # req rfc7162/4-long-lines
    client = await house.login("ada")
    await client.command("ENABLE QRESYNC")
    known = ",".join(str(uid) for uid in range(1, 4001, 2))
    assert len(known) > 8192
    assert (await client.command(f"SELECT INBOX (QRESYNC (1 1 {known}))")).ok
    assert (await client.command(f"UID FETCH {known} FLAGS (CHANGEDSINCE 1 VANISHED)")).ok
