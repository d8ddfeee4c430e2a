"""Demands of the base RFCs that no dialogue can show: what a command costs, and where a command comes from."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bridge.imap.dialect import Standing
from bridge.imap.registry import EXTENSIONS
from bridge.imap.states import State
from mailstore import mailboxes
from tests.imap.harness import House, open_house


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
        for number in range(50):
            await house.store.write(lambda tx, n=number: mailboxes.create(tx, account, f"f{n}/x"))  # type: ignore[misc]  # mypy cannot infer the default
        assert await reads_of(house, command, monkeypatch) == few == 1


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
