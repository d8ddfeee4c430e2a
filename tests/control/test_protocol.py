"""Request and reply lines: what is written can be read, and everything else is refused with a kind."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.control import protocol
from bridge.control.protocol import Args, ControlError, Request, read_reply, read_request, write_reply, write_request

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=60)
@given(st.text(max_size=50), st.dictionaries(st.text(max_size=20), JSON, max_size=5), st.integers(0, 10**6))
def test_a_request_is_read_as_it_was_written(command: str, args: dict[str, Any], payload: int) -> None:
    assert read_request(write_request(command, args, payload)) == Request(command, args, payload)


@settings(max_examples=60)
@given(st.dictionaries(st.text(max_size=20), JSON, max_size=5))
def test_a_result_is_read_as_it_was_written(result: dict[str, Any]) -> None:
    assert read_reply(write_reply(result)) == result


def test_an_error_is_raised_as_it_was_written() -> None:
    with pytest.raises(ControlError) as caught:
        read_reply(write_reply(ControlError("refused", "no, because", "do that")))
    assert (caught.value.kind, caught.value.message, caught.value.fix) == ("refused", "no, because", "do that")


@given(st.binary(max_size=200))
def test_no_line_breaks_the_reader(line: bytes) -> None:
    outcome: object
    try:
        outcome = read_request(line)
    except ControlError as error:
        outcome = error.kind
    assert isinstance(outcome, Request) or outcome in (protocol.BAD_REQUEST, protocol.TOO_LARGE)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b"", protocol.BAD_REQUEST),
        (b"status", protocol.BAD_REQUEST),
        (b"[]", protocol.BAD_REQUEST),
        (b"[" * 60_000, protocol.BAD_REQUEST),
        (b"\xff\xfe{}", protocol.BAD_REQUEST),
        (b'{"args": {}}', protocol.BAD_REQUEST),
        (b'{"command": 5}', protocol.BAD_REQUEST),
        (b'{"command": "status", "args": []}', protocol.BAD_REQUEST),
        (b'{"command": "status", "more": 1}', protocol.BAD_REQUEST),
        (b'{"command": "status", "bytes": -1}', protocol.BAD_REQUEST),
        (b'{"command": "status", "bytes": true}', protocol.BAD_REQUEST),
        (b'{"command": "status", "bytes": 1.5}', protocol.BAD_REQUEST),
        (b'{"command": "status", "bytes": 99999999999}', protocol.TOO_LARGE),
    ],
)
def test_what_is_no_request_is_refused_with_its_kind(line: bytes, kind: str) -> None:
    with pytest.raises(ControlError) as caught:
        read_request(line)
    assert caught.value.kind == kind


@pytest.mark.parametrize("line", [b"", b"yes", b"[]", b'{"ok": false}', b'{"ok": false, "error": 5}', b"[" * 60_000])
def test_a_reply_that_is_none_is_an_error_of_the_server(line: bytes) -> None:
    with pytest.raises(ControlError) as caught:
        read_reply(line)
    assert caught.value.kind == protocol.INTERNAL


def test_a_request_that_would_not_be_taken_is_not_sent() -> None:
    with pytest.raises(ControlError) as caught:
        write_request("send", {"text": "x" * protocol.MAX_LINE}, 0)
    assert caught.value.kind == protocol.TOO_LARGE


def test_arguments_are_typed() -> None:
    args = Args({"a": "x", "n": 3, "yes": True, "many": ["x", "y"], "none": None})
    assert (args.text("a"), args.number("n", 0), args.flag("yes"), args.texts("many")) == ("x", 3, True, ("x", "y"))
    assert (args.optional("none"), args.optional("missing"), args.number("other", 7)) == (None, None, 7)
    args.done()


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ({}, lambda args: args.text("a")),
        ({"a": 1}, lambda args: args.text("a")),
        ({"a": 1}, lambda args: args.optional("a")),
        ({"a": "1"}, lambda args: args.number("a", 0)),
        ({"a": -1}, lambda args: args.number("a", 0)),
        ({"a": True}, lambda args: args.number("a", 0)),
        ({"a": "true"}, lambda args: args.flag("a")),
        ({"a": "x"}, lambda args: args.texts("a")),
        ({"a": ["x", 1]}, lambda args: args.texts("a")),
        ({"a": 1}, lambda args: args.done()),
    ],
)
def test_arguments_of_another_type_are_refused(given: dict[str, object], read: Any) -> None:
    with pytest.raises(ControlError) as caught:
        read(Args(given))
    assert caught.value.kind == protocol.BAD_REQUEST


def test_request_lines_are_plain_json_for_other_programs() -> None:
    assert json.loads(write_request("inbox", {"count": 1}, 0)) == {"command": "inbox", "args": {"count": 1}, "bytes": 0}
