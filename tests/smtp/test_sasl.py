"""SASL PLAIN and LOGIN as clients send them (RFC 4616; auth-01 of the mail cases)."""

import base64
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.sasl import Credentials, SaslCancelled, SaslError, decode_response, exchange, parse_plain


def run(mechanism: str, initial: bytes | None, *answers: bytes) -> tuple[list[bytes], Credentials]:
    """Challenges that were asked and the credentials that came out."""
    dialogue, challenges, given = exchange(mechanism, initial), [], iter(answers)
    try:
        challenges.append(next(dialogue))
        while True:
            challenges.append(dialogue.send(next(given)))
    except StopIteration as end:
        return challenges, end.value


@pytest.mark.parametrize("message", [b"\0alice\0pw", b"alice\0alice\0pw"])
def test_auth_01_plain_with_initial_response_and_authzid_empty_or_equal(message: bytes) -> None:
    assert run("PLAIN", message) == ([], Credentials("alice", "pw"))


def test_auth_01_plain_without_initial_response_asks_with_an_empty_challenge() -> None:
    assert run("plain", None, b"\0alice\0pw") == ([b""], Credentials("alice", "pw"))


def test_auth_01_equals_sign_is_the_empty_answer_and_star_cancels() -> None:
    assert decode_response(b"=") == b""
    with pytest.raises(SaslCancelled):
        decode_response(b"*\r\n")


def test_login_asks_for_the_name_unless_it_came_with_the_command() -> None:
    assert run("LOGIN", None, b"alice", b"pw") == ([b"Username:", b"Password:"], Credentials("alice", "pw"))
    assert run("LOGIN", b"alice", b"pw") == ([b"Password:"], Credentials("alice", "pw"))


@pytest.mark.parametrize(
    "message",
    [
        b"bob\0alice\0pw",  # acting for another
        b"\0alice",
        b"\0alice\0p\0w",
        b"\0\0pw",
        b"\0alice\0",
        b"\0" + b"a" * 400 + b"\0pw",
        b"\0alice\0" + b"p" * 2000,
        b"\0alice\0\xff\xfe",
        b"",
    ],
)
def test_plain_refuses_what_is_no_login(message: bytes) -> None:
    with pytest.raises(SaslError):
        parse_plain(message)


def test_other_mechanisms_are_not_offered() -> None:
    with pytest.raises(SaslError, match="not offered"):
        run("CRAM-MD5", None, b"x")


@pytest.mark.parametrize("line", [b"%%%", b"abc", b"YQ==YQ==", b"A" * 20000])
def test_what_is_not_base64_is_refused(line: bytes) -> None:
    with pytest.raises(SaslError):
        decode_response(line)


def test_a_password_is_compared_in_one_normal_form_and_shown_in_no_text() -> None:
    composed, decomposed = "p\u00e4ss".encode(), "pa\u0308ss".encode()
    assert parse_plain(b"\0a\0" + composed) == parse_plain(b"\0a\0" + decomposed)
    assert "secret" not in repr(Credentials("alice", "secret"))


@given(st.binary(max_size=200))
def test_any_answer_is_credentials_or_a_sasl_error(data: bytes) -> None:
    for read in (parse_plain, lambda d: decode_response(base64.b64encode(d)), decode_response):
        with suppress(SaslError):
            assert isinstance(read(data), Credentials | bytes)


@given(st.binary(min_size=6, max_size=200))
def test_no_error_repeats_what_the_peer_sent(data: bytes) -> None:
    with pytest.raises(SaslError) as refused:
        parse_plain(b"\0\0" + data + b"\0")
    assert data.decode("latin-1") not in str(refused.value)
