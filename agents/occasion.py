"""Plain words for what sets a task off from outside: "when mail comes to the hook backup: ...", "webhook deploy: ...".

The rule: it reads only what begins a text and is unmistakable: a word that says when, or a colon behind the name.
"""

import re
from dataclasses import dataclass
from typing import Final

_KINDS: Final = {"webhook": "webhook", "hook": "hook", "mailbox": "mailbox", "postfach": "mailbox"}
_INTRO: Final = (
    r"(?:(?:when(?:ever)?|each\s+time|every\s+time|if|wenn|sobald|immer\s+wenn)\s+"
    r"(?:(?:(?:a\s+)?new\s+|an?\s+|eine\s+|neue\s+)?(?:e-?mail|mail)s?\s+"
    r"(?:comes?|arrives?|kommt)?\s*(?:(?:in\s+)?to|into|in|at|an|ins?)\s+)?|watch(?:ing)?\s+|beobachte\s+)"
)
_FORM: Final = re.compile(
    rf"^\s*(?:please\s+|bitte\s+)?(?P<intro>{_INTRO})?(?:the\s+|my\s+|an?\s+|der\s+|die\s+|das\s+|den\s+|dem\s+)?"
    r"(?:mail[\s-]?|watched\s+)?(?P<kind>webhook|hook|mailbox|postfach)\s+(?:called\s+|named\s+)?"
    r"[\"“„'`]?(?P<name>[a-z0-9][a-z0-9-]*)[\"”“'`]?"
    r"(?:\s+(?:is\s+called|fires|comes\s+in|gets\s+mail|aufgerufen\s+wird|kommt))?\s*(?P<mark>[:,]|$|\n)?\s*(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Occasion:
    """`when` in its one spelling ("webhook deploy"), the words it was read from, and the task behind them."""

    when: str
    said: str
    rest: str


def read(text: str) -> Occasion | None:
    """What sets the task of a text off; None when that is no such thing."""
    found = _FORM.match(text[:10_000])
    if found is None or not (found["intro"] or found["mark"] == ":"):
        return None
    said = " ".join(text[: found.end("name")].split())
    rest = text[found.start("rest") :].strip()
    return Occasion(f"{_KINDS[found['kind'].lower()]} {found['name'].lower()}", said, rest)
