"""Modified UTF-7 names of RFC 3501 section 5.1.3, both ways."""

import pytest

from bridge.imap.wire import utf7
from bridge.imap.wire.errors import ParseError

PAIRS = [
    ("", b""),
    ("INBOX", b"INBOX"),
    ("R&D Größe", b"R&-D Gr&APYA3w-e"),
    ("&", b"&-"),
    ("&&", b"&-&-"),
    ("日本語", b"&ZeVnLIqe-"),
    ("~peter/mail/台北/日本語", b"~peter/mail/&U,BTFw-/&ZeVnLIqe-"),
    ("😀", b"&2D3eAA-"),
    ("a😀b", b"a&2D3eAA-b"),
    ("é&é", b"&AOk-&-&AOk-"),
    ('NYC (work, June) "x" 50%', b'NYC (work, June) "x" 50%'),
]


@pytest.mark.parametrize(("name", "wire"), PAIRS)
def test_both_ways(name: str, wire: bytes) -> None:
    # req 5.1.3-both-ways
    # req rfc9051/A.1-one-spelling
    assert utf7.encode(name) == wire
    assert utf7.decode(wire) == name


@pytest.mark.parametrize(
    ("wire", "name"),
    [
        (b"&AOk-&AOk-", "éé"),  # two shifts in a row
        (b"&AOkA6Q-", "éé"),
    ],
)
def test_another_spelling_of_the_same_name_is_the_same_name(wire: bytes, name: str) -> None:
    assert utf7.decode(wire) == name


@pytest.mark.parametrize(
    "wire",
    [
        b"&",
        b"a&",
        b"&'",
        b"&AOk",
        b"&AOk x-",
        b"&A-",
        b"&AA-",
        b"&AOl-",  # odd bits
        b"&AOkA-",
        b"&AGE-",  # ASCII need not be shifted
        b"&AAo-",  # a control character
        b"&2D0-",  # half a surrogate pair
        b"&2D0-&3gA-",  # a pair in two shifts
        b"&3gDYPQ-",
        b"gr\xfcn",
        b"a\x01b",
        b"a\x7f",
        b"&A/k-",  # "/" is "," in this alphabet
    ],
)
def test_what_has_no_single_reading_is_refused(wire: bytes) -> None:
    with pytest.raises(ParseError) as caught:
        utf7.decode(wire)
    assert (caught.value.status, caught.value.code) == ("NO", "CANNOT")


def test_a_pattern_that_cannot_be_decoded_stays_as_written() -> None:
    assert utf7.decode_lenient(b"&'*") == "&'*"
    assert utf7.decode_lenient(b"Gr&APYA3w-e*") == "Größe*"


def test_encoding_never_fails() -> None:
    assert utf7.encode("a\ud800b").startswith(b"a&")
    assert utf7.encode("a\nb") == b"a&AAo-b"
