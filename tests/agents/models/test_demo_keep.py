"""Which mails the demo model takes for a wish to keep something in mind."""

import pytest

from agents.llm import ModelRequest, ResultMessage, ToolSpec, UserMessage
from agents.models.demo.keep import TOOL, keep_move

REMEMBER = ToolSpec(TOOL, "Keep a note.", {"type": "object"})


def asked(words: str, *tools: ToolSpec) -> ModelRequest:
    return ModelRequest("system", (UserMessage(words, words),), tools, 1000, "demo")


@pytest.mark.parametrize(
    ("words", "note"),
    [
        ("Remember that I drink tea.", "I drink tea."),
        ("please keep in mind: my dentist is Dr Hooper", "My dentist is Dr Hooper"),
        ("Merke dir, dass ich montags frei habe.", "Ich montags frei habe."),
    ],
)
def test_wishes(words: str, note: str) -> None:
    move = keep_move(asked(words, REMEMBER))
    assert move is not None
    assert move.calls == ((TOOL, {"text": note}),)


@pytest.mark.parametrize(
    "words",
    ["Remember to call Ann at nine", "Do you remember me?", "Remember what I said?", "Remember", "Summarise this", ""],
)
def test_what_is_none(words: str) -> None:
    assert keep_move(asked(words, REMEMBER)) is None


def test_without_memory_it_is_none() -> None:
    assert keep_move(asked("Remember that I drink tea.")) is None


def test_what_came_of_it_is_said() -> None:
    done = ModelRequest("s", (ResultMessage("c", TOOL, "Noted as N-7F3KQ2."),), (REMEMBER,), 1000, "demo")
    refused = ModelRequest("s", (ResultMessage("c", TOOL, "it is full", False),), (REMEMBER,), 1000, "demo")
    assert [move.text for one in (done, refused) if (move := keep_move(one))] == [
        "Noted as N-7F3KQ2. You find it in the mailbox Memory.",
        "Not noted: it is full",
    ]
