"""Watched mailboxes in the settings: each under its name, whole, and never with a password that travels in clear."""

from pathlib import Path

import pytest

from config.errors import ConfigError
from config.load import load

WHOLE = """
[mailboxes.office]
host = "imap.example.net"
username = "ada"
password = "env:OFFICE"
mailbox = "Clients/New"
"""


def written(tmp_path: Path, text: str) -> Path:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    file = home / "postroom.toml"
    file.write_text(text)
    file.chmod(0o600)
    return home


def test_a_mailbox_is_read_with_its_defaults_and_its_password_is_a_secret(tmp_path: Path) -> None:
    made = load(home=written(tmp_path, WHOLE), environ={"OFFICE": "sesame"})
    office = made.mailboxes["office"]
    assert (office.name, office.mailbox, office.port, office.tls) == ("office", "Clients/New", 993, "implicit")
    assert office.password in made.secrets()
    assert "sesame" not in repr(made)
    assert made.webhooks.enabled is False


@pytest.mark.parametrize(
    ("change", "key", "told"),
    [
        (("mailboxes.office", "mailboxes.'of.fice'"), "of.fice", "is not a name of up to 40"),
        (('host = "imap.example.net"', ""), "mailboxes.office.host", "is missing"),
        (('username = "ada"', ""), "mailboxes.office.username", "is missing"),
        (('password = "env:OFFICE"', ""), "mailboxes.office.password", "is missing"),
        (('password = "env:OFFICE"', 'password = "sesame"'), "mailboxes.office.password", ""),
        (('host = "imap.example.net"', 'host = "imap.example.net"\ntls = "none"'), "mailboxes.office.tls", "in clear"),
        (
            ('username = "ada"', 'username = "ada"\naccount = "Ada"'),
            "mailboxes.office.account",
            "is no name of an account",
        ),
        (('username = "ada"', 'username = "ada"\nfolder = "x"'), "mailboxes.office.folder", "is not a setting"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, change: tuple[str, str], key: str, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(home=written(tmp_path, WHOLE.replace(*change)), environ={})
    text = str(caught.value)
    assert key in text
    assert told in text
    assert "sesame" not in text
