"""ENVELOPE, BODY, BODYSTRUCTURE and sections of 160 messages against what Dovecot 2.3.19 answered to the same FETCH.

The data were recorded from a running Dovecot. Where we answer otherwise the row says what and why; two differences are
general: Dovecot writes the names of HEADER.FIELDS in capitals (we echo them), and `{0}` for a part that is not there
(we say NIL).
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.wire.messages import fetch

DATA = Path(__file__).parent / "data" / "dovecot.jsonl"
FIELDS = re.compile(rb"(HEADER\.FIELDS(?:\.NOT)?) (\([^)]*\))")


@cache
def rows() -> dict[str, Any]:
    _, *lines = DATA.read_text("ascii").splitlines()
    return {row["name"]: row for row in map(json.loads, lines)}


@cache
def reasons() -> dict[str, str]:
    found: dict[str, str] = json.loads(DATA.read_text("ascii").splitlines()[0])["reasons"]
    return found


def as_dovecot_writes(line: bytes, item: str) -> bytes:
    if "BODY.PEEK[" in item and line.endswith(b" NIL)\r\n"):
        line = line.removesuffix(b"NIL)\r\n") + b"{0}\r\n)\r\n"
    return FIELDS.sub(lambda match: match[1] + b" " + match[2].upper(), line)


@pytest.mark.parametrize("name", rows())
def test_answers_are_those_of_dovecot_or_differ_for_a_reason(name: str) -> None:
    row = rows()[name]
    raw = row["raw"].encode("latin-1")
    for item, theirs in row["dovecot"].items():
        ours = fetch(item, raw)
        if item in row["ours"]:
            _, expected = row["ours"][item]
            assert as_dovecot_writes(ours, item) == as_dovecot_writes(expected.encode("latin-1"), item), item
        else:
            assert as_dovecot_writes(ours, item) == theirs.encode("latin-1"), item


def test_every_difference_is_one_and_has_a_reason_and_every_reason_is_used() -> None:
    used = set()
    for row in rows().values():
        for item, (reason, ours) in row["ours"].items():
            assert as_dovecot_writes(ours.encode("latin-1"), item) != row["dovecot"][item].encode("latin-1")
            used.add(reason)
    assert used == set(reasons())
