"""The language of the dialogues: what it understands, and that a line which does not hold fails and says what does."""

import re
from pathlib import Path

import pytest

from tests.dialogues.script import BadDialogue, parse, read, read_call
from tests.dialogues.stage import Clock, Stage

HERE = Path(__file__).parent
GOOD = (HERE / "reject-with-reason.txt").read_text("utf-8")


async def failure(tmp_path: Path, clock: Clock, text: str) -> str:
    """What is said about a dialogue that does not hold."""
    with pytest.raises(AssertionError) as told:
        await Stage(parse(text, "wrong.txt"), tmp_path / "home", clock, patience=0.1).play()
    return str(told.value)


def test_lines_with_one_mark_are_one_block_until_an_empty_line() -> None:
    made = parse("setup> a = 1\n\n# why\nmail> Subject: x\nmail>\nmail> y\n\nmodel< one\n\nmodel< two\n", "x.txt")
    assert [block.text for block in made.before] == ["a = 1"]
    assert made.scenes[0].act.lines == ("Subject: x", "", "y")
    assert [block.text for block in made.scenes[0].seen] == ["one", "two"]
    assert made.scenes[0].seen[1].line == 10


def test_a_mark_may_name_somebody() -> None:
    made = parse("mail> x\nin Agents/Assistant< y\nmodel haiku< z\n", "x.txt")
    assert [(block.mark, block.who) for block in made.scenes[0].seen] == [
        ("in<", "Agents/Assistant"),
        ("model<", "haiku"),
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("mail> x\nhello there\n", "x.txt:2: not a line"),
        ("mail> x\nmale< y\n", "x.txt:2: there is no mark 'male<'"),
        ("mail> x\nmail bob< y\n", "x.txt:2: there is no mark 'mail bob<'"),
        ("# nothing\n", "nobody does anything"),
        ("model< x\nmail> y\n", "x.txt:1: model< stands before"),
        ("mail> y\nsetup> x = 1\n", "x.txt:2: setup> must stand before"),
    ],
)
def test_what_is_not_understood_is_named(text: str, told: str) -> None:
    with pytest.raises(BadDialogue, match=re.escape(told)):
        parse(text, "x.txt")


def test_a_call_is_a_name_with_json_values() -> None:
    read_one = read_call('send to=["a b", "c"] n=3 text="x=\\"y\\""')
    assert (read_one.name, read_one.args) == ("send", {"to": ["a b", "c"], "n": 3, "text": 'x="y"'})
    assert read_call("send {broken").raw == "{broken"
    assert read_call("send to=broken").raw == "to=broken"


@pytest.mark.parametrize(
    ("good", "wrong", "told"),
    [
        (
            "ask> Approve? Send mail to maya",
            "ask> Approve? Send mail to bob",
            ["no request came", "Send mail to maya@"],
        ),
        ("ask> | Body Come at nine.", "ask> | Body Come at ten.", ["it does not say: | Body Come at ten.", "nine"]),
        ("ask> | Body Come", "ask> not: | Body Come", ["it says, and should not: | Body Come at nine."]),
        ("tool> send_mail", "tool> draft_mail", ["no tool was called as", 'send_mail {"to"']),
        ("tool> send_mail", 'tool> send_mail to=["bob"]', ["called otherwise", '-to=["bob"]', "+to="]),
        ("tool< Not done:", "tool< (done)\ntool< Not done:", ["send_mail is 'denied', not 'done'"]),
        ("tool< Reason: she is away", "tool< Reason: he is away", ["gave something else", "does not say: Reason: he"]),
        ("model> Reason: she", "model> Reason: he", ["what the model was told does not hold", "Reason: she"]),
        ("mail< Re: Invitation", "mail< Re: Party", ["no mail came whose subject holds", "Re: Invitation"]),
        ("gone Action<", "gone Sent< Invitation\ngone Action<", ["it is there still", "Invitation"]),
        ("gone Action<", "in Drafts< Friday\ngone Action<", ["nothing in Drafts has the subject"]),
        ("gone Action<", "sent< maya@example.org: Friday\ngone Action<", ["no mail left the house"]),
    ],
)
async def test_a_line_that_does_not_hold_fails_and_says_what_is(
    good: str, wrong: str, told: list[str], tmp_path: Path, clock: Clock
) -> None:
    assert GOOD.count(good) == 1
    said = await failure(tmp_path, clock, GOOD.replace(good, wrong))
    assert [words for words in told if words not in said] == []


async def test_mail_that_no_line_names_fails(tmp_path: Path, clock: Clock) -> None:
    said = await failure(tmp_path, clock, GOOD[: GOOD.index("mail< Re: Invitation")])
    assert "came mail that no line names" in said
    assert "I did not write to Maya" in said


async def test_mail_that_leaves_unnamed_fails(tmp_path: Path, clock: Clock) -> None:
    text = (HERE / "main-job.txt").read_text("utf-8")
    said = await failure(tmp_path, clock, "\n".join(line for line in text.splitlines() if not line.startswith("sent<")))
    assert "mail left that no line names" in said


async def test_a_model_asked_too_often_or_too_seldom_fails(tmp_path: Path, clock: Clock) -> None:
    less = GOOD.replace("model< I did not write to Maya, because she is away until Monday.\n", "")
    assert "was asked once more than the file says" in await failure(tmp_path, clock, less)


async def test_an_answer_that_nobody_asked_for_fails(tmp_path: Path, clock: Clock) -> None:
    text = "mail> Subject: Hello\nmail>\nmail> Hello?\n\nmodel< Hello.\n\nmodel< And more.\n\nmail< Re: Hello\n"
    assert "wrong.txt:7: the model was never asked for" in await failure(tmp_path, clock, text)


async def test_a_refusal_that_no_line_names_fails(tmp_path: Path, clock: Clock) -> None:
    text = "mail> To: nobody\nmail>\nmail> Hello?\n"
    said = await failure(tmp_path, clock, text)
    assert "the mail was refused: 550 5.1.1 nobody@postroom.internal does not exist here" in said
    (tmp_path / "more").mkdir()
    said = await failure(tmp_path / "more", clock, f"{text}\nrefused< 550 5.7.1\n")
    assert "it does not say: 550 5.7.1" in said


async def test_what_a_command_prints_is_held_against_the_file(tmp_path: Path, clock: Clock) -> None:
    said = await failure(tmp_path, clock, "postroom> models list\n\nsays< no-such-model\n")
    assert "it does not say: no-such-model" in said
    assert "demo" in said


def test_every_dialogue_reads_and_says_what_it_shows() -> None:
    for file in HERE.glob("*.txt"):
        assert file.read_text("utf-8").startswith("# "), file.name
        assert read(file).scenes, file.name
