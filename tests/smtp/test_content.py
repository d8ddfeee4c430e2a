"""The bytes of DATA: dots, line ends, long lines."""

import smtplib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.smtp.content import END, MAX_LINE, fault, header_of, unstuff

LINES = st.lists(st.sampled_from([b"", b".", b"..", b".x", b"a.b", b" .", b"word"]), max_size=8)


@given(LINES)
def test_smtp_05_what_a_client_stuffs_is_unstuffed(lines: list[bytes]) -> None:
    mail = b"".join(line + b"\r\n" for line in lines)
    # smtplib's own stuffing, as its data() does it
    stuffed = smtplib._quote_periods(mail)  # type: ignore[attr-defined]  # the reference is a private function
    assert unstuff(b"\r\n" + stuffed + b".\r\n") == mail


def test_smtp_05_first_line_with_a_dot_and_an_empty_mail() -> None:
    assert unstuff(b"\r\n..x\r\n.\r\n") == b".x\r\n"
    assert unstuff(b"\r\n" + b".\r\n") == b""
    assert END == b"\r\n.\r\n"


@pytest.mark.parametrize(
    ("raw", "word"),
    [
        (b"a: b\n\r\nx\r\n", "LF"),
        (b"a\rb\r\n", "CR"),
        (b"a\r\r\n", "CR"),
        (b"a\n\n", "LF"),
        (b"a\0b\r\n", "NUL"),
        (b"x\r\n" + b"y" * (MAX_LINE + 1) + b"\r\n", "1 MB"),
    ],
)
def test_smtp_07_bare_line_ends_nul_and_endless_lines_are_faults(raw: bytes, word: str) -> None:
    found = fault(raw)
    assert found is not None
    assert word in found


@pytest.mark.parametrize("length", [998, 5000, MAX_LINE])
def test_smtp_08_lines_up_to_a_megabyte_are_fine(length: int) -> None:
    assert fault(b"Subject: x\r\n\r\n" + b"y" * length + b"\r\n" + b"z" * length + b"\r\n") is None


def test_eight_bit_bytes_are_no_fault() -> None:
    assert fault("Subject: Grüße\r\n\r\nä\r\n".encode("latin-1")) is None
    assert fault(b"") is None


def test_the_header_ends_at_the_first_empty_line() -> None:
    assert header_of(b"A: 1\r\nB: 2\r\n\r\nC: 3\r\n") == b"A: 1\r\nB: 2\r\n"
    assert header_of(b"\r\nC: 3\r\n") == b""
    assert header_of(b"A: 1\r\n") == b"A: 1\r\n"
