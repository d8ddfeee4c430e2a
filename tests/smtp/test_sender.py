"""The From header belongs to the login: smtp-13, and the tricks around it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.from_line import from_address
from bridge.smtp.sender import refusal
from tests.pace import spent, unit

PACE = unit()
ME = "alice@bridge.test"

MINE = [
    "alice@bridge.test",
    "<alice@bridge.test>",
    "Alice <ALICE@Bridge.Test>",
    '"Alice, the first" <alice@bridge.test>',
    '"bob@evil.example" <alice@bridge.test>',
    "=?utf-8?q?J=C3=B6rg?= <alice@bridge.test>",
    "Jörg <alice@bridge.test>",
    "alice@bridge.test (Alice at work)",
    "(x (nested) y) Alice <alice@bridge.test>",
    "Alice A. <alice@bridge.test>",
    "\t Alice\r\n <alice@bridge.test>",
    '"Alice \\"Al\\" B" <alice@bridge.test>',
]

OTHERS = [
    "bob@evil.example",
    "alice@bridge.test <bob@evil.example>",
    '"alice@bridge.test" <bob@evil.example>',
    "alice@bridge.test, bob@evil.example",
    "bob@evil.example, alice@bridge.test",
    "<alice@bridge.test> <bob@evil.example>",
    "alice@bridge.test (<bob@evil.example>",
    "Team: alice@bridge.test;",
    "Team: alice@bridge.test, bob@evil.example;",
    "bob@evil.example <alice@bridge.test>",  # not quoted: programs differ on which one it is
    "<alice@bridge.test",
    "alice@bridge.test>",
    "alice@bridge.test.evil.example",
    "=?utf-8?q?alice=40bridge.test?=",
    "=?utf-8?q?x?= <bob@evil.example>",
    "Alice",
    "",
    "undisclosed-recipients:;",
    "<>",
    '"Alice <alice@bridge.test>',
    "Alice <alice@bridge.test> trailing",
    "alice @bridge.test bob@evil.example",
    "alice@bridge.test\\",
    "аlice@bridge.test",  # Cyrillic a
]


@pytest.mark.parametrize("value", MINE)
def test_smtp_13_my_own_address_in_any_dress(value: str) -> None:
    assert refusal(f"Subject: x\r\nFrom: {value}\r\n".encode(), ME) is None


@pytest.mark.parametrize("value", OTHERS)
def test_smtp_13_anything_else_is_refused(value: str) -> None:
    assert refusal(f"From: {value}\r\nSubject: x\r\n".encode(), ME) is not None


@pytest.mark.parametrize(
    "header",
    [
        "From: alice@bridge.test\r\nFrom: bob@evil.example\r\n",
        "From: alice@bridge.test\r\nfROM: alice@bridge.test\r\n",
        "From: alice@bridge.test\r\nFrom : bob@evil.example\r\n",
        "From: alice@bridge.test\r\nno header line\r\nFrom: bob@evil.example\r\n",
        "From\t: bob@evil.example\r\nFrom: alice@bridge.test\r\n",
    ],
)
def test_two_from_headers_are_refused_however_they_are_written(header: str) -> None:
    assert "more than one" in str(refusal(header.encode(), ME))


def test_no_from_header_and_one_that_only_looks_like_it() -> None:
    assert "no From" in str(refusal(b"Subject: x\r\n", ME))
    assert "no From" in str(refusal(b"Subject: x\r\n From: alice@bridge.test\r\n", ME))
    assert "no From" in str(refusal(b"X-From: alice@bridge.test\r\n", ME))
    assert refusal(b"From: alice@bridge.test\r\nX-From: bob@evil.example\r\n", ME) is None


def test_the_refusal_names_the_own_address() -> None:
    assert ME in str(refusal(b"From: bob@evil.example\r\n", ME))


@given(st.text(alphabet='ab@.<>,;:"()\\ \t=?é', max_size=40))
def test_any_value_is_one_address_or_none(value: str) -> None:
    found = from_address(value)
    assert found is None or (found in value and "@" in found)
    assert (refusal(f"From: {value}".encode(), found or ME) is None) == (found is not None)


@given(st.text(alphabet='()"\\<>@ a', min_size=1000, max_size=3000))
def test_hostile_values_take_no_longer(value: str) -> None:
    """Nine thousand characters are no address, and saying so takes no longer than a little plain Python does."""
    assert spent(lambda: from_address(value * 3), tries=2) < 10 * PACE
