"""Our own request mails, answered: whichever form a client quotes, the quote is found and the word is read."""

import html
import textwrap
from dataclasses import replace
from decimal import Decimal

import pytest

from agents.letter import Field, Item, Kind, Outgoing, RequestView, Spent
from bridge.post.compose import Frame, compose
from bridge.post.reading import SentMail, SentTable, read_reply, visible_text
from mailstore.parse import normalise, parse, walk

TOKEN = "6f3kq2w5x8m1t4r7v9y2z5b8c1"
ADDRESS = f"action+{TOKEN}@postroom.internal"
ID = "<m1@postroom.internal>"
BODY = "Hi Maya,\n\nthree points:\n\napprove\n---\nyes\n> a quoted line\n\n" + "a long line of words " * 20
VIEW = RequestView(
    id="q1",
    code="A-7F3K",
    token=TOKEN,
    revision=1,
    title="Send mail to maya@example.org",
    items=(
        Item(1, "Send mail", (Field("To", "maya@example.org", "new"), Field("Body", BODY, ""))),
        Item(
            2, "Send mail", (Field("To", "tom@example.org", ""), Field("Body", "the same <b>in short</b> & more", ""))
        ),
    ),
    sources=("notes.txt (your attachment)",),
    spent=Spent(14, 2, 2, 100, Decimal("0.004"), True),
    expires=1_796_100_000_000,
    decisions=("approve", "reject", "edit"),
    grant_offered=True,
    asked_in="Notes",
)
REQUEST = Outgoing(
    key="k1",
    kind=Kind.REQUEST,
    account=1,
    agent="assistant",
    thread="7",
    subject="Approve? Send mail [A-7F3K]",
    body="",
    state="waiting",
    run="r1",
    step=2,
    message_id=ID,
    request=VIEW,
)
FRAME = Frame("postroom.internal", "Ada", "ada@postroom.internal", "Assistant", ("<a@x>",), "Notes", 1_796_000_000_000)
RAW = normalise(compose(REQUEST, FRAME))
TEXTS = {part.subtype: part.text(RAW).replace("\r\n", "\n") for part in walk(parse(RAW).root) if part.type == "text"}
SEEN = visible_text(TEXTS["html"])
SENT = SentMail(
    TOKEN, ID, ADDRESS, REQUEST.subject, TEXTS["plain"], (SEEN,), (1, 2), grant=True, names=("Assistant", "Postroom")
)
TABLE = SentTable((SENT,))
ATTRIBUTION = f"On Tue, 3 Mar 2026 at 09:14, Assistant <{ADDRESS}> wrote:"
BLOCK = f"From: Assistant <{ADDRESS}>\nSent: Tuesday, March 3, 2026 9:14 AM\nTo: Ada\nSubject: {REQUEST.subject}"


def marked(text: str) -> str:
    return "\n".join(("> " + row).rstrip() for row in text.split("\n"))


def wrapped(text: str, mark: str = "", rest: str = "") -> str:
    """`text` as clients break it: long words whole, `mark` before each row, `rest` before what was broken off."""
    rows: list[str] = []
    for row in text.split("\n"):
        first, *others = textwrap.wrap(row, 72, break_long_words=False, break_on_hyphens=False) or [""]
        rows += [(mark + first).rstrip(), *(rest + other for other in others)]
    return "\n".join(rows)


def mail(kind: str, body: str) -> bytes:
    fields = (
        f"From: Ada <ada@postroom.internal>\nTo: Postroom <{ADDRESS}>\nSubject: Re: {REQUEST.subject}\n"
        f"Message-ID: <r@c>\nIn-Reply-To: {ID}\nMIME-Version: 1.0\nContent-Type: {kind}; charset=utf-8\n\n"
    )
    return (fields + body).replace("\n", "\r\n").encode()


def inner(page: str) -> str:
    """The body of the page, as clients put it into the quote."""
    start = page.find("<body")
    return page[page.find(">", start) + 1 : page.rfind("</body>")] if start >= 0 else page


FORMS = {
    "plain quoted": lambda words: mail("text/plain", f"{words}\n\n{ATTRIBUTION}\n{marked(TEXTS['plain'])}\n"),
    "plain quoted, below": lambda words: mail("text/plain", f"{ATTRIBUTION}\n{marked(TEXTS['plain'])}\n\n{words}\n"),
    "page quoted as text": lambda words: mail("text/plain", f"{words}\n\n{ATTRIBUTION}\n{marked(SEEN)}\n"),
    "plain without marks": lambda words: mail("text/plain", f"{words}\n\n{BLOCK}\n\n{TEXTS['plain']}"),
    "plain quoted and wrapped": lambda words: mail(
        "text/plain", f"{words}\n\n{ATTRIBUTION}\n{wrapped(TEXTS['plain'], '> ', '> ')}\n"
    ),
    "plain quoted, then wrapped": lambda words: mail(
        "text/plain", f"{words}\n\n{ATTRIBUTION}\n{wrapped(TEXTS['plain'], '> ')}\n"
    ),
    "plain wrapped without marks": lambda words: mail("text/plain", f"{words}\n\n{BLOCK}\n\n{wrapped(TEXTS['plain'])}"),
    "page without marks": lambda words: mail("text/plain", f"{words}\n\n{BLOCK}\n\n{SEEN}"),
    "page in a blockquote": lambda words: mail(
        "text/html",
        f"<div>{html.escape(words)}</div><div>{html.escape(ATTRIBUTION)}</div><blockquote>{inner(TEXTS['html'])}</blockquote>",
    ),
    "page without a blockquote": lambda words: mail(
        "text/html",
        f"<p>{html.escape(words)}</p><p>{html.escape(BLOCK).replace(chr(10), '<br>')}</p>{inner(TEXTS['html'])}",
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_word_is_read_in_every_form(form: str) -> None:
    for words, decision in (("approve", "approve"), ("reject: no", "reject"), ("approve 2", "approve"), ("", "none")):
        reading = read_reply(FORMS[form](words), TABLE)
        assert (reading.decision, reading.new_text) == (decision, words), reading.rule


@pytest.mark.parametrize("form", FORMS)
def test_a_condition_is_read_in_every_form(form: str) -> None:
    assert read_reply(FORMS[form]("approve\n\nbut not to Tom"), TABLE).decision == "respond"


@pytest.mark.parametrize("form", FORMS)
def test_a_remark_in_the_quote_is_read_in_every_form(form: str) -> None:
    raw = FORMS[form]("approve")
    assert b"tom@example.org" in raw
    assert read_reply(raw.replace(b"tom@example.org", b"tom@example.org leave him out"), TABLE).decision == "respond"


@pytest.mark.parametrize(
    "above",
    [
        "On Monday, Assistant <assistant@postroom.internal> wrote:",
        "Assistant <assistant@postroom.internal> wrote:",
        "On 30 November the Assistant at assistant@postroom.internal wrote:",
        "assistant@postroom.internal schrieb:",
        "Assistant wrote:",
    ],
)
def test_the_address_it_came_from_stands_above_a_quote(above: str) -> None:
    table = SentTable((replace(SENT, senders=("assistant@postroom.internal",)),))
    for word, decision in (("approve", "approve"), ("reject: not now", "reject")):
        reading = read_reply(mail("text/plain", f"{word}\n\n{above}\n{marked(TEXTS['plain'])}\n"), table)
        assert reading.decision == decision, reading.rule
        assert reading.new_text == word


def test_the_address_it_came_from_in_a_condition_is_no_attribution() -> None:
    table = SentTable((replace(SENT, senders=("assistant@postroom.internal",)),))
    text = f"approve\n\nOnly what assistant@postroom.internal wrote:\n{marked(TEXTS['plain'])}\n"
    assert read_reply(mail("text/plain", text), table).decision != "approve"


@pytest.mark.parametrize(
    "said", ["Hi, approve", "Hi approve", "Hello, approve?", "Dear Assistant, approve!", "Hey, reject"]
)
def test_a_greeting_on_the_same_line_leaves_the_request_open(said: str) -> None:
    assert read_reply(FORMS["plain quoted"](said), TABLE).near_miss is not None


@pytest.mark.parametrize("said", ["Hi, send it to Tom", "Hello there", "Hi Ada, no idea what you approve"])
def test_a_greeting_before_other_words_is_feedback(said: str) -> None:
    reading = read_reply(FORMS["plain quoted"](said), TABLE)
    assert (reading.decision, reading.near_miss) == ("respond", None)
