"""Arguments against their schema, with texts that name the field; and a user's words as values."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.schema import Unreadable, faults, read_object, read_value

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "to": {"type": "array", "items": {"type": "string", "minLength": 3}, "minItems": 1, "maxItems": 2},
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "how": {"enum": ["fast", "slow"]},
        "who": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "name": {"type": "string", "maxLength": 4, "pattern": "^[a-z]*$"},
    },
    "required": ["to"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"to": ["abc"]}, []),
        ({"to": ["abc"], "count": 3, "how": "fast", "who": None, "name": "ab"}, []),
        ([], ["the arguments: object is wanted, not a list"]),
        ({}, ["to: is missing"]),
        ({"to": []}, ["to: at least 1 wanted"]),
        ({"to": ["abc", "abc", "abc"]}, ["to: at most 2 wanted"]),
        ({"to": ["abc", 1]}, ["to[1]: string is wanted, not a number"]),
        ({"to": ["a"]}, ["to[0]: is too short"]),
        ({"to": ["abc"], "count": 0}, ["count: must be at least 1"]),
        ({"to": ["abc"], "count": 10}, ["count: must be at most 9"]),
        ({"to": ["abc"], "count": True}, ["count: integer is wanted, not true or false"]),
        ({"to": ["abc"], "how": "x"}, ['how: must be one of "fast", "slow"']),
        ({"to": ["abc"], "who": 1}, ["who: fits none of the allowed forms"]),
        ({"to": ["abc"], "name": "abcde"}, ["name: is longer than 4 characters"]),
        ({"to": ["abc"], "name": "AB"}, ["name: does not have the wanted form"]),
        ({"to": ["abc"], "other": 1}, ["other: is not an argument of this tool"]),
    ],
)
def test_what_is_wrong_is_said(value: Any, told: list[str]) -> None:
    assert faults(SCHEMA, value) == told


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_no_value_breaks_it(value: Any) -> None:
    assert isinstance(faults(SCHEMA, value), list)


@given(st.text())
def test_no_text_breaks_the_reading(text: str) -> None:
    try:
        assert isinstance(read_object(text), dict)
    except Unreadable:
        pass


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(Unreadable, match=r"nested too deeply|not valid JSON"):
        read_object('{"a":' * 100_000)


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"type": "string"}, " Hello ", "Hello"),
        ({"type": "integer"}, "3", 3),
        ({"type": "boolean"}, "Yes", True),
        ({"type": "array", "items": {"type": "string"}}, "a@x, b@x", ["a@x", "b@x"]),
        ({"type": "array", "items": {"type": "integer"}}, "[1, 2]", [1, 2]),
        ({"type": "object"}, '{"a": 1}', {"a": 1}),
    ],
)
def test_a_users_words_become_values(schema: dict[str, Any], text: str, value: Any) -> None:
    assert read_value(schema, text) == value


def test_words_that_are_no_value_are_refused() -> None:
    with pytest.raises(Unreadable, match='"soon" cannot be read as integer'):
        read_value({"type": "integer"}, "soon")
