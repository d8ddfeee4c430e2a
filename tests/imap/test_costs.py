"""What no dialogue can show: what a command costs, and where a command comes from."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bridge.imap.dialect import Standing
from bridge.imap.registry import EXTENSIONS
from bridge.imap.states import State
from config.settings import Imap
from mailstore import mailboxes
from mailstore.model import Mailbox
from mailstore.sqlite import WriteTx
from tests.imap.harness import House, house_settings, letter, open_house


async def reads_of(house: House, command: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often the store is read for a command."""
    client, read, count = await house.login(), house.store.read, 0

    def counted(fn: Callable[[Any], Any]) -> Any:
        nonlocal count
        count += 1
        return read(fn)

    with monkeypatch.context() as patch:
        patch.setattr(house.store, "read", counted)
        answer = await client.command(command)
    assert answer.ok
    return count


@pytest.mark.parametrize("command", ['LIST "" *', 'LIST (SUBSCRIBED) "" * RETURN (CHILDREN)', 'LSUB "" *'])
async def test_a_list_reads_the_store_once_however_many_mailboxes_there_are(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # req 6.3.8-quick
    # req rfc9051/6.3.9-quick
    async with open_house(tmp_path) as house:
        few = await reads_of(house, command, monkeypatch)
        account = house.accounts["ada"].id

        def make_many(tx: WriteTx) -> None:
            for number in range(50):
                mailboxes.create(tx, account, f"f{number}/x")

        await house.store.write(make_many)
        assert await reads_of(house, command, monkeypatch) == few == 1


async def test_a_select_that_tells_of_children_does_not_read_all_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With IMAP4rev2 it did, which took a tenth of a second where there were ten thousand."""

    def unwanted(*_: object) -> list[Mailbox]:
        raise AssertionError("every name of the account was read")

    async with open_house(tmp_path, settings=house_settings(tmp_path, imap=Imap(extensions="all"))) as house:
        client = await house.login()
        await client.command("ENABLE IMAP4rev2")
        for name in ("a", "a0", "a-b/c", "b/c", "B"):
            await client.command(f"CREATE {name}")
        await client.command("SUBSCRIBE b")
        listed = await client.command('LIST "" (a a0 b B INBOX) RETURN (SUBSCRIBED CHILDREN)')
        monkeypatch.setattr(mailboxes, "all", unwanted)
        told = [(await client.command(f"SELECT {name}")).only(b"LIST") for name in ("INBOX", "a", "a0", "b", "B")]
        assert sorted(line for [line] in told) == sorted(listed.untagged)
        assert told[3] == [b'LIST (\\HasChildren \\Subscribed) "/" "b"']


async def test_messages_put_together_from_others_are_no_larger_together_than_an_append_may_be(tmp_path: Path) -> None:
    """A line each would otherwise fill the memory."""
    async with open_house(tmp_path, settings=house_settings(tmp_path, imap=Imap(extensions="all"))) as house:
        await house.append("INBOX", letter("large", "x" * 400_000))
        client = await house.login(select="INBOX")
        [session] = house.service.sessions
        session.framer.limits = replace(session.framer.limits, appends=400_000)
        one = 'CATENATE (URL "/INBOX/;UID=1")'
        refused = await client.command(f"APPEND Archive {one} {one} {one}")
        assert (refused.status, refused.text[:9]) == (b"NO", b"[TOOBIG] ")
        assert (await client.command("STATUS Archive (MESSAGES)")).untagged == [b'STATUS "Archive" (MESSAGES 0)']
        assert (await client.command(f"APPEND Archive {one} {one}")).ok


def test_every_command_beyond_the_base_belongs_to_a_capability() -> None:
    # req rfc9051/6.5-capability-names
    standings = [Standing(state, secure, True, 1, 1) for state in State for secure in (False, True)]
    with_commands = [extension for extension in EXTENSIONS if extension.commands]
    assert len(with_commands) > 10
    silent = [
        extension.name
        for extension in with_commands
        if not any(extension.announce(standing) for standing in standings if extension.announce)
    ]
    assert silent == []
