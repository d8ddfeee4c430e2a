"""What Thunderbird really sent, kept as bytes: plain text and HTML, above and below the quote.

Made by tests/interop/thunderbird/test_answers.py (POSTROOM_TEST_KEEP); the quotes are as Thunderbird re-wrapped them.
"""

from pathlib import Path

import pytest

from bridge.post.content import body_text
from bridge.post.reading import SentMail, SentTable, read_reply, visible_text
from mailstore.parse import normalise, parse, walk
from tests.replies.clients import file_beside, text_beside

FOLDER = Path(__file__).parent / "thunderbird"
CELLS = sorted(path.name.removesuffix(".answer.eml") for path in FOLDER.glob("*.answer.eml"))
SAID = {
    "approve": "approve",
    "reject": "reject: she has read it already\nWrite to Bo instead.",
    "edit": "edit\nSubject: What we said on Tuesday",
}


def sent(raw: bytes) -> SentTable:
    """The request of a cell, as the store would give it."""
    raw = normalise(raw)
    message = parse(raw)
    address = message.envelope.reply_to[0].spec
    mail = SentMail(
        token=address.partition("@")[0].partition("+")[2],
        message_id=message.message_id,
        address=address,
        subject=message.subject,
        text=body_text(message, raw),
        also=tuple(visible_text(part.text(raw)) for part in walk(message.root) if part.media_type == "text/html"),
        items=(1,),
        names=tuple(one.display for one in message.envelope.from_),
        senders=tuple(one.spec for one in message.envelope.from_),
    )
    return SentTable((mail,))


def cell(name: str) -> tuple[bytes, SentTable]:
    return (FOLDER / f"{name}.answer.eml").read_bytes(), sent((FOLDER / f"{name}.request.eml").read_bytes())


def test_the_matrix_is_whole() -> None:
    assert len(CELLS) == 12


@pytest.mark.parametrize("name", CELLS)
def test_read_exactly(name: str) -> None:
    raw, table = cell(name)
    reading = read_reply(raw, table)
    saying = name.partition("-")[0]
    assert reading.decision == saying, reading.rule
    assert reading.sent is table.mails[0]
    assert [row for row in reading.new_text.split("\n") if row] == SAID[saying].split("\n")


@pytest.mark.parametrize("name", [name for name in CELLS if name.startswith("approve")])
@pytest.mark.parametrize("remark", ["But not before Friday.", "Is that the right Maya?"])
def test_an_addition_undoes_it(name: str, remark: str) -> None:
    """Wherever it is typed: below the word, in the quote, below the signature, or as a second part."""
    raw, table = cell(name)
    assert read_reply(text_beside(raw, remark), table).decision != "approve"
    assert read_reply(file_beside(raw, "application/pdf"), table).decision != "approve"
    rows = raw.split(b"\r\n")
    first = rows.index(b"") + 1
    for at in range(first, len(rows)):
        if rows[at].startswith((b"> ", b"approve", b"Harbour Office")):
            mark = b"> " if rows[at].startswith(b">") else b""
            more = b"\r\n".join([*rows[: at + 1], mark + remark.encode(), *rows[at + 1 :]])
            assert read_reply(more, table).decision != "approve", rows[at]
