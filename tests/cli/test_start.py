"""Every command starts quickly, has help, and drags in no library that it does not need."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from bridge.cli.program import GROUPS, SINGLE, program
from tests.cli.conftest import Cli
from tests.house.test_imports import HEAVY
from tests.house.tree import ROOT

COMMANDS = [[name] for name, _ in SINGLE] + [[group, name] for group, (_, below) in GROUPS.items() for name, _ in below]
QUICK = [["--help"], ["status"], ["inbox"], ["account", "list"], ["password", "list"], ["config", "check"], ["agents"]]
MOST_MODULES = 450


def imported(arguments: list[str], home: Path) -> list[str]:
    """The modules that one run of the program imports, in order."""
    folder = [] if arguments == ["--help"] else ["--home", str(home)]
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "bridge.cli", *arguments, *folder],
        capture_output=True, text=True, check=False, cwd=ROOT, env={**os.environ}, timeout=60,
    )  # packed, to be seen at a glance  # fmt: skip
    assert done.returncode == 0 or arguments == ["doctor"], done.stdout  # it may find a port of this machine taken
    return re.findall(r"^import time:.*\| +(\S+)$", done.stderr, re.MULTILINE)


@pytest.mark.parametrize("arguments", QUICK, ids=" ".join)
def test_a_command_imports_few_modules(cli: Cli, home: Path, password_file: Path, arguments: list[str]) -> None:
    """What a start costs is what it imports: 450 modules take about 0.3 s. Seconds themselves are `make bench`'s."""
    cli("init", "--user", "ada", "--password-file", str(password_file))
    assert len(imported(arguments, home)) <= MOST_MODULES


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_every_command_has_help(cli: Cli, arguments: list[str]) -> None:
    told = cli(*arguments, "--help", home=None)
    assert told.code == 0
    assert f"postroom {' '.join(arguments)}" in told.out


@pytest.mark.parametrize(
    "arguments", [["--help"], ["status"], ["inbox"], ["doctor"], ["config", "check"]], ids=" ".join
)
def test_a_command_imports_nothing_heavy(cli: Cli, home: Path, password_file: Path, arguments: list[str]) -> None:
    cli("init", "--user", "ada", "--password-file", str(password_file))
    modules = {name.partition(".")[0] for name in imported(arguments, home)}
    assert "typer" in modules
    assert sorted(modules & set(HEAVY)) == []


def test_without_a_command_the_help_is_shown(cli: Cli) -> None:
    told = cli(home=None)
    assert "serve" in told.out + told.err
    assert told.code == 2


def test_the_version_is_told(cli: Cli) -> None:
    assert re.fullmatch(r"postroom \d+\.\d+\.\d+\S*\n", cli("--version", home=None).out)


@pytest.mark.parametrize(
    "arguments",
    [["launch"], ["serve", "--imap-port", "70000"], ["serve", "--imap-port", "x"], ["inbox", "-n", "0"], ["approve"]],
    ids=" ".join,
)
def test_wrong_usage_is_told_with_code_2(cli: Cli, arguments: list[str]) -> None:
    told = cli(*arguments, home=None)
    assert (told.code, told.out) == (2, "")
    assert told.err
    assert "Traceback" not in told.err


def test_the_reference_page_is_what_the_program_makes_of_itself() -> None:
    made = subprocess.run(
        [sys.executable, "-m", "bridge.cli.describe"], capture_output=True, text=True, check=True, cwd=ROOT, timeout=60
    ).stdout
    assert (ROOT / "docs" / "reference" / "cli.md").read_text() == made


def test_the_table_of_commands_is_the_program() -> None:
    root = get_command(program())
    assert set(root.commands) == {name for name, _ in SINGLE} | set(GROUPS)  # type: ignore[attr-defined]  # a group of commands
