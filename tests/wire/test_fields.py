"""Header fields stored apart: the bytes are those of the message, or they are not used."""

from itertools import permutations

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
    assert picker(listed)([stored])[0] == from_message(raw, listed)


@given(st.lists(PIECES, max_size=30).map(b"".join), WANTED)
def test_whatever_is_stored_of_any_bytes_is_what_the_message_has(raw: bytes, names: list[bytes]) -> None:
    stored = render_fields(parse(raw))
    listed = [name for name in names if are_listed([name])]
    if stored:
        assert picker(listed)([stored])[0] == from_message(raw, listed)


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
    assert picker([b"subject", b"SUBJECT"])([stored])[0] == b"Subject: s\r\n\r\n"


def test_a_picker_takes_messages_of_any_order_however_many_orders_it_has_met() -> None:
    names = [b"From", b"To", b"Subject", b"Date", b"Cc", b"References", b"Message-ID"]
    orders = [order for length in range(5) for order in permutations(names, length)]
    raws = [b"".join(b"%b: %d\r\n" % (name, at) for name in order) + b"\r\n" for at, order in enumerate(orders)]
    wanted = [b"subject", b"cc", b"date"]
    assert len(orders) > 1000
    stored = [render_fields(parse(raw)) for raw in raws]
    assert picker(wanted)(stored * 2) == [from_message(raw, wanted) for raw in raws] * 2


def test_a_header_of_too_many_fields_is_read_from_the_message() -> None:
    """As hostile mail may have; what has as many as can be stored is as any other."""
    most = b"".join(b"To: %d\r\nCc: %d\r\n" % (at, at) for at in range(127)) + b"To: x\r\n"
    assert picker([b"To"])([render_fields(parse(most + b"\r\n"))]) == [from_message(most + b"\r\n", [b"To"])]
    assert render_fields(parse(most + b"Cc: y\r\n\r\n")) == b""


def test_fields_of_any_size_are_stored() -> None:
    raw = b"Subject: a\r\nReferences: " + b"\r\n ".join([b"<%d@x>" % at for at in range(20_000)]) + b"\r\nTo: b\r\n\r\n"
    stored = render_fields(parse(raw))
    assert picker([b"References", b"To"])([stored]) == [from_message(raw, [b"References", b"To"])]
    assert picker([])([stored]) == [b"\r\n"]
