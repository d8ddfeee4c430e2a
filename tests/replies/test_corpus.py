"""The corpus of reply mails: all 80 wholly right by its own scorer, no false approval."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

from bridge.post.reading import SentTable, explain_files, read_reply
from bridge.post.reading.explain import load_sent

CORPUS = Path(__file__).parent / "corpus"
EXPECTED = json.loads((CORPUS / "expected.json").read_text("utf-8"))


def scorer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("corpus_check", CORPUS / "check.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CHECK = scorer()
SENT = load_sent(CORPUS / "sent.json")


def read(raw: bytes, sent: SentTable = SENT) -> dict[str, object]:
    reading = read_reply(raw, sent, "all")
    return {"new_text": reading.new_text, "decision": reading.decision, "auto": reading.auto}


def test_the_corpus_is_whole() -> None:
    assert len(EXPECTED) == 80
    assert sorted(EXPECTED) == sorted(path.name for path in CORPUS.glob("*.eml"))


@pytest.mark.parametrize("name", EXPECTED)
def test_each_mail_is_read_wholly_right(name: str) -> None:
    expected = EXPECTED[name]
    got = read((CORPUS / name).read_bytes())
    right_decision, right_auto, right_text, false_approval = CHECK.judge(expected, got)
    assert not false_approval
    assert (right_decision, right_auto, right_text) == (True, True, True), got


@pytest.mark.parametrize("name", EXPECTED)
def test_without_the_sent_mails_nothing_more_is_approved(name: str) -> None:
    got = read((CORPUS / name).read_bytes(), SentTable(()))
    assert not CHECK.judge(EXPECTED[name], got)[3]


@pytest.mark.parametrize("name", EXPECTED)
def test_weak_words_decide_nothing_where_they_do_not_count(name: str) -> None:
    reading = read_reply((CORPUS / name).read_bytes(), SENT, "all", weak_ok=False)
    if reading.decision in ("approve", "reject"):
        strong = read_reply((CORPUS / name).read_bytes(), SENT, None, weak_ok=False)
        assert strong.decision == reading.decision


def test_explain_prints_what_the_scorer_wants() -> None:
    paths = [CORPUS / name for name in EXPECTED]
    rows = [json.loads(line) for line in explain_files(paths, CORPUS / "sent.json", "all", True)]
    assert [Path(row["file"]).name for row in rows] == list(EXPECTED)
    assert all({"file", "new_text", "decision", "auto", "rule"} <= set(row) for row in rows)
    judged = [CHECK.judge(EXPECTED[Path(row["file"]).name], row) for row in rows]
    assert all(all(row[:3]) and not row[3] for row in judged)
