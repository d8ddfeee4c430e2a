"""A secret is read on first use, from a private place, and no text form of it ever shows the value."""

import copy
import json
import os
import pickle
from collections.abc import Mapping
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked

from config.secrets import Secret, SecretError

VALUE = "canary-5e2b"


def secret(reference: str, environ: Mapping[str, str] | None = None) -> Secret:
    return Secret(reference, environ={} if environ is None else environ)


def private_file(folder: Path, text: str = VALUE + "\n", mode: int = 0o600) -> Path:
    file = folder / "secret"
    file.write_text(text)
    file.chmod(mode)
    return file


def test_no_text_form_shows_the_value() -> None:
    hidden = secret("env:KEY", {"KEY": VALUE})
    assert hidden.reveal() == VALUE
    forms = [repr(hidden), str(hidden), f"{hidden}", f"{hidden:>40}", f"{hidden!r}", repr([hidden])]
    assert not [form for form in forms if VALUE in form]
    with pytest.raises(TypeError):
        pickle.dumps(hidden)
    with pytest.raises(TypeError):
        json.dumps(hidden)
    assert copy.deepcopy(hidden) is hidden


def test_the_variable_is_read_when_first_asked_for_and_then_kept() -> None:
    environ: dict[str, str] = {}
    late = secret("env:KEY", environ)
    assert late.revealed() is None
    environ["KEY"] = VALUE
    assert late.reveal() == VALUE
    environ["KEY"] = "other"
    assert late.reveal() == VALUE
    assert late.revealed() == VALUE


def test_a_missing_variable_names_itself_and_the_fix() -> None:
    with pytest.raises(SecretError) as caught:
        secret("env:KEY").reveal()
    assert caught.value.fix == "set the environment variable KEY"


def test_a_private_file_is_read_without_its_line_end(tmp_path: Path) -> None:
    assert secret(f"file:{private_file(tmp_path)}").reveal() == VALUE


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666, 0o700 | 0o010])
def test_a_file_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    file = private_file(tmp_path, mode=mode)
    with pytest.raises(SecretError, match="others can read it") as caught:
        secret(f"file:{file}").reveal()
    assert caught.value.fix == f"chmod 600 {file}"
    assert VALUE not in str(caught.value)


def test_a_file_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = private_file(tmp_path)
    monkeypatch.setattr(os, "getuid", lambda: os.stat(file).st_uid + 1)
    with pytest.raises(SecretError, match="belongs to another user"):
        secret(f"file:{file}").reveal()


@pytest.mark.parametrize(
    ("text", "part"),
    [("", "is empty"), ("\n", "is empty"), ("x" * 70_000, "larger than 64 KiB")],
)
def test_a_file_without_a_usable_value_is_refused(tmp_path: Path, text: str, part: str) -> None:
    with pytest.raises(SecretError, match=part):
        secret(f"file:{private_file(tmp_path, text)}").reveal()


def test_folders_pipes_binaries_and_missing_files_are_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o600)
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe")
    binary.chmod(0o600)
    for path, part in [(pipe, "plain file"), (binary, "UTF-8"), (tmp_path / "no", "read"), (tmp_path, "plain file")]:
        with pytest.raises(SecretError, match=part):
            secret(f"file:{path}").reveal()


class FakeKeyring(KeyringBackend):
    """A keyring in memory; the real one belongs to a desktop session."""

    priority = 1.0

    def get_password(self, service: str, username: str) -> str | None:
        if service == "locked":
            raise KeyringLocked
        return {("post/room", "relay"): VALUE}.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        raise AssertionError("nothing here writes to a keyring")

    def delete_password(self, service: str, username: str) -> None:
        raise AssertionError("nothing here writes to a keyring")


def test_the_keyring_is_asked_by_service_and_name() -> None:
    before = keyring.get_keyring()
    keyring.set_keyring(FakeKeyring())  # type: ignore[no-untyped-call]  # its base class has no types
    try:
        assert secret("keyring:post/room/relay").reveal() == VALUE
        with pytest.raises(SecretError, match="not in the keyring"):
            secret("keyring:postroom/none").reveal()
        with pytest.raises(SecretError, match="KeyringLocked"):
            secret("keyring:locked/x").reveal()
    finally:
        keyring.set_keyring(before)


@pytest.mark.parametrize(
    "text", ["", VALUE, "env:", "env:A B", "keyring:x", "keyring:/x", "keyring:x/", "file:", "ENV:X"]
)
def test_what_is_no_reference_is_refused_without_being_repeated(text: str) -> None:
    with pytest.raises(SecretError) as caught:
        secret(text)
    assert VALUE not in str(caught.value)


def test_secrets_are_equal_when_their_references_are() -> None:
    assert secret("env:A", {"A": "1"}) == secret("env:A")
    assert len({secret("env:A"), secret("env:A"), secret("env:B")}) == 2
