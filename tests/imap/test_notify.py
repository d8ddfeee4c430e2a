"""NOTIFY beyond dialogues: what is refused changes nothing, overflow, slow peers, bursts, and who must not hear."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bridge.imap.base import listening
from config.settings import Imap
from mailstore import mailboxes
from mailstore.sqlite import WriteTx
from tests.imap.harness import Client, House, house_settings, letter, open_house


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    settings = house_settings(tmp_path, imap=Imap(extensions="all"))
    async with open_house(tmp_path, ("ada", "bob"), settings=settings) as house:
        yield house


async def ok(client: Client, text: str) -> list[bytes]:
    answer = await client.command(text)
    assert answer.ok, answer
    return answer.untagged


async def test_words_are_read_in_any_case(house: House) -> None:
    # req rfc5465/8-case
    client = await house.login("ada")
    await ok(client, "notify set status (MailBoxes Archive (messagenew MESSAGEEXPUNGE))")
    await house.append("Archive", letter("x"))
    assert await client.line() == b'* STATUS "Archive" (UIDNEXT 2 MESSAGES 1)\r\n'


async def test_notify_set_replaces_what_was_asked_before(house: House) -> None:
    # req rfc5465/3.1-replaces
    client = await house.login("ada")
    await ok(client, "NOTIFY SET (mailboxes Archive (MessageNew MessageExpunge))")
    assert (await client.command("NOTIFY SET (mailboxes INBOX (MessageNew))")).status == b"BAD"
    assert (await client.command("NOTIFY SET (mailboxes INBOX (Thunder))")).status == b"NO"
    await house.append("Archive", letter("x"))
    assert await client.line() == b'* STATUS "Archive" (UIDNEXT 2 MESSAGES 1)\r\n'
    await ok(client, "NOTIFY SET (mailboxes Junk (MessageNew MessageExpunge))")
    await house.append("Archive", letter("y"))
    await house.append("Junk", letter("z"))
    assert await client.line() == b'* STATUS "Junk" (UIDNEXT 2 MESSAGES 1)\r\n'


async def test_too_many_names_are_refused(house: House) -> None:
    # req rfc5465/3.1-overflow
    client = await house.login("ada")
    names = " ".join(f"n{number}" for number in range(1001))
    answer = await client.command(f"NOTIFY SET (mailboxes ({names}) (MessageNew MessageExpunge))")
    assert (answer.status, answer.text.split(b"]")[0]) == (b"NO", b"[NOTIFICATIONOVERFLOW")


async def test_too_much_news_at_once_turns_notify_off(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    # req rfc5465/5.8-overflow
    monkeypatch.setattr(listening, "MOST_LINES", 3)
    client = await house.login("ada")
    await ok(client, "NOTIFY SET (personal (MailboxName))")
    account = house.accounts["ada"].id

    def make_many(tx: WriteTx) -> None:
        for number in range(4):
            mailboxes.create(tx, account, f"n{number}")

    await house.store.write(make_many)
    assert (await client.line()).startswith(b"* OK [NOTIFICATIONOVERFLOW] ")
    await house.store.write(lambda tx: mailboxes.create(tx, account, "another"))
    assert await ok(client, "NOOP") == []
    await ok(client, "NOTIFY SET (personal (MailboxName))")
    await house.store.write(lambda tx: mailboxes.create(tx, account, "last"))
    assert await client.line() == b'* LIST (\\HasNoChildren) "/" "last"\r\n'


async def test_a_mailbox_made_anew_is_told_with_its_uidvalidity(house: House) -> None:
    # req rfc5465/5.1-uidvalidity
    client, account = await house.login("ada"), house.accounts["ada"].id
    await house.store.write(lambda tx: mailboxes.create(tx, account, "Box"))
    await ok(client, "NOTIFY SET (mailboxes Box (MessageNew MessageExpunge))")
    await house.store.write(lambda tx: mailboxes.delete(tx, house.mailbox("Box")))
    await house.store.write(lambda tx: mailboxes.create(tx, account, "Box"))
    await house.append("Box", letter("x"))
    line = await client.line()
    assert line == b'* STATUS "Box" (UIDNEXT 2 MESSAGES 1 UIDVALIDITY %d)\r\n' % house.mailbox("Box").uidvalidity


async def test_a_burst_is_told_as_what_came_of_it(house: House) -> None:
    """Hundreds of changes are a few lines, and the last line says how it stands."""
    client = await house.login("ada", "INBOX")
    await ok(
        client,
        "NOTIFY SET (selected (MessageNew (UID) MessageExpunge)) (mailboxes Archive (MessageNew MessageExpunge))",
    )
    for number in range(100):
        await house.append("Archive", letter(str(number)))
    heard = await client.line()
    while heard != b'* STATUS "Archive" (UIDNEXT 101 MESSAGES 100)\r\n':
        heard = await client.line()
    assert not client.inbox


async def test_who_does_not_read_costs_nothing_and_hears_how_it_stands(house: House) -> None:
    client = await house.login("ada", "INBOX")
    await ok(client, "NOTIFY SET (selected (MessageNew (UID) MessageExpunge FlagChange))")
    protocol = client.transport.get_protocol()
    protocol.pause_writing()
    for number in range(3):
        await house.append("INBOX", letter(str(number)))
    await client.settle()
    assert not client.inbox
    protocol.resume_writing()
    assert [await client.line() for _ in range(5)] == [
        b"* 3 EXISTS\r\n", b"* 3 RECENT\r\n",
        b"* 1 FETCH (UID 1)\r\n", b"* 2 FETCH (UID 2)\r\n", b"* 3 FETCH (UID 3)\r\n",
    ]  # packed, to be seen at a glance  # fmt: skip


async def test_what_a_client_put_there_itself_is_remembered_only_until_it_is_told(house: House) -> None:
    client = await house.login("ada", "INBOX")
    await ok(client, "NOTIFY SET (selected (MessageNew (UID) MessageExpunge))")
    [session] = house.service.sessions
    for number in range(3):
        assert (await client.append("INBOX", letter(str(number)))).ok
        assert await ok(client, "NOOP") == []
    assert isinstance(session.listening, listening.Listening)
    assert session.listening._mine == []
    await house.append("INBOX", letter("another's"))
    assert await client.line() == b"* 4 EXISTS\r\n"


async def test_a_session_that_has_gone_leaves_nothing_behind(house: House) -> None:
    client = await house.login("ada", "INBOX")
    await ok(client, "NOTIFY SET (personal (MessageNew MessageExpunge))")
    doorbell = house.store.doorbell
    assert len(doorbell._everywhere) == 1
    client.transport.close()
    await client.settle()
    assert len(doorbell._everywhere) == 0
    await house.append("INBOX", letter("x"))


async def test_unauthenticate_ends_it(house: House) -> None:
    client = await house.login("ada", "INBOX")
    await ok(client, "NOTIFY SET (personal (MessageNew MessageExpunge))")
    await ok(client, "UNAUTHENTICATE")
    await house.append("Archive", letter("x"))
    assert await ok(client, "NOOP") == []


async def test_a_change_of_the_selected_mailbox_and_another_while_a_command_runs(house: House) -> None:
    """Pipelined numbers are read as they were meant, and everything is told in the end."""
    for number in range(3):
        await house.append("INBOX", letter(str(number)))
    client = await house.login("ada", "INBOX")
    other = await house.login("ada", "INBOX")
    await ok(client, "NOTIFY SET (selected (MessageNew MessageExpunge))")
    await ok(other, "STORE 1 +FLAGS.SILENT (\\Deleted)")
    other.send(b"x EXPUNGE\r\n")
    client.send(b"a FETCH 3 (UID)\r\nb NOOP\r\nc FETCH 3 (UID)\r\nd UID FETCH 1:* (UID)\r\n")
    heard: list[bytes] = []
    while not heard or not heard[-1].startswith(b"d "):
        heard.append(await client.line())
    if b"* 1 EXPUNGE\r\n" not in heard:
        heard.append(await client.line())
    assert heard.count(b"* 1 EXPUNGE\r\n") == 1
    at = heard.index(b"* 1 EXPUNGE\r\n")
    assert heard[:at].count(b"* 3 FETCH (UID 3)\r\n") in (0, 1, 2, 3)
    assert not [line for line in heard[at:] if b"* 3 FETCH" in line]
