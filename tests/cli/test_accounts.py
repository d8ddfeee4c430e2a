"""`init`, `account` and `password`, without a server and beside one."""

import asyncio
import json
import re
import stat
from pathlib import Path

import pytest
from imapclient.exceptions import IMAPClientError

from bridge.auth import Authenticator
from bridge.cli.common import open_store
from bridge.demo.client import Account, Mailbox
from bridge.demo.server import Server
from config.load import load
from tests.cli.conftest import PASSWORD, Cli

GENERATED = re.compile(r"^    ((?:[a-z0-9]{4}-){4}[a-z0-9]{4})$", re.MULTILINE)


def opens(home: Path, login: str, password: str) -> bool:
    """Whether a password lets somebody in."""

    async def check() -> bool:
        settings = load(home=home, environ={})
        async with open_store(settings) as store:
            auth = Authenticator(store, settings)
            identity = await auth.check(login, password, peer="127.0.0.1")
            auth.close()
            return identity is not None

    return asyncio.run(check())


def generated(text: str) -> str:
    found = GENERATED.findall(text)
    assert len(found) == 1
    return str(found[0])


def test_init_sets_up_everything_unattended(cli: Cli, home: Path, password_file: Path) -> None:
    told = cli("init", "--user", "ada", "--password-file", str(password_file), "--json")
    assert (told.code, told.err) == (0, "")
    made = json.loads(told.out)
    assert made == {
        "home": str(home),
        "account": "ada",
        "address": "ada@postroom.internal",
        "ca": str(home / "tls" / "ca.pem"),
    }
    assert Path(made["ca"]).read_bytes().startswith(b"-----BEGIN CERTIFICATE-----")
    assert opens(home, "ada", PASSWORD)
    assert PASSWORD not in told.out
    for path in [home, *home.rglob("*")]:
        assert path.name == "ca.pem" or not stat.S_IMODE(path.stat().st_mode) & 0o077, path


def test_init_again_sets_the_password_and_keeps_the_rest(cli: Cli, home: Path, password_file: Path) -> None:
    cli("init", "--user", "ada", "--password-file", str(password_file))
    authority = (home / "tls" / "ca.pem").read_bytes()
    password_file.write_text("another one")
    assert cli("init", "--user", "ada", "--password-file", str(password_file)).code == 0
    assert (opens(home, "ada", PASSWORD), opens(home, "ada", "another one")) == (False, True)
    assert (home / "tls" / "ca.pem").read_bytes() == authority
    assert len(json.loads(cli("account", "list", "--json").out)) == 1


def test_init_without_a_password_makes_one(cli: Cli, home: Path) -> None:
    assert opens(home, "you", generated(cli("init").out))


@pytest.mark.parametrize(
    ("content", "says"), [(None, "cannot be read"), (b"", "is empty"), (b"\xff\xfe", "not UTF-8"), (b"\n", "is empty")]
)
def test_a_password_file_that_cannot_be_used(
    cli: Cli, home: Path, tmp_path: Path, content: bytes | None, says: str
) -> None:
    path = tmp_path / "pw"
    if content is not None:
        path.write_bytes(content)
    told = cli("init", "--password-file", str(path))
    assert (told.code, says in told.err, home.exists()) == (2, True, False)


def test_a_password_file_that_others_can_read_is_taken_with_a_warning(cli: Cli, password_file: Path) -> None:
    password_file.chmod(0o644)
    told = cli("init", "--password-file", str(password_file))
    assert (told.code, "chmod 600" in told.err) == (0, True)


def test_accounts_come_and_go(cli: Cli, home: Path) -> None:
    password = generated(cli("account", "add", "bob").out)
    cli("account", "add", "eve")
    assert [each["name"] for each in json.loads(cli("account", "list", "--json").out)] == ["bob", "eve"]
    assert "bob@postroom.internal" in cli("account", "list").out
    assert opens(home, "bob", password)
    refused = cli("account", "remove", "bob")
    assert (refused.code, "--yes" in refused.err) == (2, True)
    assert cli("account", "remove", "bob", "--yes").code == 0
    assert not opens(home, "bob", password)
    gone = cli("account", "remove", "bob", "--yes")
    assert (gone.code, "no account bob" in gone.err) == (1, True)


def test_passwords_come_and_go(cli: Cli, home: Path, password_file: Path) -> None:
    cli("init", "--user", "ada", "--password-file", str(password_file))
    phone = generated(cli("password", "add", "phone").out)
    listed = cli("password", "list").out
    assert ("phone" in listed, phone in listed) == (True, False)
    assert opens(home, "ada", phone)
    assert cli("password", "add", "phone").code == 1
    assert cli("password", "revoke", "phone").code == 0
    assert not opens(home, "ada", phone)
    assert cli("password", "revoke", "phone").code == 1


async def test_beside_a_running_server_a_password_counts_at_once_and_no_longer_than_it_is_there(
    cli: Cli, server: Server
) -> None:
    ports = await server.start()
    home = server.folder.root
    told = await asyncio.to_thread(cli, "password", "add", "phone", home=home)
    account = Account(ports, "ada@postroom.internal", "ada", generated(told.out))
    box = await asyncio.to_thread(Mailbox, account, "INBOX")
    await asyncio.to_thread(box.close)
    open_box = await asyncio.to_thread(Mailbox, account, "INBOX")
    assert (await asyncio.to_thread(cli, "password", "revoke", "phone", home=home)).code == 0
    with pytest.raises(IMAPClientError):
        await asyncio.to_thread(open_box.mails)
    await asyncio.to_thread(open_box.close)
    added = await asyncio.to_thread(cli, "account", "add", "bob", home=home)
    bob = Account(ports, "bob@postroom.internal", "bob", generated(added.out))
    box = await asyncio.to_thread(Mailbox, bob, "Action")
    await asyncio.to_thread(box.close)
    assert generated(told.out) not in server.last_lines()
