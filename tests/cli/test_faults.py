"""Whatever is wrong is a sentence with what to do and an exit code, never a traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bridge.cli import status
from config.paths import DataFolder, FolderLock, open_folder
from tests.cli.conftest import Cli
from tests.house.tree import ROOT


@pytest.mark.parametrize("command", ["serve", "status", "agents", "doctor"])
def test_every_fault_of_the_configuration_is_told_with_file_line_and_fix(cli: Cli, home: Path, command: str) -> None:
    home.mkdir(mode=0o700)
    file = home / "postroom.toml"
    file.write_text('user = "you"\nusr = "x"\n\n[listen]\nimap = 99999\nsmtp = "a"\n')
    told = cli(command)
    assert told.code == 2
    assert told.out == ""
    for line in (2, 5, 6):
        assert f"{file}:{line}" in told.err
    assert told.err.count("fix:") == 3
    assert "Traceback" not in told.err


def test_flags_are_named_when_they_are_at_fault(cli: Cli) -> None:
    told = cli("serve", "--log-level", "loud")
    assert (told.code, "log.level" in told.err) == (2, True)


def test_variables_are_named_when_they_are_at_fault(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POSTROOM_IMAP__MAX_SESSIONS", "many")
    told = cli("status")
    assert (told.code, "POSTROOM_IMAP__MAX_SESSIONS" in told.err) == (2, True)


def test_a_data_folder_that_is_a_file_is_refused(cli: Cli, home: Path) -> None:
    home.write_text("")
    told = cli("serve")
    assert (told.code, "is a file" in told.err) == (2, True)


def test_a_data_folder_in_use_is_code_3_and_names_the_process(cli: Cli, home: Path) -> None:
    with FolderLock(open_folder(home)):
        told = cli("serve")
    assert told.code == 3
    assert f"process {os.getpid()}" in told.err


def test_a_command_whose_server_does_not_answer_is_code_3(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bridge.cli.common.PAUSE_SECONDS", 0)
    with FolderLock(open_folder(home)):
        told = cli("inbox")
    assert told.code == 3
    assert "fix:" in told.err


def test_data_of_a_newer_version_is_refused(cli: Cli, home: Path, password_file: Path) -> None:
    import sqlite3

    cli("init", "--user", "ada", "--password-file", str(password_file))
    connection = sqlite3.connect(home / "postroom.sqlite3")
    connection.execute("UPDATE schema_versions SET number = number + 9999")
    connection.commit()
    connection.close()
    for command in ("serve", "status"):
        told = cli(command)
        assert (told.code, "newer" in told.err, "Traceback" in told.err) == (1, True, False)


def test_a_fault_of_ours_is_one_line(home: Path) -> None:
    program = (
        "from bridge.cli import status, program\n"
        "def broken(*_): raise ZeroDivisionError('by what?')\n"
        "status.settings_of = broken\n"
        "raise SystemExit(program.run(['status']))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert hasattr(status, "settings_of")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "ZeroDivisionError: by what?" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_that_goes_away_is_no_fault(cli: Cli, home: Path, password_file: Path) -> None:
    cli("init", "--user", "ada", "--password-file", str(password_file))
    command = f"{sys.executable} -m bridge.cli agents --home {home} | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert "Traceback" not in done.stderr
    assert "fault" not in done.stderr


def test_looking_makes_nothing(cli: Cli, home: Path) -> None:
    for arguments in (["status"], ["doctor"], ["config", "check"], ["agents"], ["skills", "list"], ["models"]):
        assert cli(*arguments).code == 0
        assert not home.exists(), arguments
    assert DataFolder(home).root == home
