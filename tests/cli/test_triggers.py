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
    assert cli("triggers", "list").out.strip() == "Triggers: none"
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
    assert (gone.code, "has no trigger" in gone.err) == (1, True)


def test_a_webhook_is_made_and_its_secret_is_shown_once(cli: Cli, home: Path, tmp_path: Path) -> None:
    password = tmp_path / "password"
    password.write_text("correct horse battery")
    password.chmod(0o600)
    assert cli("init", "--user", "ada", "--password-file", str(password)).code == 0
    made = cli("triggers", "add", "webhook", "deploy", "Say what broke")
    assert made.out.startswith("Made webhook deploy (")
    assert 'assistant works whenever its webhook "deploy" is called.' in made.out
    assert "POST http://127.0.0.1:8025/hooks/ada/deploy\n    Authorization: Bearer " in made.out
    assert "Webhooks are off: write enabled = true under [webhooks]" in made.err
    secret = made.out.partition("Bearer ")[2].split()[0]
    assert len(secret) == 32
    assert secret not in cli("triggers", "show", "deploy").out + cli("triggers", "list", "--json").out
    renewed = cli("triggers", "secret", "webhook deploy", "--json")
    assert json.loads(renewed.out)["secret"] not in ("", secret)
    own = tmp_path / "own"
    own.write_text("a secret that somebody chose")
    own.chmod(0o600)
    kept = cli("triggers", "secret", "deploy", "--secret-file", str(own))
    assert (kept.code, "a secret that somebody chose" in kept.out) == (0, False)
    own.write_text("too short")
    assert "16 to 256 printable" in cli("triggers", "secret", "deploy", "--secret-file", str(own)).err
    hook = json.loads(cli("triggers", "add", "hook", "backup", "Say what failed", "--json").out)
    assert hook["address"].startswith("hook+backup.")
    assert hook["address"].endswith("@postroom.internal")
    told = '[signatures.build]\nscheme = "github"\nkey = "file:build.key"\naccount = "ada"\n'
    (home / "postroom.toml").write_text(told)
    signed = cli("triggers", "add", "webhook", "build", "Say what broke").out
    assert "signed (github) with the key of [signatures.build]; no secret counts." in signed
    assert "Bearer" not in signed


def test_what_cannot_be_made_is_said(cli: Cli, home: Path, tmp_path: Path) -> None:
    password = tmp_path / "password"
    password.write_text("correct horse battery")
    password.chmod(0o600)
    cli("init", "--user", "ada", "--password-file", str(password))
    for arguments, told in (
        (("cron", "x", "do it"), "no kind of trigger"),
        (("webhook", "a.b", "do it"), "is no name for a webhook"),
        (("webhook", "x", " "), "the task is empty"),
        (("webhook", "x", "do it", "--overlap", "never"), "no way to overlap"),
        (("webhook", "x", "do it", "--agent", "nobody"), 'there is no agent "nobody"'),
        (("mailbox", "office", "do it"), "no mailbox 'office' to watch"),
    ):
        refused = cli("triggers", "add", *arguments)
        assert (refused.code, told in refused.err) == (1, True), refused.err
    assert cli("triggers", "list").out.strip() == "Triggers: none"
