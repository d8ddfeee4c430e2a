"""FETCH plans: what is read, what it needs, what it renders."""

import pytest

from bridge.imap.items.flags import FlagTexts, flags_text
from bridge.imap.items.item import FetchItem, Item, Needs, plain
from bridge.imap.plan import BASE_ITEMS, Batch, FetchPlan
from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.errors import ParseError
from tests.wire.harness import leaves, reads, refuses
from tests.wire.messages import batch, crlf, fetch

PLAIN = crlf("From: Ada <ada@example.org>\nSubject: one\n\nbody\n")
TWO_PARTS = crlf(
    "Subject: two\nContent-Type: multipart/mixed; boundary=b\n\n"
    "--b\n\nfirst\n--b\nContent-Type: text/html\n\n<p>second</p>\n--b--\n"
)


def labels(cursor: Cursor) -> list[bytes]:
    return [item.label for item in FetchPlan.compile(cursor).items]


def compiled(text: str, *, uid: bool = False) -> FetchPlan:
    return FetchPlan.compile(Cursor(text.encode()), uid=uid)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"FLAGS", [b"FLAGS"]),
        (b"(flags UID)", [b"FLAGS", b"UID"]),
        (b"all", [b"FLAGS", b"INTERNALDATE", b"RFC822.SIZE", b"ENVELOPE"]),
        (b"FAST", [b"FLAGS", b"INTERNALDATE", b"RFC822.SIZE"]),
        (b"Full", [b"FLAGS", b"INTERNALDATE", b"RFC822.SIZE", b"ENVELOPE", b"BODY"]),
        (b"BODY", [b"BODY"]),
        (b"BODY[]", [b"BODY[]"]),
        (b"BODY.PEEK[]<0.5>", [b"BODY[]<0>"]),
        (b"BODYSTRUCTURE", [b"BODYSTRUCTURE"]),
        (b"RFC822.HEADER", [b"RFC822.HEADER"]),
        (b"(BODY[1] BODY.PEEK[1] body[1]<0.1> UID UID)", [b"BODY[1]", b"BODY[1]<0>", b"UID"]),
        (b"(BODY.PEEK[HEADER.FIELDS (A {1+}\r\nB)] UID)", [b"BODY[HEADER.FIELDS (A B)]", b"UID"]),
    ],
)
def test_names_become_items_in_order_each_once(text: bytes, expected: list[bytes]) -> None:
    reads(labels, text, expected)
    leaves(labels, text, expected, b" (CHANGEDSINCE 1)")


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        (b"", 0),
        (b"()", 1),
        (b"(ALL)", 1),
        (b"(FLAGS  UID)", 7),
        (b"(FLAGS UID", 10),
        (b"FOO", 0),
        (b"ENVELOP", 0),
        (b"ALLX", 0),
        (b"BODY.PEEK", 9),
        (b"BODY[]<10.0>", 10),
        (b"BODY[", 5),
        (b"RFC822.FOO", 0),
        (b"(" + b" ".join(b"BODY[%d]" % part for part in range(1, 202)) + b")", 1903),
    ],
)
def test_what_cannot_be_fetched(text: bytes, offset: int) -> None:
    refuses(labels, text, offset)


@pytest.mark.parametrize(
    ("text", "needs"),
    [
        ("UID", Needs()),
        ("(UID FLAGS)", Needs(flags=True)),
        ("FAST", Needs(flags=True, rows=True)),
        ("ENVELOPE", Needs(renderings=("imap.envelope.1",))),
        ("BODY", Needs(renderings=("imap.body.1",))),
        ("(BODYSTRUCTURE ENVELOPE)", Needs(rows=True, renderings=("imap.bodystructure.1", "imap.envelope.1"))),
        ("BODY.PEEK[HEADER.FIELDS (From)]", Needs(renderings=("imap.fields.2",))),
        ("BODY.PEEK[HEADER.FIELDS (From Received)]", Needs(header=True)),
        ("BODY.PEEK[HEADER.FIELDS.NOT (From)]", Needs(header=True)),
        ("RFC822.HEADER", Needs(header=True)),
        ("BODY[]", Needs(body=True)),
        ("BODY[TEXT]", Needs(body=True)),
        ("BODY[1.MIME]", Needs(body=True, renderings=("imap.parts.1",))),
    ],
)
def test_a_plan_says_what_it_needs(text: str, needs: Needs) -> None:
    found = compiled(text).needs
    assert (found.flags, found.header, found.body, found.renderings) == (
        needs.flags,
        needs.header,
        needs.body,
        needs.renderings,
    )
    assert found.reads_store == needs.reads_store


@pytest.mark.parametrize(
    ("text", "sets"),
    [
        ("BODY[]", True),
        ("BODY[HEADER]", True),
        ("BODY[1.MIME]", True),
        ("RFC822", True),
        ("RFC822.TEXT", True),
        ("(UID BODY.PEEK[1] BODY[1])", True),
        ("BODY.PEEK[]", False),
        ("RFC822.HEADER", False),
        ("(UID FLAGS ENVELOPE BODY BODYSTRUCTURE)", False),
    ],
)
def test_what_marks_a_message_read(text: str, sets: bool) -> None:
    assert compiled(text).sets_seen is sets


def test_uid_fetch_always_tells_the_uid_and_once() -> None:
    assert fetch("FLAGS", PLAIN, uid=True) == b"* 1 FETCH (UID 101 FLAGS ())\r\n"
    assert fetch("(FLAGS UID)", PLAIN, uid=True) == b"* 1 FETCH (FLAGS () UID 101)\r\n"


def test_flags_can_be_added_to_a_plan_that_marks_messages_read() -> None:
    plan = compiled("BODY[]").with_flags()
    assert [item.label for item in plan.items] == [b"BODY[]", b"FLAGS"]
    assert plan.needs.flags
    assert plan.with_flags() == plan


def test_one_line_a_message_with_exactly_one_space() -> None:
    # req 7.4.2-one-line
    answer = fetch("(UID FLAGS RFC822.SIZE INTERNALDATE BODY.PEEK[TEXT])", PLAIN, PLAIN, flags=[b"\\Seen $A", b""])
    tail = b' RFC822.SIZE 51 INTERNALDATE " 2-Jul-2026 00:00:00 +0000" BODY[TEXT] {6}\r\nbody\r\n)\r\n'
    assert answer == (b"* 1 FETCH (UID 101 FLAGS (\\Seen $A)" + tail + b"* 2 FETCH (UID 102 FLAGS ()" + tail)


def test_envelope_and_structures() -> None:
    address = b'(("Ada" NIL "ada" "example.org"))'
    assert fetch("(ENVELOPE BODY BODYSTRUCTURE)", PLAIN) == (
        b'* 1 FETCH (ENVELOPE (NIL "one" ' + b" ".join([address] * 3) + b" NIL NIL NIL NIL NIL) "
        b'BODY ("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 6 1) '
        b'BODYSTRUCTURE ("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 6 1 NIL NIL NIL NIL))\r\n'
    )


def test_no_messages_give_no_bytes() -> None:
    assert compiled("(UID FLAGS)").render(Batch((), ())) == b""


@pytest.mark.parametrize(
    "items",
    [
        "(UID FLAGS)",
        "BODY.PEEK[]",
        "(UID BODY.PEEK[] FLAGS)",
        "(BODY.PEEK[1] BODY.PEEK[2] BODY.PEEK[1.MIME])",
        "(RFC822.SIZE BODY.PEEK[TEXT]<0.3> ENVELOPE BODY.PEEK[] RFC822.HEADER)",
        "(BODY.PEEK[HEADER.FIELDS (SUBJECT)] UID)",
        '(BODY.PEEK[HEADER.FIELDS ("X%d")] BODY.PEEK[1.HEADER.FIELDS ("%b")])',
    ],
)
@pytest.mark.parametrize("by_uid", [False, True])
def test_pieces_are_the_same_answer(items: str, *, by_uid: bool) -> None:
    plan = compiled(items)
    made = batch(
        plan, [PLAIN, TWO_PARTS, crlf("X%d: a\n\n%d %b {3}\n"), b"", PLAIN + b"\0"], [b"\\Seen", b"", b"", b"", b"%"]
    )
    assert b"".join(plan.pieces(made, by_uid=by_uid)) == plan.render(made, by_uid=by_uid)


def test_a_message_in_pieces_is_the_very_bytes_that_were_read() -> None:
    plan = compiled("(UID BODY.PEEK[])")
    pieces = plan.pieces(batch(plan, [PLAIN, TWO_PARTS]))
    assert [piece for piece in pieces if len(piece) > 40] == [PLAIN, TWO_PARTS]
    assert any(piece is PLAIN for piece in pieces)
    assert any(piece is TWO_PARTS for piece in pieces)


def test_columns_of_unequal_length_are_an_error_and_not_a_shifted_answer() -> None:
    with pytest.raises(ValueError, match="shorter"):
        compiled("(UID FLAGS)").render(Batch([1, 2], [5, 6], flags=[b""]))


def test_a_plan_for_bodies_without_a_reader_is_an_error() -> None:
    with pytest.raises(ValueError, match="reader of bodies"):
        compiled("BODY[]").render(Batch([1], [5]))


def test_an_extension_adds_an_item_by_name() -> None:
    modseq = plain(b"MODSEQ", lambda batch: batch.modseqs, Needs(modseq=True), value=b"(%d)")

    names = {**BASE_ITEMS, modseq.name: modseq}
    plan = FetchPlan.compile(Cursor(b"(UID MODSEQ)"), names)
    assert plan.needs.modseq
    assert plan.render(Batch([4], [9], modseqs=[77])) == b"* 4 FETCH (UID 9 MODSEQ (77))\r\n"
    with pytest.raises(ParseError, match="Unknown FETCH item"):
        FetchPlan.compile(Cursor(b"(UID MODSEQ)"))


def test_an_extension_reads_what_follows_its_name() -> None:
    def parse(cursor: Cursor) -> Item:
        cursor.sp()
        [word] = cursor.parenthesised(cursor.word)
        return plain(b"X-" + word, lambda batch: [b"NIL" for _ in batch.uids], Needs()).parse(cursor)

    names = {**BASE_ITEMS, b"X": FetchItem(b"X", parse)}
    plan = FetchPlan.compile(Cursor(b"(X (LAZY) UID)"), names)
    assert plan.render(Batch([1], [2])) == b"* 1 FETCH (X-LAZY NIL UID 2)\r\n"


class Set:
    def __init__(self, number: int, bits: int, *keywords: str) -> None:
        self.id, self.bits, self.keywords = number, bits, keywords


def test_flag_texts() -> None:
    assert flags_text(0) == b""
    assert flags_text(63, ["$A", "b"]) == b"\\Answered \\Flagged \\Deleted \\Seen \\Draft \\Recent $A b"
    texts = FlagTexts()
    sets = [Set(0, 0), Set(1, 1 | 32, "k"), Set(0, 0)]
    assert texts.many(sets) == [b"", b"\\Seen k", b""]
    assert texts.many(sets) == [b"", b"\\Seen k", b""]
    assert texts.one(sets[1], recent=True) == b"\\Seen \\Recent k"
    assert texts.one(sets[1]) == b"\\Seen k"
