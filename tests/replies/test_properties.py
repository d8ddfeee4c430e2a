"""What must hold for any mail: an addition undoes an approval, and without a decision word nothing is approved.

The product's promise rests on these; the counts are small here and large in the nightly run.
"""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.post.reading import read_reply, vocabulary
from bridge.post.reading.vocabulary import fold
from tests.replies.cases import APPROVED, Case
from tests.replies.clients import CLIENTS, TABLE, file_beside, text_beside

CORPUS = sorted((Path(__file__).parent / "corpus").glob("*.eml"))
EVERY = vocabulary("all")
APPROVING = sorted(word for word, meaning in EVERY.words.items() if meaning == {"approve"})
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
COUNT = {"ci": 3000, "nightly": 1_000_000}


def approves(raw: bytes) -> bool:
    return read_reply(raw, TABLE, "all").decision == "approve"


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


def holds_no_decision(text: str) -> bool:
    return all(
        fold(line) not in EVERY.every and not fold(line).startswith(("approve", "always")) for line in text.split("\n")
    )


def generated(chance: random.Random) -> str:
    """Lines that hold approving words among others, and are none."""
    fillers = [
        "please",
        "we",
        "the mail",
        "un",
        "it",
        "¿",
        "and",
        "?",
        "no",
        "not",
        "dis",
        "-ing",
        "reject",
        "12.",
        "s",
        "!",
        ",",
    ]
    rows = []
    for _ in range(chance.randint(1, 4)):
        words = [chance.choice(APPROVING)] * chance.randint(0, 2) + chance.sample(fillers, chance.randint(0, 3))
        chance.shuffle(words)
        rows.append(chance.choice([" ", "", "-", "\u200b"]).join(words))
    return "\n".join(rows)


def sweep(count: int) -> None:
    chance = random.Random(11)
    makers: list[Callable[[str], bytes]] = [*CLIENTS.values(), *[CLIENTS["no_quote"]] * 20]  # most of a million bare
    tried = 0
    while tried < count:
        text = generated(chance)
        if not holds_no_decision(text):
            continue
        tried += 1
        raw = chance.choice(makers)(text)
        assert not approves(raw), text


def test_without_a_decision_word_nothing_is_approved() -> None:
    sweep(COUNT["ci"])


@pytest.mark.nightly
def test_without_a_decision_word_nothing_is_approved_at_length() -> None:
    sweep(COUNT["nightly"])


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
