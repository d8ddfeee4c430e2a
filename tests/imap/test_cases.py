"""Cases from clients' public reports that take many commands or many connections, each by its id."""

import asyncio
from pathlib import Path

import pytest

from mailstore import mailboxes
from mailstore.errors import NoSuchMailbox
from mailstore.model import Mailbox, Status
from mailstore.sqlite import ReadTx, WriteTx
from tests.imap.harness import House, letter, open_house

FOLDERS = 60
SESSIONS = 20


async def make_folders(house: House, count: int) -> None:
    account = house.accounts["ada"].id

    def make(tx: WriteTx) -> None:
        for number in range(count):
            mailboxes.create(tx, account, f"f{number}")

    await house.store.write(make)


async def test_parser_14_sixty_pipelined_status_commands_are_all_answered(tmp_path: Path) -> None:
    """parser-14: Geary asks for all folders in one go."""
    async with open_house(tmp_path) as house:
        await make_folders(house, FOLDERS)
        client = await house.login()
        client.send(b"".join(b'a%d STATUS "f%d" (MESSAGES UNSEEN)\r\n' % (n, n) for n in range(FOLDERS)))
        for number in range(FOLDERS):
            assert await client.line() == b'* STATUS "f%d" (MESSAGES 0 UNSEEN 0)\r\n' % number
            assert await client.line() == b"a%d OK STATUS completed\r\n" % number


async def test_concurrency_08_twenty_sessions_of_one_user_are_served(tmp_path: Path) -> None:
    """concurrency-08: five connections of each of several programs, each with a mailbox of its own open."""
    async with open_house(tmp_path) as house:
        await make_folders(house, SESSIONS)
        clients = await asyncio.gather(*(house.login(select=f"f{n}") for n in range(SESSIONS)))
        answers = await asyncio.gather(*(client.command("NOOP") for client in clients))
        assert all(answer.ok for answer in answers)


async def test_limits_01_a_large_mailbox_is_told_in_parts(tmp_path: Path) -> None:
    """limits-01: the first lines are there before the last ones are made, and others are not kept waiting."""
    async with open_house(tmp_path) as house:
        for number in range(1200):
            await house.append("INBOX", letter(f"m{number}"))
        client, other = await house.login(select="INBOX"), await house.login(select="INBOX")
        client.send(b"f FETCH 1:* (FLAGS ENVELOPE)\r\n")
        assert (await client.line()).startswith(b"* 1 FETCH ")
        assert (await other.command("NOOP")).ok
        assert (await client.answer(b"f")).ok


async def test_a_mailbox_deleted_while_all_are_listed_spoils_the_answer_for_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found by the stress: the whole LIST was refused when one of its mailboxes went between LIST and STATUS."""
    # req rfc5819/2-race
    honest = mailboxes.status

    def status(tx: ReadTx, mailbox: Mailbox) -> Status:
        if mailbox.name == "f1":
            raise NoSuchMailbox("the mailbox was deleted")
        return honest(tx, mailbox)

    async with open_house(tmp_path) as house:
        await make_folders(house, 3)
        client = await house.login()
        monkeypatch.setattr(mailboxes, "status", status)
        answer = await client.command('LIST "" "f*" RETURN (STATUS (MESSAGES))')
        assert answer.ok
        assert [line.split()[1] for line in answer.untagged if line.startswith(b"STATUS")] == [b'"f0"', b'"f2"']
        assert b'LIST (\\NonExistent \\Noselect \\HasNoChildren) "/" "f1"' in answer.untagged
