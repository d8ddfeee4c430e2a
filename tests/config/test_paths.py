"""The data folder is private and belongs to one process at a time."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from config.paths import (
    DataFolder,
    FolderError,
    FolderLock,
    FolderLocked,
    holder,
    open_folder,
    usual_home,
    write_private,
)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_folder_is_made_private_with_its_parents(tmp_path: Path) -> None:
    folder = open_folder(tmp_path / "a" / "b")
    assert mode(folder.root) == 0o700
    assert folder.config_file == tmp_path / "a" / "b" / "postroom.toml"
    assert {path.parent for path in (folder.lock_file, folder.control_socket, folder.tls, folder.skills)} == {
        folder.root
    }


@pytest.mark.parametrize("content", [None, "postroom.toml"])
def test_an_open_folder_is_closed_when_it_is_empty_or_ours(tmp_path: Path, content: str | None) -> None:
    tmp_path.chmod(0o755)
    if content:
        (tmp_path / content).write_text("")
    open_folder(tmp_path)
    assert mode(tmp_path) == 0o700


def test_an_open_folder_with_other_things_is_refused_and_left_alone(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "thesis.odt").write_text("")
    with pytest.raises(FolderError, match="0755") as caught:
        open_folder(tmp_path)
    assert f"chmod 700 {tmp_path}" in caught.value.fix
    assert mode(tmp_path) == 0o755


def test_a_file_a_foreign_folder_and_an_impossible_one_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(FolderError, match="is a file"):
        open_folder(file)
    with pytest.raises(FolderError, match="cannot be made"):
        open_folder(file / "below")
    monkeypatch.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(FolderError, match="another user"):
        open_folder(tmp_path)


def test_the_usual_home_is_the_platforms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    home = usual_home()
    assert home.name == "postroom"
    assert sys.platform != "linux" or home == tmp_path / "postroom"


def test_a_private_file_replaces_the_old_one_whole(tmp_path: Path) -> None:
    file = tmp_path / "tls" / "key.pem"
    write_private(file, b"one")
    file.chmod(0o644)
    write_private(file, b"two")
    assert file.read_bytes() == b"two"
    assert mode(file) == 0o600
    assert mode(file.parent) == 0o700
    assert os.listdir(file.parent) == ["key.pem"]


HOLD = """
import sys
from pathlib import Path
from config.paths import DataFolder, FolderLock
with FolderLock(DataFolder(Path(sys.argv[1]))):
    print("held", flush=True)
    sys.stdin.read()
"""


def hold(folder: Path) -> subprocess.Popen[str]:
    """Another process that holds the folder until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_process_is_told_who_has_the_folder(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    with hold(tmp_path) as other:
        with pytest.raises(FolderLocked) as caught:
            FolderLock(folder)
        assert caught.value.pid == other.pid
        assert f"in use by process {other.pid}" in str(caught.value)
        assert str(tmp_path) in str(caught.value)
        assert holder(folder) == other.pid
    assert holder(folder) is None


def test_a_killed_holder_leaves_no_lock(tmp_path: Path) -> None:
    with hold(tmp_path) as other:
        other.send_signal(signal.SIGKILL)
        other.wait()
        with FolderLock(DataFolder(tmp_path)):
            assert holder(DataFolder(tmp_path)) == os.getpid()


def test_the_lock_holds_within_a_process_too_and_can_be_taken_again(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    first = FolderLock(folder)
    with pytest.raises(FolderLocked):
        FolderLock(folder)
    first.release()
    first.release()
    with FolderLock(folder):
        assert mode(folder.lock_file) == 0o600


def test_nobody_holds_a_folder_without_a_lock_file(tmp_path: Path) -> None:
    assert holder(DataFolder(tmp_path)) is None
