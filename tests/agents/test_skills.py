"""Skills: what a SKILL.md may say, which source wins, and that a gate which cannot be read keeps the skill out."""

from pathlib import Path

import pytest

from agents import skills
from agents.skills import SkillInvalid, parse_skill

GOOD = """---
name: clerk
description: "Files letters: in folders"   # what it is for
tools:
  - read_mail
  - draft_mail
interruptOn:
  draft_mail: true
  read_mail: false
---
You file letters.

Be careful.
"""


def write(folder: Path, name: str, text: str) -> Path:
    (folder / name).mkdir(parents=True)
    (folder / name / "SKILL.md").write_text(text)
    return folder


def test_the_built_in_skills_are_ready() -> None:
    loaded = skills.load([skills.builtin_folder()], ["postroom_help", "read_attachment", "read_result"])
    assert loaded.faults == ()
    summariser = loaded.ready["summariser"]
    assert summariser.display == "Summariser"
    assert summariser.tools == ("read_attachment", "read_result")
    assert summariser.skills == ()
    assert "summarise" in summariser.instructions


def test_a_whole_skill() -> None:
    profile = parse_skill(GOOD, "x")
    assert profile.name == "clerk"
    assert profile.description == "Files letters: in folders"
    assert profile.tools == ("read_mail", "draft_mail")
    assert profile.interrupt_on == frozenset({"draft_mail"})
    assert profile.instructions == "You file letters.\n\nBe careful."


@pytest.mark.parametrize(
    "tools",
    [
        "tools: [read_mail, draft_mail]",
        'tools: ["read_mail", draft_mail]',
        "tools: read_mail, draft_mail",
        "allowed-tools: read_mail, draft_mail",
    ],
)
def test_ways_to_write_a_list(tools: str) -> None:
    assert parse_skill(f"---\nname: a\ndescription: d\n{tools}\n---\nDo.", "x").tools == ("read_mail", "draft_mail")


def test_windows_lines_a_mark_and_a_folded_text() -> None:
    text = "---\nname: a\ndescription: >\n  one\n  two\ntools: []\n---\nDo.".replace("\n", "\r\n")
    profile = parse_skill(text, "x")
    assert profile.description == "one two"
    assert profile.tools == ()


GATES = {
    "text": "interruptOn: draft_mail",
    "unknown tool": "interruptOn: [send_mail]",
    "not a truth": "interruptOn:\n  draft_mail: maybe",
    "yes is no truth": "interruptOn:\n  draft_mail: yes",
    "open list": "interruptOn: [draft_mail",
    "flow map": "interruptOn: {draft_mail: true}",
    "nested": "interruptOn:\n  draft_mail:\n    allowed: [approve]",
    "alias": "interruptOn: *gates",
    "twice": "interruptOn: [draft_mail]\ninterrupt_on: [draft_mail]",
    "same key twice": "interruptOn: [draft_mail]\ninterruptOn: []",
}


def test_a_gate_may_name_one_of_all_tools_of_a_server() -> None:
    text = "---\nname: a\ndescription: d\ntools: [docs.*]\ninterruptOn: [docs.write]\n---\nDo."
    profile = parse_skill(text, "here/SKILL.md")
    assert profile.allows("docs__read")
    assert [profile.always_asks(name) for name in ("docs__write", "docs__read")] == [True, False]


@pytest.mark.parametrize("gate", GATES.values(), ids=GATES.keys())
def test_a_gate_that_cannot_be_read_stops_the_skill(gate: str) -> None:
    text = f"---\nname: a\ndescription: d\ntools: [draft_mail]\n{gate}\n---\nDo."
    with pytest.raises(SkillInvalid) as caught:
        parse_skill(text, "here/SKILL.md")
    assert "interrupt" in caught.value.why
    assert caught.value.place == "here/SKILL.md"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Do.", "front matter"),
        ("---\nname: a\n", "no end"),
        ("---\ndescription: d\ntools: []\n---\nDo.", "name: is missing"),
        ("---\nname: A b\ndescription: d\ntools: []\n---\nDo.", "name:"),
        ("---\nname: a\ntools: []\n---\nDo.", "description: is missing"),
        ("---\nname: a\ndescription: d\n---\nDo.", "tools: must be given"),
        ("---\nname: a\ndescription: d\ntools: [rm -rf]\n---\nDo.", "tools: must be a list"),
        ("---\nname: a\ndescription: d\ntools: []\n---\n  ", "no instructions"),
        ("---\nname: a\n???\ntools: []\n---\nDo.", "line 3"),
        ("---\nname: a\nname: b\ndescription: d\ntools: []\n---\nDo.", "name: is given twice"),
    ],
)
def test_faults_name_the_field(text: str, why: str) -> None:
    with pytest.raises(SkillInvalid) as caught:
        parse_skill(text, "x")
    assert why in caught.value.why


def test_a_later_source_wins_and_a_broken_one_does_not_bring_the_earlier_back(tmp_path: Path) -> None:
    first = write(tmp_path / "1", "clerk", GOOD)
    second = write(tmp_path / "2", "clerk", GOOD.replace("You file letters.", "You file them better."))
    broken = write(tmp_path / "3", "clerk", GOOD.replace("draft_mail: true", "draft_mail: perhaps"))
    assert "better" in skills.load([first, second]).ready["clerk"].instructions
    loaded = skills.load([first, broken])
    assert loaded.ready == {}
    assert loaded.faults[0].name == "clerk"
    assert "perhaps" in loaded.faults[0].why


def test_a_skill_with_an_unknown_tool_or_a_wrong_folder_is_not_ready(tmp_path: Path) -> None:
    folder = write(tmp_path / "1", "clerk", GOOD)
    assert "draft_mail" in skills.load([folder], ["read_mail"]).faults[0].why
    other = write(tmp_path / "2", "scribe", GOOD)
    assert "must agree" in skills.load([other]).faults[0].why


def test_a_file_that_is_not_text_or_too_long(tmp_path: Path) -> None:
    folder = write(tmp_path, "clerk", GOOD)
    (folder / "clerk" / "SKILL.md").write_bytes(b"\xff\xfe\x00")
    assert "UTF-8" in skills.load([folder]).faults[0].why
    (folder / "clerk" / "SKILL.md").write_text(GOOD + "x" * skills.MAX_BYTES)
    assert "larger" in skills.load([folder]).faults[0].why


def test_no_folder_is_no_skill(tmp_path: Path) -> None:
    assert skills.load([tmp_path / "none"]).ready == {}
