"""What must hold for any mail: an addition undoes an approval, and without a decision word nothing is approved.

The product's promise rests on these; the counts are small here and large in the nightly run.
"""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.post.reading import read_reply
from tests.replies.cases import APPROVED, Case
from tests.replies.clients import CLIENTS, TABLE, file_beside, text_beside
from tests.replies.sweep import APPROVING, KINDS, approves, false_approvals, holds_no_decision

CORPUS = sorted((Path(__file__).parent / "corpus").glob("*.eml"))
ADDITIONS = [
    "But not to Tom.",
    "Only the first one, please.",
    "Wait until Friday.",
    "Send it to Maya at work.",
    "Is that the right sum?",
    "Not yet.",
    "nothing to Tom",
    "Aber erst morgen.",
    "Mais pas avant vendredi.",
    "不要发给汤姆",
    "トムには送らないで",
    "x",
    "12.",
    "👎",
    "...",
    "PS: and tell Bob",
]
NEGATIONS = ["do not {}", "don't {}", "not {}", "{} not", "never {}", "no {}", "nicht {}", "ne pas {}"]
MARKS = ["{}?", "{} ?", "? {}", "{}？", "{};", "{}...", "{}…", "{}؟", "{} ~", "{} :-("]


@pytest.mark.parametrize("client", CLIENTS)
def test_every_approving_word_approves_alone(client: str) -> None:
    assert [word for word in APPROVING if not approves(CLIENTS[client](word))] == []


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("addition", ADDITIONS)
def test_an_added_sentence_undoes_it(client: str, addition: str) -> None:
    made = CLIENTS[client]
    for word in ("approve", "genehmigt", "同意"):
        assert not approves(made(f"{word}\n{addition}"))
        assert not approves(made(f"{word}\n\n{addition}"))
        assert not approves(made(f"{addition}\n{word}"))
        assert not approves(made(f"{word} {addition}"))
        assert not approves(made(f"{word}\n\nThanks,\nAda\n\n{addition}"))
        assert not approves(made(f"{word}\n\n{addition}\n\nThanks,\nAda"))


@pytest.mark.parametrize("client", CLIENTS)
def test_a_negation_undoes_it(client: str) -> None:
    for word in APPROVING[::7]:
        for pattern in NEGATIONS:
            assert not approves(CLIENTS[client](pattern.format(word)))


@pytest.mark.parametrize("client", CLIENTS)
def test_a_question_or_hesitation_undoes_it(client: str) -> None:
    for word in APPROVING[::7]:
        for pattern in MARKS:
            assert not approves(CLIENTS[client](pattern.format(word))), pattern


@pytest.mark.parametrize("client", CLIENTS)
def test_a_file_or_second_text_undoes_it(client: str) -> None:
    raw = CLIENTS[client]("approve")
    assert approves(raw)
    assert not approves(file_beside(raw, "text/plain"))
    assert not approves(file_beside(raw, "application/pdf"))
    assert not approves(file_beside(raw, "image/png"))
    assert not approves(file_beside(raw, "message/rfc822"))
    assert not approves(text_beside(raw, "But not to Tom."))


@pytest.mark.parametrize("case", APPROVED, ids=lambda case: case.name)
def test_more_text_in_any_approving_kind_undoes_it(case: Case) -> None:
    raw = case.raw
    for addition in ("But not to Tom.", "Is that right?"):
        assert not approves(text_beside(raw, addition))


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_more_text_in_the_corpus_undoes_it(path: Path) -> None:
    for addition in ("But not to Tom.", "Is that right?", "👎"):
        assert not approves(text_beside(path.read_bytes(), addition))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_generated_is_approved(kind: str, seed: int, count: Callable[[int, int], int]) -> None:
    """A million at night of each kind: texts without a decision line, and approvals to which one thing was added."""
    assert [number for number, _ in false_approvals(kind, count(80, 100_000), seed)] == []


@given(st.text(max_size=80))
@settings(max_examples=400, deadline=None)
def test_any_text_without_a_decision_word(text: str) -> None:
    lines = text.replace("\r", "\n").replace("\x0b", "\n").replace("\x0c", "\n")
    if holds_no_decision(lines):
        assert not approves(CLIENTS["gmail"](text))


@given(st.binary(max_size=600))
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_read(raw: bytes) -> None:
    assert read_reply(raw, TABLE, "all").decision in ("approve", "reject", "edit", "respond", "none")


def test_damaged_mails_are_read() -> None:
    chance = random.Random(5)
    mails = [path.read_bytes() for path in CORPUS]
    for _ in range(1500):
        raw = bytearray(chance.choice(mails))
        for _ in range(chance.randint(1, 6)):
            at = chance.randrange(len(raw))
            if chance.random() < 0.5:
                raw[at] = chance.randrange(256)
            else:
                raw[at:at] = bytes(chance.randrange(256) for _ in range(chance.randint(1, 4)))
        reading = read_reply(bytes(raw), TABLE, "all")
        assert reading.auto is reading.rule.startswith("machine:")
