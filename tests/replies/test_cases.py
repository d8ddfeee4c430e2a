"""Our own corpus of replies: every kind is read as a careful person would, and none is approved that must not be."""

import pytest

from bridge.post.reading import read_reply
from tests.replies.cases import CASES, Case
from tests.replies.clients import CLIENTS, SENT, TABLE


def same(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.replace("\u00a0", " ").strip().split("\n"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_kind(case: Case) -> None:
    reading = read_reply(case.raw, TABLE, "all")
    assert (reading.decision, reading.auto) == (case.decision, case.auto), (reading.rule, reading.new_text)
    if case.new_text is not None:
        assert same(reading.new_text) == same(case.new_text)
    if case.near_miss is not None:
        assert reading.near_miss == case.near_miss
        assert reading.rule == f"near-miss:{case.near_miss}"
    assert reading.why


def test_the_kinds_are_distinct() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 150


WORDS = {
    "approve": "approve",
    "Approved.": "approve",
    "reject\n\nnot today": "reject",
    "edit\nto: bob@example.org": "edit",
    "approve?": "respond",
    "Hi,\n\napprove": "respond",
    "approve\n\nBut only the first.": "respond",
    "What is this about?": "respond",
    "": "none",
}


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("words", WORDS)
def test_every_client_says_the_same(client: str, words: str) -> None:
    reading = read_reply(CLIENTS[client](words), TABLE)
    assert reading.decision == WORDS[words], reading.rule
    assert reading.new_text == words
    assert reading.sent is SENT or not words


@pytest.mark.parametrize("client", CLIENTS)
def test_a_sign_off_says_nothing(client: str) -> None:
    reading = read_reply(CLIENTS[client]("approve\n\nKind regards,\nAda"), TABLE)
    assert (reading.decision, reading.new_text) == ("approve", "approve")


def test_details_of_decisions() -> None:
    assert read_reply(CLIENTS["gmail"]("approve 2,1"), TABLE).items == (2, 1)
    refused = read_reply(CLIENTS["mutt"]("reject 2: too soon\nask later"), TABLE)
    assert (refused.items, refused.reason, refused.word) == ((2,), "too soon\nask later", "reject")
    edited = read_reply(CLIENTS["apple"]("edit\nTo: a@b.example"), TABLE)
    assert edited.edits == "To: a@b.example"
    assert read_reply(CLIENTS["iphone"]("always approve"), TABLE).grant
    assert "untrusted text" in read_reply(CLIENTS["gmail"]("approve"), TABLE).quoted
