"""Whatever the mail: a client can read the answers, they have their fields, and sections are slices of the message."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bridge.imap.items.section import Section, read_section
from bridge.imap.items.structure import render_body, render_bodystructure
from bridge.imap.wire.cursor import Cursor
from mailstore.parse import normalise, parse, walk
from tests.wire import sexp
from tests.wire.messages import answer

LINES = st.sampled_from(
    [b"From: a@b", b"To: g: a@b;, <x", b'Cc: "q\\" <a@b>', b"Subject: \xfc\\\"", b" folded", b"", b"", b"--o", b"--i",
     b"--o--", b"--i--", b"text", b"Content-Type: multipart/mixed; boundary=o",
     b"Content-Type: multipart/digest; boundary=i",
     b"Content-Type: message/rfc822", b"Content-Type: text/html; charset=\"x", b"Content-Type: image/png; name=\xff",
     b"Content-Disposition: attachment; filename=\"a\r b\"", b"Content-Language: a,,b", b"Content-ID:", b"From x y",
     b"Content-Transfer-Encoding: base64", b"\x00", b"Message-ID: <\r>", b"Sender: ,;:()<>@[]"]
)  # packed, to be seen at a glance  # fmt: skip
MAILS = st.one_of(st.lists(LINES, max_size=40).map(b"\n".join), st.binary(max_size=300)).map(normalise)


@given(MAILS)
def test_envelopes_can_be_read(raw: bytes) -> None:
    check_envelope(sexp.read(answer("ENVELOPE", raw).removeprefix(b"ENVELOPE ")))


@given(MAILS)
def test_structures_can_be_read(raw: bytes) -> None:
    root = parse(raw).root
    check_part(sexp.read(render_body(root)), extended=False)
    check_part(sexp.read(render_bodystructure(root)), extended=True)


def check_envelope(fields: Any) -> None:
    assert len(fields) == 10
    assert all(field is None or isinstance(field, bytes) for field in (*fields[:2], *fields[8:]))
    for addresses in fields[2:8]:
        assert addresses is None or all(len(address) == 4 for address in addresses)


def check_part(fields: list[Any], *, extended: bool) -> None:
    if isinstance(fields[0], list):
        children = [field for field in fields if isinstance(field, list) and fields.index(field) < subtype_at(fields)]
        for child in children:
            check_part(child, extended=extended)
        assert len(fields) - subtype_at(fields) == (5 if extended else 1)
        return
    kind, subtype, params, content_id, description, encoding, size = fields[:7]
    assert all(isinstance(text, bytes) and text for text in (kind, subtype, encoding))
    assert params is None or len(params) % 2 == 0
    assert all(text is None or isinstance(text, bytes) for text in (content_id, description))
    assert isinstance(size, int)
    rest = fields[7:]
    if (kind, subtype) == (b"message", b"rfc822"):
        check_envelope(rest[0])
        check_part(rest[1], extended=extended)
        rest = rest[2:]
        assert isinstance(rest.pop(0), int)
    elif kind == b"text":
        assert isinstance(rest.pop(0), int)
    assert len(rest) == (4 if extended else 0)


def subtype_at(fields: list[Any]) -> int:
    return next(at for at, field in enumerate(fields) if not isinstance(field, list))


@given(MAILS)
def test_sections_are_slices_of_the_message(raw: bytes) -> None:
    message = parse(raw)
    assert literal(answer("BODY.PEEK[]", raw)) == raw
    assert literal(answer("BODY.PEEK[HEADER]", raw)) + literal(answer("BODY.PEEK[TEXT]", raw)) == raw
    for part in list(walk(message.root))[:10]:
        if not part.section or message.part(part.section) is not part:
            continue
        body = literal(answer(f"BODY.PEEK[{part.section}]", raw))
        assert body == raw[part.body_start : part.body_end]
        assert literal(answer(f"BODY.PEEK[{part.section}.MIME]", raw)) == raw[part.start : part.header_end]
        assert literal(answer(f"BODY.PEEK[{part.section}]<1.2>", raw)) == body[1:3]


def literal(line: bytes) -> bytes:
    value = sexp.read(line[line.index(b"]") :].partition(b" ")[2])
    assert isinstance(value, bytes)
    return value


@given(MAILS, st.lists(st.sampled_from(["From", "to", "SUBJECT", "Content-Type", "X"]), min_size=1, max_size=3))
def test_fields_and_the_other_fields_are_the_header(raw: bytes, names: list[str]) -> None:
    header = literal(answer("BODY.PEEK[HEADER]", raw))
    listed = " ".join(names)
    chosen = literal(answer(f"BODY.PEEK[HEADER.FIELDS ({listed})]", raw))
    others = literal(answer(f"BODY.PEEK[HEADER.FIELDS.NOT ({listed})]", raw))
    assert chosen.endswith(b"\r\n")
    assert len(chosen) - 2 + len(others) == len(header)


@given(st.lists(st.integers(1, 99), max_size=4), st.sampled_from([b"", b"HEADER", b"TEXT", b"MIME"]))
def test_labels_are_sections_again(numbers: list[int], kind: bytes) -> None:
    if kind == b"MIME" and not numbers:
        return
    section = Section(b".".join(b"%d" % number for number in numbers), kind)
    assert read_section(Cursor(b"[" + section.label + b"]")) == section
