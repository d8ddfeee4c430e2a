"""`memory`, `folders` and `skills` on the command line, without a server: what they say, refuse and leave behind."""

import contextlib
import io
import json
import sqlite3
from pathlib import Path

import pytest

from agents.bundle import pack
from tests.cli.conftest import PASSWORD, Cli

SKILL = b"---\nname: clerk\ndescription: Files letters.\ntools: [read_mail]\n---\nFile them.\n"


def begun(cli: Cli, tmp_path: Path) -> None:
    secret = tmp_path / "password"
    secret.write_text(PASSWORD)
    secret.chmod(0o600)
    assert cli("init", "--password-file", str(secret)).code == 0


def test_memory_is_off_then_on_and_notes_come_and_go(cli: Cli, tmp_path: Path) -> None:
    begun(cli, tmp_path)
    assert "memory is off" in cli("memory", "list").out
    assert cli("memory", "on").out == "Memory is on for you.\n"
    assert "(it was before)" in cli("memory", "on").out
    assert cli("memory", "add", "The dentist is on Mondays.").out.startswith("Noted as N-")
    assert cli("memory", "add", "For one alone.", "--agent", "assistant").code == 0
    told = json.loads(cli("memory", "list", "--json").out)
    assert [note["agent"] for note in told["notes"]] == ["", "assistant"]
    assert "The dentist is on Mondays." in cli("memory", "list").out
    assert cli("memory", "add", "x", "--agent", "nobody").code == 1
    assert cli("memory", "add", " ").code == 1
    assert cli("memory", "forget").code == 1
    assert "has no note N-AAAAAA" in cli("memory", "forget", "N-AAAAAA").err
    code = told["notes"][0]["code"]
    assert cli("memory", "forget", code).out == f"Forgotten: {code}.\n"
    assert cli("memory", "forget", "--all").code == 0
    assert json.loads(cli("memory", "list", "--json").out)["notes"] == []


def test_folders_are_granted_listed_and_taken_back(cli: Cli, tmp_path: Path) -> None:
    begun(cli, tmp_path)
    recipes = tmp_path / "Recipes"
    recipes.mkdir()
    assert "none" in cli("folders", "list").out
    assert cli("folders", "grant", str(recipes)).out == f"Granted: every agent may read {recipes} as recipes.\n"
    assert "overlaps" in cli("folders", "grant", str(recipes), "--write").err
    assert "belongs to the system" in cli("folders", "grant", "/etc").err
    assert "is not there" in cli("folders", "grant", str(tmp_path / "none")).err
    assert "untrusted" in cli("folders", "list").out
    [folder] = json.loads(cli("folders", "list", "--json").out)
    assert (folder["path"], folder["writes"], folder["own"]) == (str(recipes), False, False)
    assert cli("folders", "revoke", "recipes").code == 0
    assert cli("folders", "revoke", "recipes").code == 1
    told = cli("folders", "grant", str(recipes), "--write", "--own", "--name", "food", "--agent", "assistant")
    assert told.out == f"Granted: assistant may read and, when you approve, write {recipes} as food.\n"


def test_an_account_that_is_removed_leaves_no_note_and_no_grant(cli: Cli, home: Path, tmp_path: Path) -> None:
    begun(cli, tmp_path)
    (tmp_path / "Recipes").mkdir()
    secret = tmp_path / "password"
    assert cli("account", "add", "bob", "--password-file", str(secret)).code == 0
    assert cli("memory", "on", "--account", "bob").code == 0
    assert cli("memory", "add", "secret of bob", "--account", "bob").code == 0
    assert cli("folders", "grant", str(tmp_path / "Recipes"), "--account", "bob").code == 0
    assert cli("account", "remove", "bob", "--yes").code == 0
    with contextlib.closing(sqlite3.connect(home / "postroom.sqlite3")) as store:
        for table in ("notes", "folders", "memory"):
            assert store.execute(f"SELECT count(*) FROM {table}").fetchall() == [(0,)], table


def test_skills_are_imported_turned_off_and_removed(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun(cli, tmp_path)
    file = tmp_path / "clerk.zip"
    file.write_bytes(pack({"clerk/SKILL.md": SKILL}))
    assert cli("skills", "import", str(file)).out == "  skill clerk: ready\n"
    assert "is there already" in cli("skills", "import", str(file)).err
    assert cli("skills", "import", str(file), "--replace").code == 0
    assert "clerk@postroom.internal" in cli("skills", "list").out
    assert cli("skills", "disable", "clerk").out == "clerk is off.\n"
    assert "turned off" in cli("skills", "list").out
    assert cli("skills", "enable", "clerk").out == "clerk is on.\n"
    refused = cli("skills", "disable", "summariser")
    assert (refused.code, "agents.assistant.skills" in refused.err) == (1, True)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    unasked = cli("skills", "remove", "clerk")
    assert (unasked.code, "nobody answered; nothing was done" in unasked.err, "--yes" in unasked.err) == (2, True, True)
    assert cli("skills", "remove", "clerk", "--yes").out == "The skill clerk is gone.\n"
    assert cli("skills", "remove", "clerk", "--yes").code == 1
    assert cli("skills", "import", str(tmp_path / "none.zip")).code == 2
    endless = cli("skills", "import", "/dev/zero")
    assert (endless.code, "it is larger than 20 MiB" in endless.err) == (1, True)
    file.write_bytes(b"no zip")
    assert "nothing was taken in" in cli("skills", "import", str(file)).err


def test_a_plugin_says_what_of_it_is_not_used(cli: Cli, tmp_path: Path) -> None:
    begun(cli, tmp_path)
    file = tmp_path / "office.zip"
    manifest = b'{"name": "office", "mcpServers": {"docs": {"command": "x"}}}'
    skill = SKILL.replace(b"read_mail", b"docs.search")
    file.write_bytes(pack({"plugin.json": manifest, "skills/clerk/SKILL.md": skill, "hooks/a.json": b"{}"}))
    told = cli("skills", "import", str(file)).out
    assert "Plugin office:" in told
    assert "skill clerk: not ready (server docs: is turned off)" in told
    assert "server docs: off; look at it in .mcp.json, then `postroom mcp enable docs`" in told
    assert "hooks/: hooks are not used" in told


def test_the_doctor_names_a_skill_that_is_broken_and_one_that_lacks_something(
    cli: Cli, home: Path, tmp_path: Path
) -> None:
    begun(cli, tmp_path)
    assert "each ready or turned off" in cli("doctor").out
    for name, more in (("gated", "interruptOn: [send_mail]\n"), ("clerk", "requires: [nobody]\n")):
        (home / "skills" / name).mkdir(parents=True)
        text = SKILL.decode().replace("clerk", name).replace("---\nFile", f"{more}---\nFile")
        (home / "skills" / name / "SKILL.md").write_text(text)
    found = {
        each["found"]: each["state"] for each in json.loads(cli("doctor", "--json").out) if each["check"] == "skills"
    }
    assert found == {
        "clerk is not ready: it requires nobody, which is not ready": "note",
        "gated is broken: interruptOn: send_mail is not among its tools, so the gate would guard nothing": "fault",
    }
