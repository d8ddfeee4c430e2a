"""The set-up script finds a usable Python, and says in one line what to install when there is none."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.house.tree import ROOT

TOOLS = ("bash", "dirname", "tr", "cat")


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder that is the whole PATH: a few tools of the system, and what a test adds."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in TOOLS:
        found = shutil.which(name)
        assert found is not None
        (folder / name).symlink_to(found)
    return folder


def add(programs: Path, name: str, script: str) -> None:
    file = programs / name
    file.write_text(f"#!{programs}/bash\n{script}\n")
    file.chmod(0o755)


def run_setup(programs: Path, venv: Path) -> subprocess.CompletedProcess[str]:
    command = [str(programs / "bash"), str(ROOT / "scripts" / "setup.sh"), str(venv)]
    environ = {"PATH": str(programs), "HOME": str(venv.parent)}
    return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60)


def test_without_python_a_user_is_told_the_one_line(programs: Path, tmp_path: Path) -> None:
    add(programs, "id", "echo 1000")
    add(programs, "apt-get", "exit 99")
    done = run_setup(programs, tmp_path / "venv")
    assert done.returncode == 1
    assert "    sudo apt-get install -y python3 python3-venv\n" in done.stderr


def test_a_mac_is_told_to_use_brew(programs: Path, tmp_path: Path) -> None:
    add(programs, "id", "echo 501")
    add(programs, "brew", "exit 99")
    assert "    brew install python@3.13\n" in run_setup(programs, tmp_path / "venv").stderr


def test_root_on_debian_gets_it_installed(programs: Path, tmp_path: Path) -> None:
    """The made-up apt-get notes what it is asked for, and brings a python3 that notes what it is asked for."""
    notes = tmp_path / "notes"
    add(programs, "id", "echo 0")
    add(
        programs,
        "apt-get",
        f'echo "apt-get $*" >> {notes}\n[ "$1" = install ] || exit 0\n'
        f"printf '#!%s\\nexit 0\\n' {programs}/bash > {programs}/python3\n"
        f"{shutil.which('chmod')} +x {programs}/python3",
    )
    done = run_setup(programs, tmp_path / "venv")
    assert notes.read_text().splitlines() == ["apt-get update -qq", "apt-get install -y python3 python3-venv"]
    assert "running: apt-get install -y python3 python3-venv" in done.stdout


def test_an_old_python_is_passed_over_for_a_newer_one(programs: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    add(programs, "id", "echo 1000")
    add(programs, "python3", "exit 1")
    add(programs, "python3.12", f'echo "$*" >> {notes}; [ "$1" = --version ] && echo "Python 3.12.0"; exit 0')
    done = run_setup(programs, tmp_path / "venv")
    assert "with Python 3.12.0" in done.stdout
    assert f"-m venv --clear {tmp_path / 'venv'}" in notes.read_text()
