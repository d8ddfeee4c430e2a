"""`postroom triggers` without a server: a list, one schedule, and words."""

import asyncio
import json
from pathlib import Path

from agents import trigger
from agents.trigger import New
from bridge.cli.common import open_store
from config.load import load
from mailstore import accounts
from tests.cli.conftest import Cli

HOUR_MS = 3_600_000


def put(home: Path) -> str:
    """A schedule of the first account; its id."""

    async def write() -> str:
        async with open_store(load(home=home, environ={})) as store:
            account = store.read(accounts.all)[0]
            new = New(account.id, "assistant", "1", "run", "0 8 * * *", "UTC", "Mail\x1b[2J", "list my mail", "k1")
            return (await store.write(lambda tx: trigger.create(tx, HOUR_MS, new))).id

    return asyncio.run(write())


def test_a_list_a_look_and_words(cli: Cli, home: Path, tmp_path: Path) -> None:
    secret = tmp_path / "password"
    secret.write_text("correct horse battery")
    secret.chmod(0o600)
    assert cli("init", "--user", "ada", "--password-file", str(secret)).code == 0
    assert cli("triggers", "list").out.strip() == "Schedules: none"
    ident = put(home)
    [listed] = json.loads(cli("triggers", "list", "--json").out)
    assert (listed["id"], listed["when"], listed["state"]) == (ident, "every day, 08:00", "active")
    table = cli("triggers", "list").out
    assert ident[-8:] in table
    assert "\x1b" not in table
    shown = cli("triggers", "show", ident[-8:]).out
    assert "every day, 08:00 (UTC), 0 8 * * *" in shown
    assert "list my mail" in shown
    assert "\x1b" not in shown
    assert cli("triggers", "pause", ident[-8:]).out.startswith("Paused")
    assert cli("triggers", "resume", ident[-8:]).out.startswith("Active again")
    begun = cli("triggers", "run", ident[-8:])
    assert (begun.out.startswith("Begun now"), "No server is running" in begun.err) == (True, True)
    assert cli("triggers", "delete", ident[-8:]).out.startswith("Deleted")
    gone = cli("triggers", "show", ident[-8:])
    assert (gone.code, "has no schedule" in gone.err) == (1, True)
