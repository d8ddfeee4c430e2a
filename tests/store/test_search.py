"""Searching (DECISIONS 20): each node of the tree, with the text index filled, half filled and empty."""

import base64
import quopri
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mailstore.folding import document, fold, fold_needle
from mailstore.query import (
    Address,
    AllOf,
    And,
    Before,
    Body,
    EmailIdIs,
    HasFlag,
    Header,
    Keyword,
    Larger,
    ModSeqAtLeast,
    Not,
    Nothing,
    Older,
    On,
    Or,
    Since,
    Smaller,
    Text,
    ThreadIdIs,
    UidSet,
    Younger,
)
from mailstore.textindex import true_of
from tests.store.helpers import START, Desk, mail, make_desk, open_store

DAY = 86_400_000
MIXED = (
    b"From: =?utf-8?q?J=C3=B6rg_M=C3=BCller?= <joerg@example.org> (the comment)\r\n"
    b"To: you@postroom.internal\r\nCc: Team <team@example.org>\r\nSubject: =?utf-8?b?R3LDvMOfZQ==?= from\r\n Berlin\r\n"
    b"Date: Mon, 30 Nov 2026 23:30:00 -0500\r\nX-Empty:\r\n"
    b"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain; charset=utf-8\r\n"
    b"Content-Transfer-Encoding: base64\r\n\r\n"
    + base64.encodebytes("Die Überweisung ist da, STRASSE.".encode()).replace(b"\n", b"\r\n")
    + b"--b\r\nContent-Type: text/html; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n"
    b"X-Part: onlyinpart\r\n\r\n"
    + quopri.encodestring("<p>caf\xe9 cr&egrave;me</p><style>hidden</style>".encode("latin-1"))
    + b"\r\n--b\r\nContent-Type: message/rfc822\r\n\r\nSubject: inner subject\r\n\r\ninner words\r\n--b--\r\n"
)


@pytest.fixture(params=["indexed", "half", "scanned"])
async def letters(request: Any, desk: Desk) -> Any:
    """INBOX: 1 MIXED, 2 plain, 3 other; the text index has all, one, or none of them."""
    await desk.append("INBOX", MIXED, "\\Seen", "$Work", internal_date=START - 3 * DAY)
    if request.param == "half":
        await desk.store.housekeeping.settle()
    await desk.append("INBOX", mail("Plain matters", "An invoice of 12 EUR."), "\\Flagged", internal_date=START - DAY)
    await desk.append("INBOX", mail("Other", "x" * 3000, message_id="<Case@X>"), internal_date=START)
    if request.param == "indexed":
        await desk.store.housekeeping.settle()
    return desk


async def find(desk: Desk, query: Any, box: str = "INBOX") -> Any:
    return await desk.store.search(desk.box(box), query)


@pytest.mark.parametrize(
    ("query", "uids"),
    [
        (Text("überweisung"), [1]),
        (Text("ÜBERWEISUNG"), [1]),
        (Text("U\u0308berweisung"), [1]),
        (Body("strasse"), [1]),
        (Body("straße"), [1]),
        (Text("grüsse from berlin"), [1]),
        (Body("berlin"), []),
        (Text("café crème"), [1]),
        (Text("hidden"), []),
        (Text("onlyinpart"), [1]),
        (Body("onlyinpart"), []),
        (Body("inner subject"), [1]),
        (Body("inner words"), [1]),
        (Body("invoice of 12"), [2]),
        (Body("nvoic"), [2]),
        (Body("12"), [2]),
        (Text("x"), [1, 2, 3]),
        (Text(""), [1, 2, 3]),
        (Text("\0in\0voice"), [2]),
        (Text('quo"te AND *'), []),
        (Text("%"), []),
        (Header("subject", "grüße FROM"), [1]),
        (Header("Subject", "a"), [2]),
        (Header("message-id", "<case@x>"), [3]),
        (Header("x-empty", ""), [1]),
        (Header("X-Absent", ""), []),
        (Header("from", "subject"), []),
        (Header("ubject", "plain"), []),
        (Address("from", "jörg müller"), [1]),
        (Address("from", "the comment"), [1]),
        (Address("cc", "team@"), [1]),
        (Address("bcc", ""), []),
        (Address("to", "YOU@"), [1, 2, 3]),
    ],
)
async def test_words(letters: Any, query: Any, uids: list[int]) -> None:
    assert await find(letters, query) == uids


@pytest.mark.parametrize(
    ("query", "uids"),
    [
        (AllOf(), [1, 2, 3]),
        (Nothing(), []),
        (And(()), [1, 2, 3]),
        (UidSet(((2, 3), (9, 12))), [2, 3]),
        (UidSet(()), []),
        (HasFlag("\\Seen"), [1]),
        (Not(HasFlag("\\Seen")), [2, 3]),
        (HasFlag("\\FLAGGED"), [2]),
        (HasFlag("\\Recent"), [1, 2, 3]),
        (Not(HasFlag("\\Recent")), []),
        (HasFlag("\\Deleted"), []),
        (Keyword("$WORK"), [1]),
        (Not(Keyword("$work")), [2, 3]),
        (Keyword("none"), []),
        (Larger(2999), [3]),
        (Smaller(300), [2]),
        (Older(2 * 86400), [1]),
        (Younger(86400), [2, 3]),
        (ModSeqAtLeast(0), [1, 2, 3]),
        (EmailIdIs("Mzz"), []),
        (EmailIdIs("nonsense"), []),
        (ThreadIdIs("T" + "f" * 40), []),
        (Or(HasFlag("\\Seen"), Body("invoice")), [1, 2]),
        (And((Not(HasFlag("\\Seen")), Text("plain"))), [2]),
        (Not(Or(Text("matters"), Larger(2000))), [1]),
        (Not(And((Text("a"), Not(Body("invoice"))))), [2]),
        (And((Nothing(), Text("x"))), []),
    ],
)
async def test_values_and_logic(letters: Any, query: Any, uids: list[int]) -> None:
    assert await find(letters, query) == uids


async def test_search_03_not_binds_to_its_own_key(letters: Any) -> None:
    assert await find(letters, And((Not(Address("from", "ada")), Header("subject", "berlin")))) == [1]


async def test_search_08_dates_ignore_time_and_zone(desk: Desk) -> None:
    midnight = 1_782_950_400_000  # 2 July 2026, 00:00 UTC
    await desk.append("INBOX", mail("a", date="Thu, 02 Jul 2026 00:00:00 +0000"), internal_date=midnight)
    await desk.append("INBOX", mail("b", date="Wed, 01 Jul 2026 23:59:59 -1200"), internal_date=midnight - 1)
    await desk.append("INBOX", mail("c"), internal_date=midnight + DAY)
    day = date(2026, 7, 2)
    assert await find(desk, Before(day)) == [2]
    assert await find(desk, On(day)) == [1]
    assert await find(desk, Since(day)) == [1, 3]
    assert await find(desk, Before(day, "sent")) == [2]  # taken as written, in its own zone
    assert await find(desk, On(day, "sent")) == [1]
    assert await find(desk, Since(day, "sent")) == [1]  # one without a date has no day
    assert await find(desk, On(date(1970, 1, 1))) == []
    await desk.append("INBOX", mail("d"), internal_date=midnight - 1, zone=60)  # it is 2 July where the date was given
    await desk.append("INBOX", mail("e"), internal_date=midnight, zone=-60)  # and here it is still the first
    assert await find(desk, On(day)) == [1, 4]
    assert await find(desk, Before(day)) == [2, 5]
    saved = datetime.fromtimestamp(START / 1000 - 3600, UTC).date()
    assert await find(desk, Since(saved, "saved")) == [1, 2, 3, 4, 5]
    assert await find(desk, Before(saved, "saved")) == []


async def test_object_ids_and_modseqs(desk: Desk) -> None:
    await desk.append("INBOX", mail("a"))
    await desk.append("INBOX", mail("b"))
    row = desk.fetch("INBOX", [2])[0]
    assert await find(desk, EmailIdIs(row.email_object_id)) == [2]
    assert await find(desk, ThreadIdIs(row.thread_object_id)) == [2]
    assert await find(desk, ModSeqAtLeast(row.modseq)) == [2]


async def test_a_message_is_found_as_soon_as_it_is_appended_and_no_longer_when_gone(desk: Desk) -> None:
    await desk.store.housekeeping.settle()
    await desk.append("INBOX", mail("Needle in a haystack"))
    assert await find(desk, Text("needle")) == [1]
    await desk.store.housekeeping.settle()
    await desk.delete("INBOX", [1])
    assert await find(desk, Text("needle")) == []
    await desk.store.housekeeping.settle()
    assert await desk.store.text_index.check() == []


async def test_views_and_copies_are_searched_too(desk: Desk) -> None:
    await desk.append("INBOX", mail("Needle"))
    await desk.store.housekeeping.settle()
    await desk.copy("INBOX", [1], "Archive")
    for box in ("INBOX", "Archive", "Unread"):
        assert await find(desk, Text("needle"), box) == [1]
    assert await find(desk, Text("needle"), "All") == [1, 2]


async def test_a_needle_with_many_hits_and_one_of_two_letters(desk: Desk) -> None:
    prepared = [desk.store.prepare(mail(f"Same subject {n}", f"common words {n}")) for n in range(500)]
    box = desk.box("INBOX")
    from mailstore import messages

    await desk.write(lambda tx: [messages.append(tx, box, each) for each in prepared])
    await desk.store.housekeeping.settle()
    assert len(await find(desk, Text("common words"))) == 500
    assert len(await find(desk, Header("subject", "same subject"))) == 500
    assert len(await find(desk, Body("co"))) == 500


async def test_the_index_is_made_again_when_lost_broken_or_another_stores(tmp_path: Path, clock: Any) -> None:
    home = tmp_path / "i"
    store = await open_store(home, clock)
    desk = await make_desk(store, clock)
    await desk.append("INBOX", mail("Needle"))
    await store.housekeeping.settle()
    await store.close()
    file = home / "textindex.sqlite3"
    other = await open_store(tmp_path / "other", clock)
    await (await make_desk(other, clock)).append("INBOX", mail("Foreign"))
    await other.housekeeping.settle()
    await other.close()
    foreign = (tmp_path / "other" / "textindex.sqlite3").read_bytes()
    for damage in (None, b"this is no database, whatever it says" * 200, foreign):
        for leftover in home.glob("textindex*"):
            leftover.unlink()
        if damage is not None:
            file.write_bytes(damage)
        store = desk.store = await open_store(home, clock)
        assert await find(desk, Text("needle")) == [1]
        await store.housekeeping.settle()
        assert store.text_index.mark == 1
        assert await find(desk, Text("needle")) == [1]
        assert await find(desk, Text("foreign")) == []
        assert await store.check() == []
        await store.close()


async def test_hostile_messages_can_be_searched(desk: Desk) -> None:
    odd_charset = b"Content-Type: text/plain; charset=\xff\r\n\r\n\x80"
    for raw in (b"", b"\xff" * 100, b"Subject: \xed\xa0\x80\r\n\r\n\0", odd_charset):
        await desk.append("INBOX", raw)
    assert await find(desk, Text("nothing of the kind")) == []
    await desk.store.housekeeping.settle()
    assert await find(desk, Text("nothing of the kind")) == []
    assert await find(desk, Text("")) == [1, 2, 3, 4]


@given(st.text(max_size=30))
def test_folding_is_idempotent_and_case_and_form_do_not_matter(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert fold(text.upper()) == fold(text.upper().lower())


@settings(max_examples=60)
@given(st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=20), st.data())
def test_any_piece_of_a_text_is_found_in_it(text: str, data: Any) -> None:
    first = data.draw(st.integers(0, len(text) - 1))
    piece = text[first : data.draw(st.integers(first + 1, len(text)))]
    raw = b"Content-Type: text/plain; charset=utf-8\r\n\r\n" + text.encode()
    folded = document(raw)
    assert (fold_needle(piece) in fold(text)) == true_of(Body(piece), folded) or piece.strip() != piece
