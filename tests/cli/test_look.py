"""`explain`, `agents`, `skills`, `models`, `config check` and `doctor`."""

import json
import os
import socket
from pathlib import Path

import pytest

from bridge.demo.server import Server
from tests.cli.conftest import Cli
from tests.house.tree import ROOT

CORPUS = ROOT / "tests" / "replies" / "corpus"


def states(told: str) -> dict[str, str]:
    return {each["check"]: each["state"] for each in json.loads(told)}


def test_explain_gives_one_json_line_a_file_and_needs_no_data_folder(cli: Cli, home: Path) -> None:
    files = [str(path) for path in sorted(CORPUS.glob("*.eml"))[:3]]
    told = cli("explain", *files, "--sent", str(CORPUS / "sent.json"), "--languages", "all", "--json", home=None)
    rows = [json.loads(line) for line in told.out.splitlines()]
    expected = json.loads((CORPUS / "expected.json").read_text())
    assert [row["file"] for row in rows] == files
    for row in rows:
        assert {"file", "new_text", "decision", "auto", "rule"} <= set(row)
        assert row["decision"] == expected[Path(row["file"]).name]["decision"]
    assert not home.exists()


def test_languages_that_are_off_decide_nothing(cli: Cli) -> None:
    (german,) = CORPUS.glob("018-*.eml")
    decisions = [
        json.loads(
            cli("explain", str(german), "--sent", str(CORPUS / "sent.json"), *languages, "--json", home=None).out
        )
        for languages in ([], ["--languages", "en,de"])
    ]
    assert [each["decision"] for each in decisions] == ["respond", "approve"]


def test_explain_reads_for_people_too_and_says_what_it_cannot_read(cli: Cli, tmp_path: Path) -> None:
    (first,) = CORPUS.glob("001-*.eml")
    told = cli("explain", str(first), str(tmp_path / "none.eml"), home=None)
    assert ("approve" in told.out, "No such file" in told.out, told.code) == (True, True, 1)
    wrong = cli("explain", str(first), "--sent", str(first), home=None)
    assert (wrong.code, "Traceback" in wrong.err) == (2, False)


def test_agents_skills_and_models_are_listed(cli: Cli) -> None:
    (agent,) = json.loads(cli("agents", "--json").out)
    assert (agent["address"], agent["model"], agent["skills"]) == (
        "assistant@postroom.internal",
        "demo",
        ["summariser"],
    )
    assert "assistant@postroom.internal" in cli("agents").out
    skills = json.loads(cli("skills", "list", "--json").out)
    assert [(each["name"], each["state"]) for each in skills] == [("guide", "ready"), ("summariser", "ready")]
    assert "summariser@postroom.internal" in cli("skills", "list").out
    (model,) = json.loads(cli("models", "--json").out)
    assert (model["tag"], model["key"]) == ("demo", None)


def test_a_skill_that_is_not_ready_is_named_with_the_reason(cli: Cli, home: Path) -> None:
    broken = home / "skills" / "broken"
    broken.mkdir(parents=True)
    home.chmod(0o700)
    (broken / "SKILL.md").write_text("---\nname: other\n---\nx\n")
    told = cli("skills", "list")
    assert (told.code, "broken" in told.out) == (1, True)


def test_models_show_where_a_key_is_and_never_the_key(cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", "sk-very-secret-value")
    home.mkdir(mode=0o700)
    (home / "postroom.toml").write_text('[models.big]\nmodel = "openai/gpt"\napi_key = "env:A_KEY"\n')
    for command in (["models"], ["models", "--json"], ["config", "check"], ["doctor", "--json"]):
        told = cli(*command)
        assert "very-secret" not in told.out + told.err
    assert "env:A_KEY" in cli("models").out


def test_the_configuration_is_checked_without_touching_anything(cli: Cli, home: Path) -> None:
    told = cli("config", "check")
    assert (told.code, "No faults." in told.out, home.exists()) == (0, True, False)


def test_an_imap_extension_that_does_not_exist_is_a_fault_of_the_check_and_of_the_start(cli: Cli, home: Path) -> None:
    home.mkdir()
    (home / "postroom.toml").write_text('[imap]\nextensions_imaps = ["IDEL"]\n')
    for command in (["config", "check"], ["serve"]):
        told = cli(*command)
        assert told.code == 2
        assert "imap.extensions_imaps: IDEL is not an IMAP extension that Postroom speaks" in told.err
        assert "fix: did you mean IDLE?" in told.err


def test_the_doctor_finds_a_fresh_folder_well(cli: Cli, home: Path, password_file: Path) -> None:
    cli("init", "--user", "ada", "--password-file", str(password_file))
    (home / "postroom.toml").write_text("[listen]\nimap = 0\nimaps = 0\nsmtp = 0\nsmtps = 0\nweb = 0\n")
    told = cli("doctor", "--json")
    found = states(told.out)
    assert told.code == 0
    assert {found[check] for check in ("data folder", "certificate", "store", "clock")} == {"ok"}
    assert found["server"] == found["relay"] == found["model of assistant"] == "note"
    assert "every invariant holds" in cli("doctor").out


async def test_the_doctor_asks_a_running_server(cli: Cli, server: Server) -> None:
    import asyncio

    await server.start()
    told = await asyncio.to_thread(cli, "doctor", "--json", home=server.folder.root)
    found = states(told.out)
    assert {found[check] for check in ("server", "port imap", "port imaps", "port smtp", "port smtps", "store")} == {
        "ok"
    }
    assert found["relay"] == "fault"  # port 9 of this machine, where nobody is
    assert told.code == 1


def test_the_doctor_finds_what_is_wrong_and_says_what_to_do(
    cli: Cli, home: Path, password_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("init", "--user", "ada", "--password-file", str(password_file))
    with socket.create_server(("localhost", 0)) as taken:
        number = taken.getsockname()[1]
        (home / "postroom.toml").write_text(
            f'[listen]\nhosts = ["127.0.0.1", "192.0.2.7"]\nimap = {number}\nimaps = 0\nsmtp = 0\nsmtps = 0\nweb = 0\n'
            '[relay]\nhost = "127.0.0.1"\nport = 9\ntls = "none"\nfrom = "a@example.org"\n'
            '[models.big]\nmodel = "openai/gpt"\napi_key = "env:NO_SUCH_KEY"\n[agents.assistant]\nmodel = "big"\n'
        )
        (home / "tls" / "server.pem").chmod(0o644)
        told = cli("doctor", "--json")
    found = {each["check"]: each for each in json.loads(told.out)}
    assert told.code == 1
    for check in ("files", "port imap", "certificate", "model of assistant", "relay"):
        assert found[check]["state"] == "fault", check
        assert found[check]["fix"], check
    assert "192.0.2.7" in found["certificate"]["found"]
    assert "NO_SUCH_KEY" in found["model of assistant"]["fix"]


def test_the_doctor_finds_a_broken_certificate_and_a_broken_store(cli: Cli, home: Path, password_file: Path) -> None:
    cli("init", "--user", "ada", "--password-file", str(password_file))
    (home / "tls" / "server.pem").write_text("nonsense")
    (home / "postroom.sqlite3").write_bytes(b"not a database at all" * 500)
    for leftover in home.glob("postroom.sqlite3-*"):
        leftover.unlink()
    told = cli("doctor", "--json")
    found = states(told.out)
    assert (told.code, found["certificate"], found["store"]) == (1, "fault", "fault")


def test_the_doctor_finds_a_clock_that_is_behind(cli: Cli, home: Path) -> None:
    home.mkdir(mode=0o700)
    ahead = home / "postroom.toml"
    ahead.write_text("")
    os.utime(ahead, (4102444800, 4102444800))
    assert states(cli("doctor", "--json").out)["clock"] == "fault"


def test_the_check_tells_of_secrets_that_cannot_be_read_from_here(cli: Cli, home: Path) -> None:
    home.mkdir(mode=0o700)
    relay = '[relay]\nhost = "mail.example.net"\nfrom = "ada@example.net"\nusername = "ada"\n'
    (home / "postroom.toml").write_text(relay + 'password = "file:relay.password"\n')
    told = cli("config", "check")
    assert (told.code, "No faults." in told.out) == (0, True)
    assert "file:relay.password: cannot be read (No such file or directory); write the value" in told.err
    secret = home / "relay.password"
    secret.write_text("something secret")
    secret.chmod(0o600)
    told = cli("config", "check")
    assert (told.code, told.err) == (0, "")


def test_explain_refuses_a_language_without_words(cli: Cli, tmp_path: Path) -> None:
    mail = tmp_path / "a.eml"
    mail.write_text("Subject: a\n\napprove\n")
    told = cli("explain", str(mail), "--languages", "de,xx", home=None)
    assert (told.code, told.out) == (2, "")
    assert "no words are known of the language 'xx'" in told.err
    assert "de, el, en" in told.err
