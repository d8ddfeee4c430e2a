"""140 further mails as files: each judged before it was first read. And remarks between dashes, which are text."""

import json
from pathlib import Path

import pytest

from bridge.post.reading import SentTable, read_reply
from tests.replies.clients import ADDRESS, SUBJECT, TABLE, text_mail
from tests.replies.clients import SENT_TEXT as SHOWN
from tests.replies.test_corpus import CHECK, read

JUDGED = Path(__file__).parent / "judged"
EXPECTED = json.loads((JUDGED / "expected.json").read_text("utf-8"))
SENT = "Sent: Tuesday, March 3, 2026 9:14 AM"
BLOCK = f"From: Assistant <{ADDRESS}>\n{SENT}\nTo: you@postroom.internal\nSubject: {SUBJECT}\n"


def test_the_judged_mails_are_whole() -> None:
    assert len(EXPECTED) == 140
    assert sorted(EXPECTED) == sorted(path.name for path in JUDGED.glob("*.eml"))


@pytest.mark.parametrize("name", EXPECTED)
def test_each_is_read_as_it_was_judged(name: str) -> None:
    got = read((JUDGED / name).read_bytes())
    right_decision, right_auto, right_text, false_approval = CHECK.judge(EXPECTED[name], got)
    assert not false_approval
    assert (right_decision, right_auto, right_text) == (True, True, True), got


@pytest.mark.parametrize("name", EXPECTED)
def test_without_the_sent_mails_none_is_approved_that_must_not_be(name: str) -> None:
    got = read((JUDGED / name).read_bytes(), SentTable(()))
    assert not CHECK.judge(EXPECTED[name], got)[3]


@pytest.mark.parametrize(
    "remark",
    ["Purchasing decides", "Bo decides", "EUR 380", "Order 7782", "Office closed", "Message du 03/03/26 09:14 non"],
)
def test_a_remark_between_dashes_is_text(remark: str) -> None:
    """What no program writes above a header block a person wrote, marked or not."""
    quoted = "\n".join(f"> {line}".rstrip() for line in f"----- {remark} -----\n{BLOCK}\n{SHOWN}".split("\n"))
    for body in (f"approve\n\n----- {remark} -----\n{BLOCK}\n{SHOWN}", f"approve\n\n{quoted}\n"):
        assert read_reply(text_mail(body), TABLE, "all").decision == "respond", body


@pytest.mark.parametrize("between", ["Original Message", f'"Assistant" <{ADDRESS}> wrote:', "Ursprüngliche Nachricht"])
def test_what_programs_write_between_dashes_is_none(between: str) -> None:
    reading = read_reply(text_mail(f"approve\n\n-----{between}-----\n{BLOCK}\n{SHOWN}"), TABLE, "all")
    assert (reading.decision, reading.new_text) == ("approve", "approve")


@pytest.mark.parametrize("below", ["Bo decides", "Sales first", "not before Monday", "Order 7782"])
def test_only_a_post_alone_below_the_whole_name_is_one(below: str) -> None:
    assert read_reply(text_mail("approve\n\nAda Byron\nPurchasing\n"), TABLE).decision == "approve"
    assert read_reply(text_mail(f"approve\n\nAda Byron\n{below}\n"), TABLE).decision == "respond"
