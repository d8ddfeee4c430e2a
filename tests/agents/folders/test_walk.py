"""Reading, listing and writing in a folder while somebody lays traps in it."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from agents.folders import walk
from agents.folders.rules import NotGranted

MARK = "0123456789abcdef0123456789abcdef"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "plan.txt").write_text("plant trees")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "plan.txt").write_text("secret")
    return folder


def refused(act: Callable[[], object]) -> str:
    with pytest.raises(NotGranted) as caught:
        act()
    return caught.value.why


def put(root: Path, names: tuple[str, ...], data: bytes, replace: bool = False) -> None:
    walk.write(root, names, data, replace=replace, mark=MARK)


def test_a_file_is_read_and_a_folder_listed(root: Path) -> None:
    (root / "b.txt").write_text("four")
    (root / ".hidden").touch()
    (root / "id_rsa").touch()
    assert walk.read(root, ("sub", "plan.txt")) == b"plant trees"
    found = walk.listing(root, ())
    assert [(entry.name, entry.size) for entry in found.entries] == [("sub", None), ("b.txt", 4)]


def test_no_link_is_followed_anywhere(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (root / "file").symlink_to(outside / "plan.txt")
    (root / "folder").symlink_to(outside)
    (root / "inner").symlink_to(root / "sub")
    assert "link" in refused(lambda: walk.read(root, ("file",)))
    assert "link" in refused(lambda: walk.read(root, ("folder", "plan.txt")))
    assert "link" in refused(lambda: walk.read(root, ("inner", "plan.txt")))
    assert "link" in refused(lambda: walk.listing(root, ("folder",)))
    assert "link" in refused(lambda: put(root, ("folder", "new.txt"), b"x"))
    assert "plain file" in refused(lambda: put(root, ("file",), b"x", replace=True))
    assert [entry.name for entry in walk.listing(root, ()).entries] == ["sub"]
    assert (outside / "plan.txt").read_text() == "secret"


def test_the_root_itself_may_not_become_a_link(root: Path, tmp_path: Path) -> None:
    """A grant names a place; whoever puts a link there, or on the way to it, moves nothing."""
    root.rename(tmp_path / "moved")
    root.symlink_to(tmp_path / "outside")
    assert "link" in refused(lambda: walk.read(root, ("plan.txt",)))
    root.unlink()
    (tmp_path / "way").symlink_to(tmp_path / "moved")
    assert "link" in refused(lambda: walk.read(tmp_path / "way" / "sub", ("plan.txt",)))


def test_a_link_swapped_in_between_never_leads_outside(
    root: Path, tmp_path: Path, count: Callable[[int, int], int]
) -> None:
    """The race of check and use, run for real: a folder turns into a link and back while it is read."""
    stop = threading.Event()
    away = root / "away"

    def swap() -> None:
        while not stop.is_set():
            (root / "sub").rename(away)
            (root / "sub").symlink_to(tmp_path / "outside")
            (root / "sub").unlink()
            away.rename(root / "sub")

    thread = threading.Thread(target=swap)
    thread.start()
    seen = set()
    try:
        for _ in range(count(400, 50_000)):
            try:
                seen.add(walk.read(root, ("sub", "plan.txt")))
            except NotGranted:
                seen.add(b"refused")
    finally:
        stop.set()
        thread.join()
    assert seen <= {b"plant trees", b"refused"}


def test_what_is_no_plain_file_is_not_read_and_nothing_hangs(root: Path) -> None:
    os.mkfifo(root / "pipe")
    assert "no plain file" in refused(lambda: walk.read(root, ("pipe",)))
    assert refused(lambda: walk.read(root, ("sub",)))
    assert "not there" in refused(lambda: walk.read(root, ("none.txt",)))
    assert refused(lambda: walk.read(root, ("sub", "plan.txt", "x")))
    assert [entry.name for entry in walk.listing(root, ()).entries] == ["sub"]


def test_sizes_are_bounded(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "MAX_READ", 10)
    monkeypatch.setattr(walk, "MAX_WRITE", 10)
    monkeypatch.setattr(walk, "MAX_ENTRIES", 3)
    assert "larger than" in refused(lambda: walk.read(root, ("sub", "plan.txt")))
    assert "are not written" in refused(lambda: put(root, ("new",), b"x" * 11))
    for number in range(5):
        (root / f"{number}.txt").touch()
    found = walk.listing(root, ())
    assert (len(found.entries), found.more) == (3, 3)


def test_a_file_is_written_whole_and_once(root: Path) -> None:
    put(root, ("sub", "new.txt"), b"one")
    assert (root / "sub" / "new.txt").read_bytes() == b"one"
    put(root, ("sub", "new.txt"), b"one")  # the same again, as after a crash behind the act
    assert "is there already" in refused(lambda: put(root, ("sub", "new.txt"), b"two"))
    put(root, ("sub", "new.txt"), b"two", replace=True)
    assert (root / "sub" / "new.txt").read_bytes() == b"two"
    assert "not there" in refused(lambda: put(root, ("sub", "other.txt"), b"x", replace=True))
    assert sorted(os.listdir(root / "sub")) == ["new.txt", "plan.txt"]


def test_what_a_crash_left_beside_is_taken_away(root: Path) -> None:
    left = root / f".postroom-{MARK[:24]}.part"
    left.write_text("half of it")
    put(root, ("new.txt",), b"whole")
    assert not left.exists()
    assert (root / "new.txt").read_bytes() == b"whole"


def test_a_name_that_differs_only_in_case_is_not_written_beside(root: Path) -> None:
    (root / "Plan.txt").write_text("old")
    assert "letter case" in refused(lambda: put(root, ("plan.txt",), b"x"))
    assert "letter case" in refused(lambda: put(root, ("PLAN.TXT",), b"x", replace=True))


def test_a_file_with_a_second_name_elsewhere_is_not_changed_there(root: Path, tmp_path: Path) -> None:
    os.link(tmp_path / "outside" / "plan.txt", root / "twin.txt")
    put(root, ("twin.txt",), b"mine", replace=True)
    assert (tmp_path / "outside" / "plan.txt").read_text() == "secret"
