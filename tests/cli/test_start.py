"""Every command starts quickly, has help, and drags in no library that it does not need."""

import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from bridge.cli.program import GROUPS, SINGLE, program
from tests.cli.conftest import Cli
from tests.house.test_imports import HEAVY
from tests.house.tree import ROOT

POSTROOM = Path(sys.executable).with_name("postroom")
COMMANDS = [[name] for name, _ in SINGLE] + [[group, name] for group, (_, below) in GROUPS.items() for name, _ in below]
QUICK = [["--help"], ["status"], ["inbox"], ["account", "list"], ["password", "list"], ["config", "check"], ["agents"]]
CPU_SECONDS = 0.4


def spent(arguments: list[str], home: Path) -> float:
    """The processor seconds of one run of the program: on a busy machine they say more than the clock."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    folder = [] if arguments == ["--help"] else ["--home", str(home)]
    subprocess.run([POSTROOM, *arguments, *folder], capture_output=True, check=False, cwd=ROOT, timeout=60)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


@pytest.mark.parametrize("arguments", QUICK, ids=" ".join)
def test_a_command_starts_in_less_than_four_tenths_of_a_second(
    cli: Cli, home: Path, password_file: Path, arguments: list[str]
) -> None:
    cli("init", "--user", "ada", "--password-file", str(password_file))
    assert min(spent(arguments, home) for _ in range(3)) < CPU_SECONDS


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
    folder = [] if arguments == ["--help"] else ["--home", str(home)]
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "bridge.cli", *arguments, *folder],
        capture_output=True, text=True, check=True, cwd=ROOT, env={**os.environ}, timeout=60,
    )  # fmt: skip
    modules = {
        match[1].partition(".")[0] for match in re.finditer(r"^import time:.*\| +(\S+)$", done.stderr, re.MULTILINE)
    }
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
