"""Which folders may be granted, and which paths in them are read."""

import os
from pathlib import Path

import pytest

from agents.folders.rules import NotGranted, checked, is_hidden, parts


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "postroom"
    folder.mkdir()
    return folder


def made(path: Path) -> Path:
    path.mkdir(parents=True)
    return path


def refused(path: Path | str, data: Path, *taken: Path) -> str:
    with pytest.raises(NotGranted) as caught:
        checked(str(path), data, taken)
    return caught.value.why


def test_a_folder_of_ones_own_is_granted(tmp_path: Path, data: Path) -> None:
    notes = made(tmp_path / "My Notes")
    assert checked(str(notes), data, []) == notes


def test_what_is_no_folder_is_not(tmp_path: Path, data: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert "not a folder" in refused(file, data)
    assert "not there" in refused(tmp_path / "none", data)
    assert "not a whole path" in refused("notes", data)
    assert "not a whole path" in refused("../notes", data)
    assert "not there" in refused("/tmp/\0x", data)


@pytest.mark.parametrize("path", ["/", "/etc", "/usr/share", "/proc/self", "/home", "/tmp", "/var", "/dev/shm"])
def test_places_of_the_system_are_not(path: str, data: Path) -> None:
    if Path(path).is_dir():
        assert "belongs to the system" in refused(path, data) or "home" in refused(path, data)


def test_a_whole_home_is_not_and_hidden_folders_are_not(
    tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = made(tmp_path / "ada")
    monkeypatch.setenv("HOME", str(home))
    assert "whole home" in refused(home, data)
    assert "whole home" in refused(tmp_path, data)
    assert "hidden" in refused(made(home / ".ssh"), data)
    assert "hidden" in refused(made(home / ".config" / "x"), data)
    assert checked("~/Notes", data, []) == home / "Notes" if made(home / "Notes") else False


def test_postrooms_own_folder_is_not_from_either_side(tmp_path: Path, data: Path) -> None:
    assert "Postroom's own data" in refused(data, data)
    assert "Postroom's own data" in refused(made(data / "skills"), data)
    assert "Postroom's own data" in refused(made(tmp_path / "wide"), tmp_path / "wide" / "data")


def test_grants_do_not_overlap_in_any_spelling(tmp_path: Path, data: Path) -> None:
    notes, inner = made(tmp_path / "Notes"), made(tmp_path / "Notes" / "2026")
    other, alike = made(tmp_path / "NotesOld"), made(tmp_path / "NOTES")
    assert "overlaps" in refused(notes, data, notes)
    assert "overlaps" in refused(inner, data, notes)
    assert "overlaps" in refused(notes, data, inner)
    assert "overlaps" in refused(alike, data, notes)
    assert checked(str(other), data, [notes]) == other
    composed, split = made(tmp_path / "Caf\u00e9"), made(tmp_path / "Cafe\u0301")
    assert "overlaps" in refused(split, data, composed)


def test_a_link_is_granted_as_what_it_leads_to(tmp_path: Path, data: Path) -> None:
    notes = made(tmp_path / "notes")
    link = tmp_path / "link"
    link.symlink_to(notes)
    assert checked(str(link), data, []) == notes
    assert "overlaps" in refused(link, data, notes)
    link.unlink()
    link.symlink_to("/etc")
    assert "belongs to the system" in refused(link, data)
    link.unlink()
    link.symlink_to(data)
    assert "Postroom's own data" in refused(link, data)
    assert "Postroom's own data" in refused(os.path.join(notes, "..", "postroom"), data)


@pytest.mark.parametrize(
    "path",
    [
        "notes/../secret",
        "../notes",
        "notes/./x",
        "notes//x",
        "/etc/passwd",
        "~/x",
        "C:/x",
        "notes\\x",
        "notes/a\0b",
        "notes/a\nb",
        "notes/" + "a/" * 40 + "b",
        "notes/" + "a" * 1000,
        "notes/.env",
        "notes/.git/config",
        "notes/id_rsa",
        "notes/Server.PEM",
        "notes/Secrets.yaml",
        "notes/credentials",
        "",
    ],
)
def test_paths_that_are_not_taken(path: str) -> None:
    with pytest.raises(NotGranted):
        parts(path)


def test_paths_that_are(tmp_path: Path) -> None:
    assert parts("notes/2026/plan für Mai.md") == ("notes", "2026", "plan für Mai.md")
    assert parts("notes/") == ("notes",)
    assert parts("notes/a..b") == ("notes", "a..b")
    assert not is_hidden("keys.txt")
