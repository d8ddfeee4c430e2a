"""`audit`, `grants` and `dkim` on the command line."""

import json
import stat
from pathlib import Path

from tests.cli.conftest import PASSWORD, Cli

RELAY = '[relay]\nhost = "mail.example.net"\nfrom = "ada@example.net"\n'


def begun(cli: Cli, tmp_path: Path) -> None:
    secret = tmp_path / "password"
    secret.write_text(PASSWORD)
    secret.chmod(0o600)
    assert cli("init", "--password-file", str(secret)).code == 0


def test_an_empty_trail_and_no_grants(cli: Cli, tmp_path: Path) -> None:
    begun(cli, tmp_path)
    assert "empty" in cli("audit").out
    assert "none" in cli("grants", "list").out
    assert json.loads(cli("audit", "--json").out)["entries"] == []
    missing = cli("audit", "A-7F3K")
    assert missing.code == 1
    assert "nothing is known" in missing.err
    gone = cli("grants", "revoke", "G-ABCDEF")
    assert gone.code == 1
    assert "no standing approval" in gone.err


def test_without_a_domain_to_sign_for_dkim_says_what_to_write(cli: Cli) -> None:
    told = cli("dkim")
    assert told.code == 2
    assert "dkim_domain" in told.err


def test_dkim_prints_the_record_of_one_key_that_only_the_owner_can_read(cli: Cli, home: Path) -> None:
    home.mkdir(mode=0o700)
    (home / "postroom.toml").write_text(RELAY + 'dkim_domain = "example.net"\n')
    first, second = json.loads(cli("dkim", "--json").out), json.loads(cli("dkim", "--json").out)
    assert first == second
    assert first["name"] == "postroom._domainkey.example.net."
    assert first["value"].startswith("v=DKIM1; k=rsa; p=")
    assert stat.S_IMODE((home / "tls" / "dkim.pem").stat().st_mode) == 0o600
    plain = cli("dkim").out
    assert "IN TXT" in plain
    assert "PRIVATE" not in plain
