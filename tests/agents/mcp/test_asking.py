"""A server's form and a person's words: what is asked, what is read, and what does not fit."""

from typing import Any

import pytest

from agents.mcp import asking
from agents.mcp.asking import Unfit, Wanted

OK = {"message": "Sure?", "schema": {"properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}}
TRIP = {
    "message": "Where to?",
    "schema": {
        "properties": {
            "city": {"type": "string"},
            "nights": {"type": "integer"},
            "class": {"enum": ["first", "second"]},
            "note": {"type": "string"},
        },
        "required": ["city", "nights"],
    },
}


@pytest.mark.parametrize(
    ("question", "words", "content"),
    [
        (OK, "Yes.", {"ok": True}),
        (OK, "no", {"ok": False}),
        (TRIP, "City: Rome\nnights = 3\nclass: FIRST\nThanks!", {"city": "Rome", "nights": 3, "class": "first"}),
        ({"message": "?", "schema": {"properties": {"x": {"type": "number"}}}}, "2.5", {"x": 2.5}),
        ({"message": "?", "schema": {"properties": {"x": {"enum": ["Ann", "Ann B."]}}}}, "ann b.", {"x": "Ann B."}),
        ({"message": "?", "schema": {"properties": {"x": {"type": "string"}}}}, " a: b ", {"x": "a: b"}),
    ],
)
def test_words_become_what_the_form_wants(question: dict[str, Any], words: str, content: dict[str, Any]) -> None:
    assert asking.response(question, words, declined=False) == {"action": "accept", "content": content}


@pytest.mark.parametrize(
    ("question", "words", "told"),
    [
        (OK, "perhaps", "ok: yes or no is wanted"),
        (TRIP, "city: Rome", "nights: nothing was given"),
        (TRIP, "city: Rome\nnights: many", "nights: a whole number is wanted"),
        ({"message": "?", "schema": {"properties": {"x": {"type": "number"}}}}, "inf", "x: a number is wanted"),
        (TRIP, "city: Rome\nnights: 1\nclass: third", "class: one of first, second is wanted"),
    ],
)
def test_words_that_do_not_fit_are_named(question: dict[str, Any], words: str, told: str) -> None:
    with pytest.raises(Unfit, match=told):
        asking.response(question, words, declined=False)


def test_a_refusal_is_a_refusal_whatever_the_form() -> None:
    assert asking.response(TRIP, "", declined=True) == {"action": "decline"}
    assert asking.response({"message": "?", "schema": {}}, "go away", declined=False) == {"action": "decline"}


def test_several_questions_come_one_after_the_other() -> None:
    wanted = Wanted("s", {"a": OK, "b": TRIP})
    first = asking.ask("tiny", wanted, {}, 1)
    assert (first.state["now"], first.choices) == ("a", ("yes", "no"))
    second = asking.ask("tiny", wanted, {"a": {"action": "decline"}}, 1, "say more")
    assert second.state["now"] == "b"
    assert "city: text\nnights: a whole number\nclass: one of first, second\nnote: text" in second.question
    assert second.question.endswith("(say more)")
