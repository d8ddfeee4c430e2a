"""Signatures of webhooks in the settings: each under the name of its webhook, whole, and the key by reference."""

from pathlib import Path

import pytest

from config.errors import ConfigError
from config.load import load
from config.settings import Settings

GOOD = """
[signatures.deploy]
scheme = "github"
key = "env:DEPLOY"
"""


def read(home: Path, text: str) -> Settings:
    home.mkdir(exist_ok=True)
    (home / "postroom.toml").write_text(text, "utf-8")
    return load(home=home, environ={"DEPLOY": "a key of the tests, 32 letters.."})


def test_a_signature_is_read_with_its_key_by_reference(tmp_path: Path) -> None:
    made = read(tmp_path / "home", GOOD)
    signed = made.signatures["deploy"]
    assert (signed.name, signed.scheme, signed.account, signed.header) == ("deploy", "github", "", "X-Signature")
    assert signed.key in made.secrets()
    assert "a key of the tests" not in repr(made)


@pytest.mark.parametrize(
    ("change", "key", "told"),
    [
        (("signatures.deploy", "signatures.'de.ploy'"), "de.ploy", "is not a name of up to 40"),
        (('key = "env:DEPLOY"', ""), "signatures.deploy.key", "is missing"),
        (('key = "env:DEPLOY"', 'key = "sesame-sesame-sesame"'), "signatures.deploy.key", "plain text"),
        (('scheme = "github"', 'scheme = "gitlab"'), "signatures.deploy.scheme", "is not one of the choices"),
        (('scheme = "github"', 'header = "X Mine: "'), "signatures.deploy.header", "is no name of a header"),
        (('scheme = "github"', 'account = "Ada"'), "signatures.deploy.account", "is no name of an account"),
        (('scheme = "github"', 'account = "ada@example.org"'), "signatures.deploy.account", "no name of an account"),
        (('scheme = "github"', 'secret = "x"'), "signatures.deploy.secret", "is not a setting"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, change: tuple[str, str], key: str, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path / "home", GOOD.replace(*change))
    assert key in str(caught.value)
    assert told in str(caught.value)
    assert "sesame" not in str(caught.value)
