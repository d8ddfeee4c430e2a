"""Header fields stored apart: the bytes are those of the message, or they are not used."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.imap.items.fields import are_listed, picker, render_fields
from bridge.imap.items.section import Section, header_filter
from mailstore.parse import parse

NAMES = ("Subject", "subject", "FROM", "To", "X-Priority", "Received", "DKIM-Signature", "X-Other", "References")
PIECES = st.sampled_from(
    [
        *(name.encode() for name in NAMES),
        b":",
        b" :",
        b": ",
        b"\r\n",
        b"\n",
        b"\r",
        b"\r\n ",
        b"\r\n\t",
        b"\0",
        b"a",
        b" ",
    ]
)
WANTED = st.lists(st.sampled_from([name.encode() for name in NAMES if name not in {"Received", "DKIM-Signature"}]))
FIELDS = st.tuples(st.sampled_from(NAMES), st.sampled_from(["x", "x\r\n y", "", "<a@b>\r\n\t<c@d>", "naïve"]))


def from_message(raw: bytes, names: list[bytes]) -> bytes:
    """What reading the whole header gives."""
    return header_filter(Section(kind=b"HEADER.FIELDS", fields=tuple(names)))(raw[: parse(raw).header_size])


@given(st.lists(FIELDS), WANTED)
def test_fields_of_a_sound_header_are_stored_and_are_those_of_the_message(
    fields: list[tuple[str, str]], names: list[bytes]
) -> None:
    raw = "".join(f"{name}: {value}\r\n" for name, value in fields).encode() + b"\r\nbody"
    stored = render_fields(parse(raw))
    listed = [name for name in names if are_listed([name])]
    assert stored
    assert picker(listed)(stored) == from_message(raw, listed)


@given(st.lists(PIECES, max_size=30).map(b"".join), WANTED)
def test_whatever_is_stored_of_any_bytes_is_what_the_message_has(raw: bytes, names: list[bytes]) -> None:
    stored = render_fields(parse(raw))
    listed = [name for name in names if are_listed([name])]
    if stored:
        assert picker(listed)(stored) == from_message(raw, listed)


@pytest.mark.parametrize(
    "header",
    [
        b"Subject : a blank before the colon\r\n\r\n",
        b"From nobody Mon Nov 30\r\nSubject: a line that is no field\r\n\r\n",
        b"Subject: a\nTo: bare line feed\r\n\r\n",
        b"Subject: no empty line",
        b"Subject: a\0b\r\n\r\n",
    ],
)
def test_a_header_that_does_not_add_up_is_read_from_the_message(header: bytes) -> None:
    assert render_fields(parse(header)) == b""


def test_only_fields_that_clients_list_are_stored() -> None:
    assert are_listed([b"FROM", b"x-priority", b"Message-ID"])
    assert not are_listed([b"From", b"Received"])
    stored = render_fields(parse(b"Received: by x\r\nSubject: s\r\n\r\n"))
    assert b"Received" not in stored
    assert picker([b"subject", b"SUBJECT"])(stored) == b"Subject: s\r\n\r\n"
