"""BODY[...]: which bytes, under which label, and what is no section."""

import pytest

from bridge.imap.items.section import read_partial, read_section
from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.errors import ParseError
from tests.wire.harness import leaves, reads, refuses
from tests.wire.messages import answer, crlf

PLAIN = crlf("From: Ada <ada@example.org>\nSubject: one\n two\nX-Empty:\nTo: you@x\nsubject: again\n\nbody\nlines\n")
NESTED = crlf(
    "From: a@b\nContent-Type: multipart/mixed; boundary=o\n\n"
    "--o\nContent-Type: text/plain\n\nfirst\n"
    "--o\nContent-Type: message/rfc822\nContent-Disposition: inline\n\n"
    "From: in@x\nSubject: inner\nContent-Type: multipart/alternative; boundary=i\n\n"
    "--i\n\nalpha\n--i\nContent-Type: text/html\n\nbeta\n--i--\n"
    "--o--\n"
)
SINGLE = crlf("Subject: out\nContent-Type: message/rfc822\n\nSubject: in\n\ninner body\n")


@pytest.mark.parametrize(
    ("text", "label"),
    [
        (b"[]", b""),
        (b"[text]", b"TEXT"),
        (b"[Header]", b"HEADER"),
        (b"[1]", b"1"),
        (b"[1.2.mime]", b"1.2.MIME"),
        (b"[4294967295]", b"4294967295"),
        (b"[2.header.fields (From)]", b"2.HEADER.FIELDS (From)"),
        (b"[HEADER.FIELDS (date FROM From)]", b"HEADER.FIELDS (date FROM From)"),
        (b'[HEADER.FIELDS.NOT ("X-Y")]', b"HEADER.FIELDS.NOT (X-Y)"),
        (b"[HEADER.FIELDS ({2+}\r\nTo nil)]", b'HEADER.FIELDS (To "nil")'),
        (b'[HEADER.FIELDS ("a b")]', b'HEADER.FIELDS ("a b")'),
    ],
)
def test_sections_are_read_and_named_as_asked(text: bytes, label: bytes) -> None:
    reads(lambda cursor: read_section(cursor).label, text, label)
    leaves(lambda cursor: read_section(cursor).label, text, label, b"<0.5> x")


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        (b"", 0),
        (b"[", 1),
        (b"[FOO]", 1),
        (b"[MIME]", 1),
        (b"[0]", 1),
        (b"[01]", 1),
        (b"[1.]", 3),
        (b"[1..2]", 3),
        (b"[1.0]", 3),
        (b"[1", 1),
        (b"[HEADER.FIELDS]", 14),
        (b"[HEADER.FIELDS ()]", 16),
        (b"[HEADER.FIELDS (a", 17),
        (b"[TEXT.1]", 1),
        (b"[" + b"1." * 200 + b"1]", 402),
    ],
)
def test_what_is_no_section(text: bytes, offset: int) -> None:
    refuses(read_section, text, offset)


@pytest.mark.parametrize("text", [b"<10.0>", b"<1>", b"<-1.5>", b"<.5>", b"<1.5", b"<1.9223372036854775808>"])
def test_what_is_no_partial(text: bytes) -> None:
    cursor = Cursor(text)
    with pytest.raises(ParseError):
        read_partial(cursor)


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("BODY.PEEK[TEXT]", b"BODY[TEXT] {13}\r\nbody\r\nlines\r\n"),
        ("BODY.PEEK[1]", b"BODY[1] {13}\r\nbody\r\nlines\r\n"),
        ("BODY.PEEK[1.1]", b"BODY[1.1] NIL"),
        ("BODY.PEEK[2]", b"BODY[2] NIL"),
        ("BODY.PEEK[1.HEADER]", b"BODY[1.HEADER] NIL"),
        ("BODY.PEEK[1.HEADER.FIELDS (From)]", b"BODY[1.HEADER.FIELDS (From)] NIL"),
        ("BODY.PEEK[TEXT]<0.4>", b"BODY[TEXT]<0> {4}\r\nbody"),
        ("BODY.PEEK[TEXT]<10.5>", b"BODY[TEXT]<10> {3}\r\ns\r\n"),
        ("BODY.PEEK[TEXT]<0.393216>", b"BODY[TEXT]<0> {13}\r\nbody\r\nlines\r\n"),
        ("BODY.PEEK[TEXT]<4000000000.4000000000>", b"BODY[TEXT]<4000000000> {0}\r\n"),
        ("BODY.PEEK[2]<5.1>", b"BODY[2]<5> NIL"),
        (
            "BODY.PEEK[HEADER.FIELDS (to SUBJECT x)]",
            b"BODY[HEADER.FIELDS (to SUBJECT x)] {49}\r\nSubject: one\r\n two\r\nTo: you@x\r\nsubject: again\r\n\r\n",
        ),
        ("BODY.PEEK[HEADER.FIELDS (nope)]", b"BODY[HEADER.FIELDS (nope)] {2}\r\n\r\n"),
        ("BODY.PEEK[HEADER.FIELDS (x-empty)]", b"BODY[HEADER.FIELDS (x-empty)] {12}\r\nX-Empty:\r\n\r\n"),
        (
            "BODY.PEEK[HEADER.FIELDS.NOT (From subject X-EMPTY)]",
            b"BODY[HEADER.FIELDS.NOT (From subject X-EMPTY)] {13}\r\nTo: you@x\r\n\r\n",
        ),
        (
            "BODY.PEEK[HEADER.FIELDS.NOT (Received)]<0.20>",
            b"BODY[HEADER.FIELDS.NOT (Received)]<0> {20}\r\nFrom: Ada <ada@examp",
        ),
    ],
)
def test_a_plain_message(item: str, expected: bytes) -> None:
    # req 6.4.5-single
    assert answer(item, PLAIN) == expected


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("BODY.PEEK[1]", b"{5}\r\nfirst"),
        ("BODY.PEEK[1.MIME]", b"{28}\r\nContent-Type: text/plain\r\n\r\n"),
        ("BODY.PEEK[1.TEXT]", b"NIL"),
        ("BODY.PEEK[2.MIME]", b"{61}\r\nContent-Type: message/rfc822\r\nContent-Disposition: inline\r\n\r\n"),
        (
            "BODY.PEEK[2.HEADER]",
            b"{79}\r\nFrom: in@x\r\nSubject: inner\r\nContent-Type: multipart/alternative; boundary=i\r\n\r\n",
        ),
        ("BODY.PEEK[2.HEADER.FIELDS (SUBJECT)]", b"{18}\r\nSubject: inner\r\n\r\n"),
        ("BODY.PEEK[2.HEADER.FIELDS (SUBJECT)]<3.5>", b"{5}\r\nject:"),
        ("BODY.PEEK[2.1]", b"{5}\r\nalpha"),
        ("BODY.PEEK[2.1.MIME]", b"{2}\r\n\r\n"),
        ("BODY.PEEK[2.2]<1.2>", b"{2}\r\net"),
        ("BODY.PEEK[2.3]", b"NIL"),
        ("BODY.PEEK[2.2.1]", b"NIL"),
        ("BODY.PEEK[3]", b"NIL"),
        ("BODY.PEEK[20]", b"NIL"),
    ],
)
def test_a_nested_message(item: str, expected: bytes) -> None:
    # req 6.4.5-nested
    label = item.replace(".PEEK", "").encode()
    label = label.partition(b"<")[0] + (b"<%b>" % label.partition(b"<")[2].partition(b".")[0] if b"<" in label else b"")
    assert answer(item, NESTED) == label + b" " + expected


def test_an_enclosed_message_is_its_header_and_text_and_nothing_else() -> None:
    whole = answer("BODY.PEEK[2]", NESTED).partition(b"}\r\n")[2]
    header = answer("BODY.PEEK[2.HEADER]", NESTED).partition(b"}\r\n")[2]
    text = answer("BODY.PEEK[2.TEXT]", NESTED).partition(b"}\r\n")[2]
    assert header + text == whole


def test_a_message_that_is_one_enclosed_message() -> None:
    assert answer("BODY.PEEK[1.HEADER]", SINGLE) == b"BODY[1.HEADER] {15}\r\nSubject: in\r\n\r\n"
    assert answer("BODY.PEEK[1.1]", SINGLE) == b"BODY[1.1] {12}\r\ninner body\r\n"


@pytest.mark.parametrize(
    "raw", [PLAIN, NESTED, SINGLE, b"", b"\r\n", b"Subject: no body\r\n", b"no header at all", crlf("\nonly body")]
)
def test_header_and_text_are_the_whole(raw: bytes) -> None:
    # req 7.4.2-blank-line
    parts = [answer(f"BODY.PEEK[{kind}]", raw).partition(b"}\r\n")[2] for kind in ("HEADER", "TEXT", "")]
    assert parts[0] + parts[1] == parts[2] == raw


@pytest.mark.parametrize("kind", ["RFC822", "RFC822.HEADER", "RFC822.TEXT"])
def test_the_elder_names_give_the_same_bytes_under_their_own_name(kind: str) -> None:
    section = {"RFC822": "", "RFC822.HEADER": "HEADER", "RFC822.TEXT": "TEXT"}[kind]
    assert answer(kind, PLAIN).partition(b" ")[2] == answer(f"BODY.PEEK[{section}]", PLAIN).partition(b" ")[2]
    assert answer(kind, PLAIN).startswith(kind.encode() + b" {")


def test_a_field_name_is_no_pattern() -> None:
    # req 6.4.5-fields-exact
    assert answer("BODY.PEEK[HEADER.FIELDS (S.bject)]", PLAIN).endswith(b"{2}\r\n\r\n")
    assert answer("BODY.PEEK[HEADER.FIELDS (Sub)]", PLAIN).endswith(b"{2}\r\n\r\n")


def test_a_percent_sign_in_a_field_name_is_echoed() -> None:
    assert answer('BODY.PEEK[HEADER.FIELDS ("a%d%b")]', PLAIN) == b'BODY[HEADER.FIELDS ("a%d%b")] {2}\r\n\r\n'
