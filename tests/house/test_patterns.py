"""Regular expressions mean the same on every Python that runs Postroom: nothing is repeated possessively but one class.

Before Python 3.11.5 a possessive repeat of a group keeps what a failed repetition had taken already: `(?:,[0-9])*+`
takes the last comma of `1,2,`, and a header value ran into nothing. `(?>(?:...)*)` means the same and is right on all.
"""

import ast
import re

import pytest

from tests.house.tree import PRODUCT, Source, sources

POSSESSIVE_GROUP = re.compile(r"(?<![\\(])\)(?:[*+?]|\{[0-9,]+\})\+")


def possessive_groups(source: Source) -> list[str]:
    texts = (
        (node.lineno, node.value if isinstance(node.value, str) else node.value.decode("latin-1"))
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )
    return [f"{source.path}:{line}" for line, text in texts if POSSESSIVE_GROUP.search(text)]


def test_no_group_is_repeated_possessively() -> None:
    assert [found for source in sources(*PRODUCT) for found in possessive_groups(source)] == []


@pytest.mark.parametrize("text", ["(?:a|b)*+", "(a)?+", "(?:ab){2,3}+", ")++"])
def test_such_a_repeat_is_seen(text: str) -> None:
    assert POSSESSIVE_GROUP.search(text)


@pytest.mark.parametrize("text", [r"[^\s()]*+", "(?>(?:a|b)*)", r"\)++", "a{2}+", "(?:a)*", "!()*+,"])
def test_what_is_safe_is_let_through(text: str) -> None:
    assert not POSSESSIVE_GROUP.search(text)
