"""The doctor's round over what an installation leans on: each thing that is wrong is named, with what to do."""

import asyncio
import json
from pathlib import Path

import pytest

from bridge import checkup, signing
from bridge.checkup import examine
from bridge.finding import Finding
from bridge.post.identity import KeyUnknown
from config.secrets import Secret
from config.settings import Relay, Settings, WatchedMailbox
from tests.cli.conftest import Cli
from tests.post.desk import desk

KEY = "a key of the tests, 32 letters.."


@pytest.fixture
def made(cli: Cli, home: Path, password_file: Path) -> Path:
    """A data folder with the account ada."""
    assert cli("init", "--user", "ada", "--password-file", str(password_file)).code == 0
    return home


def put(home: Path, name: str, text: str) -> Path:
    place = home / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.touch(mode=0o600)
    place.write_text(text)
    return place


def found(cli: Cli, check: str) -> dict[str, str]:
    """The one finding of a check."""
    told = cli("doctor", "--json")
    fitting: list[dict[str, str]] = [each for each in json.loads(told.out) if each["check"] == check]
    assert len(fitting) == 1, told.out
    return fitting[0]


def test_a_watched_mailbox_without_its_password_or_its_account(cli: Cli, made: Path) -> None:
    text = '[mailboxes.office]\nhost = "imap.example.net"\nusername = "ada"\npassword = "file:office.password"\n'
    put(made, "postroom.toml", text)
    one = found(cli, "mailbox office")
    assert (one["state"], one["found"]) == ("fault", "is of you, who has no account here")
    put(made, "postroom.toml", text + 'account = "ada"\n')
    one = found(cli, "mailbox office")
    assert (one["state"], one["fix"]) == ("fault", "write the value into that file, mode 0600")
    put(made, "office.password", "sesame")
    one = found(cli, "mailbox office")
    assert one["state"] == "ok"
    assert "INBOX of ada at imap.example.net:993; not tried: `postroom doctor --login`" in one["found"]


def test_a_watch_of_a_mailbox_that_the_settings_lost(cli: Cli, made: Path) -> None:
    put(made, "office.password", "sesame")
    text = '[mailboxes.office]\nhost = "imap.example.net"\nusername = "ada"\npassword = "file:office.password"\n'
    put(made, "postroom.toml", text + 'account = "ada"\n')
    assert cli("triggers", "add", "mailbox", "office", "Say what is urgent").code == 0
    put(made, "postroom.toml", "")
    one = found(cli, "mailbox office")
    assert (one["state"], one["found"]) == ("fault", "ada watches it, and the settings do not describe it")
    assert "[mailboxes.office]" in one["fix"]


async def test_a_login_elsewhere_is_tried_when_it_is_asked_for(tmp_path: Path) -> None:
    async with desk(tmp_path / "far", require_tls=False) as far:
        eve = await far.person("eve")
        right = await far.app.auth.add_generated(eve.identity.account, "watch")
        assert far.app.ports is not None
        port = far.app.ports.imap

        async def says(mailbox: str, password: str) -> Finding:
            office = WatchedMailbox(
                "office",
                host="127.0.0.1",
                port=port,
                tls="none",
                username="eve",
                password=Secret("env:FAR", environ={"FAR": password}),
                mailbox=mailbox,
            )
            settings = Settings(tmp_path / "near", mailboxes={"office": office})
            return (await asyncio.to_thread(lambda: list(examine(settings, None, login=True))))[0]

        assert await says("INBOX", right) == Finding(
            "mailbox office", "ok", f"INBOX of eve at 127.0.0.1:{port} can be read; told at once"
        )
        wrong = await says("INBOX", "not the password")
        assert (wrong.state, wrong.found) == ("fault", f"INBOX of eve at 127.0.0.1:{port}: it refuses the login")
        missing = await says("Office", right)
        assert (missing.state, "the mailbox is not there" in missing.found) == ("fault", True)
    closed = await says("INBOX", right)
    assert (closed.state, "it cannot be reached" in closed.found) == ("fault", True)


def test_signatures_and_webhooks(cli: Cli, made: Path) -> None:
    text = '[signatures.deploy]\nscheme = "github"\nkey = "file:deploy.key"\naccount = "ada"\n'
    put(made, "postroom.toml", text)
    assert found(cli, "signature deploy")["state"] == "fault"
    put(made, "deploy.key", "short")
    assert found(cli, "signature deploy")["found"] == "its key is shorter than 16 bytes"
    put(made, "deploy.key", KEY)
    one = found(cli, "signature deploy")
    assert (one["state"], one["found"]) == ("note", "ada has no webhook deploy")
    assert cli("triggers", "add", "webhook", "deploy", "Say what broke").code == 0
    assert found(cli, "signature deploy")["state"] == "ok"
    assert found(cli, "webhooks")["fix"] == "write enabled = true under [webhooks]"
    assert KEY not in cli("doctor").out


def test_servers_and_folders(cli: Cli, made: Path, tmp_path: Path) -> None:
    put(made, ".mcp.json", '{"mcpServers": {"a": {"command": "x", "colour": "red"}, "b": {"command": "true"}}}')
    (tmp_path / "notes").mkdir()
    assert cli("folders", "grant", str(tmp_path / "notes")).code == 0
    assert "FAULT" not in [line.split()[0] for line in cli("doctor").out.splitlines() if "folder notes" in line]
    (tmp_path / "notes").rmdir()
    one = found(cli, "folder notes")
    assert (one["state"], "is not there any more" in one["found"]) == ("fault", True)
    assert "postroom folders revoke notes" in one["fix"]
    assert found(cli, "MCP")["state"] == "fault"
    assert found(cli, "MCP b")["state"] == "ok"
    put(made, "postroom.toml", f'[skills]\nfolders = ["{tmp_path}/none"]\n[files]\nby_mail = ["{tmp_path}/gone"]\n')
    assert found(cli, "skills.folders")["state"] == found(cli, "files.by_mail")["state"] == "fault"


def test_models_and_stand_ins_without_a_key(cli: Cli, made: Path) -> None:
    text = (
        '[models.big]\nmodel = "anthropic/big"\n[models.small]\nmodel = "openai/small"\napi_key = "env:NO_SUCH_KEY"\n'
        '[models.here]\nmodel = "ollama/here"\n[agents.assistant]\nmodel = "big"\nfallbacks = ["small", "here"]\n'
    )
    put(made, "postroom.toml", text)
    one = found(cli, "model of assistant")
    assert (one["state"], one["found"]) == ("note", "big (anthropic/big): no key is set")
    told = [each for each in json.loads(cli("doctor", "--json").out) if each["check"] == "stand-in of assistant"]
    assert [(each["state"], "NO_SUCH_KEY" in each["found"]) for each in told] == [("fault", True), ("ok", False)]


def test_an_address_that_two_would_have(cli: Cli, made: Path, password_file: Path) -> None:
    """A skill named like an account is not ready and told of everywhere; no account takes the address of a skill."""
    put(made, "skills/ada/SKILL.md", "---\nname: ada\ndescription: Says hello.\ntools: []\n---\nSay hello.\n")
    why = "the account ada has its address"
    told = cli("skills", "list")
    assert ("not ready" in told.out, why in told.out) == (True, True)
    assert f"Left out  ada, not ready: {why}" in cli("status").out
    assert why in found(cli, "skills")["found"]
    assert why in cli("skills", "disable", "ada").out + cli("skills", "enable", "ada").err
    refused = cli("account", "add", "summariser", "--password-file", str(password_file))
    assert (refused.code, "is the address of a skill" in refused.err) == (1, True)
    put(made, "postroom.toml", "[agents.ada]\n")
    assert found(cli, "agent ada")["state"] == "fault"
    assert "Left out  ada, not reached" in cli("status").out


def test_the_record_in_the_dns(tmp_path: Path) -> None:
    settings = Settings(tmp_path, relay=Relay(host="127.0.0.1", sender="ada@example.net", dkim_domain="example.net"))

    def says(answer: bytes | KeyUnknown | None) -> Finding:
        def lookup(name: bytes, seconds: float) -> bytes | None:
            assert name == b"postroom._domainkey.example.net."
            if isinstance(answer, KeyUnknown):
                raise answer
            return answer

        [one] = checkup._dkim(settings, lookup)
        return one

    assert says(None).fix.startswith("`postroom dkim` makes it")
    _, record = signing.dns_record(tmp_path, "postroom", "example.net")
    assert says(record.replace("; ", ";").encode()).state == "ok"
    assert says(b"v=DKIM1; k=rsa; p=AAAA").found.endswith("is of another key")
    assert says(None).found.startswith("there is no record")
    assert says(KeyUnknown("timed out")).state == "note"


def test_settings_may_be_read_by_others_and_a_key_may_not(cli: Cli, made: Path) -> None:
    for name in ("postroom.toml", "some.key"):
        (made / name).write_text("")
        (made / name).chmod(0o644)
    found = [each for each in json.loads(cli("doctor", "--json").out) if each["check"] == "files"]
    assert [(each["state"], each["found"]) for each in found] == [("fault", "1 file can be read by others")]
    assert "some.key" in found[0]["fix"]
    assert "postroom.toml" not in found[0]["fix"]
