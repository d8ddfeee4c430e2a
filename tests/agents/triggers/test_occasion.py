"""Plain words for what sets a task off from outside, and what is none of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents import occasion
from agents.rule import Event
from agents.trigger import read_rule


@pytest.mark.parametrize(
    ("text", "when", "rest"),
    [
        ("when mail comes to the hook backup: say what failed", "hook backup", "say what failed"),
        ("Whenever a mail comes to my mail hook Backup, say what failed.", "hook backup", "say what failed."),
        ("webhook deploy: say what broke", "webhook deploy", "say what broke"),
        ("When the webhook deploy is called: say what broke", "webhook deploy", "say what broke"),
        ("watch the mailbox office: list what is urgent", "mailbox office", "list what is urgent"),
        ("each time new mail arrives in the watched mailbox office, list it", "mailbox office", "list it"),
        ('mail hook "nas": two\nlines', "hook nas", "two\nlines"),
        ("wenn eine Mail an den Hook backup kommt: sag was", "hook backup", "sag was"),
        ("sobald der Webhook deploy aufgerufen wird: sag was", "webhook deploy", "sag was"),
        ("watch the mailbox office", "mailbox office", ""),
    ],
)
def test_what_is_read(text: str, when: str, rest: str) -> None:
    found = occasion.read(text)
    assert found is not None
    assert (found.when, found.rest) == (when, rest)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "list my mail",
        "every Friday at 9: mailbox cleanup",
        "mailbox cleanup every Friday at 9",
        "webhook",
        "tell me about the hook in the kitchen: is it strong?",
        "the webhook deploy broke yesterday, every day at 9 look at it",
    ],
)
def test_what_is_none(text: str) -> None:
    assert occasion.read(text) is None


@given(st.text(max_size=200))
def test_whatever_is_read_is_an_event(text: str) -> None:
    found = occasion.read(f"webhook {text}")
    if found is not None and len(found.when.split()[1]) <= 40 and not found.when.endswith("-"):
        assert isinstance(read_rule(found.when)[1], Event)
