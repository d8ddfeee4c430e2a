"""The framer: where commands begin and end, what is a literal, what is too much, and that nothing shifts it."""

import pytest

from bridge.imap.wire.cursor import Blob
from bridge.imap.wire.framer import (
    NEED_MORE,
    BlobChunk,
    BlobEnd,
    BlobStart,
    Continue,
    Fault,
    Frame,
    Framer,
    FramerLimits,
    Refused,
)
from tests.wire.harness import CHUNKINGS, bytewise, drain, events, framer, whole
from tests.wire.reference import Outcome, Reference, outcomes

SMALL = FramerLimits(line=60, command=150, literal=40, append=400, stream_above=80)


def frame(tag: bytes, name: bytes, text: bytes, *literals: object) -> Outcome:
    return ("frame", tag, name, text, list(literals))


def refused(tag: bytes | None, fault: Fault) -> Outcome:
    return ("refused", tag, fault.value)


NEXT = b"Z9 NOOP\r\n"
THEN = frame(b"Z9", b"NOOP", b"Z9 NOOP")

# stream, outcomes before the NOOP that follows each
STREAMS: list[tuple[bytes, list[Outcome]]] = [
    (b"A1 NOOP\r\n", [frame(b"A1", b"NOOP", b"A1 NOOP")]),
    (b"a1 noop\n", [frame(b"a1", b"NOOP", b"a1 noop")]),
    (b"A1 NOOP \r\n", [frame(b"A1", b"NOOP", b"A1 NOOP ")]),
    (b"A1 uid Fetch 1 FLAGS\r\n", [frame(b"A1", b"UID FETCH", b"A1 uid Fetch 1 FLAGS")]),
    (b"\r\n\r\n\nA1 NOOP\r\n\r\n", [frame(b"A1", b"NOOP", b"A1 NOOP")]),
    (b"]x[ NOOP\r\n", [frame(b"]x[", b"NOOP", b"]x[ NOOP")]),
    (
        b"A1 LOGIN {5+}\r\nalice {3+}\r\na b\r\n",
        [frame(b"A1", b"LOGIN", b"A1 LOGIN \x00 \x00", b"alice", b"a b")],
    ),
    (b"A1 LOGIN {5}\r\nalice {0}\r\n\r\n", [frame(b"A1", b"LOGIN", b"A1 LOGIN \x00 \x00", b"alice", b"")]),
    (b"A1 X {4+}\r\n\r\n\r\n\r\n", [frame(b"A1", b"X", b"A1 X \x00", b"\r\n\r\n")]),
    (b"A1 X {2+}\r\n{}\r\n", [frame(b"A1", b"X", b"A1 X \x00", b"{}")]),
    (b"A1 X {5+}\r\n{99+}\r\n", [frame(b"A1", b"X", b"A1 X \x00", b"{99+}")]),
    (b"A1 X {1+}\r\n\x00\r\n", [frame(b"A1", b"X", b"A1 X \x00", b"\x00")]),
    (b"A1 X ~{3+}\r\na\x00b\r\n", [frame(b"A1", b"X", b"A1 X ~\x00", b"a\x00b")]),
    (b"A1 X ~{2}\r\nab\r\n", [frame(b"A1", b"X", b"A1 X ~\x00", b"ab")]),
    (b"A1 X {0002+}\r\nab\r\n", [frame(b"A1", b"X", b"A1 X \x00", b"ab")]),
    # not literals
    (b'A1 X "{5}"\r\n', [frame(b"A1", b"X", b'A1 X "{5}"')]),
    (b'A1 X "x {5+}\r\n', [frame(b"A1", b"X", b'A1 X "x {5+}')]),
    (b'A1 X "x\\" {5}\r\n', [frame(b"A1", b"X", b'A1 X "x\\" {5}')]),
    (b'A1 X "x\\\\" {2+}\r\nab\r\n', [frame(b"A1", b"X", b'A1 X "x\\\\" \x00', b"ab")]),
    (b"A1 X {5+} \r\n", [frame(b"A1", b"X", b"A1 X {5+} ")]),
    (b"A1 X {}\r\n", [frame(b"A1", b"X", b"A1 X {}")]),
    (b"A1 X {abc}\r\n", [frame(b"A1", b"X", b"A1 X {abc}")]),
    (b"A1 X a\rb\r\n", [frame(b"A1", b"X", b"A1 X a\rb")]),
    (b"A1 X a\r\r\n", [frame(b"A1", b"X", b"A1 X a\r")]),
    # refused, and the next command is found
    (b"A1 X \x00 {3+}\r\nabc\r\n", [refused(b"A1", Fault.NUL)]),
    (b"A1 X \x00\r\n", [refused(b"A1", Fault.NUL)]),
    (b"A1 X {3+}\r\nabc\x00\r\n", [refused(b"A1", Fault.NUL)]),
    (b"+A NOOP\r\n", [refused(None, Fault.SYNTAX)]),
    (b"* OK\r\n", [refused(None, Fault.SYNTAX)]),
    (b"{3+}\r\nabc\r\n", [refused(None, Fault.SYNTAX)]),
    (b"(x {9+}\r\nB1 LOGOUT\r\n", [refused(None, Fault.SYNTAX)]),
    (b"A1\r\n", [refused(b"A1", Fault.SYNTAX)]),
    (b"A1  NOOP\r\n", [refused(b"A1", Fault.SYNTAX)]),
    (b" A1 NOOP\r\n", [refused(None, Fault.SYNTAX)]),
    (b"A1 (\r\n", [refused(b"A1", Fault.SYNTAX)]),
    (b"A1 NO/OP\r\n", [refused(b"A1", Fault.SYNTAX)]),
    (b"GET / HTTP/1.1\r\n", [refused(b"GET", Fault.SYNTAX)]),
    (b"\xe4 NOOP\r\n", [refused(None, Fault.SYNTAX)]),
]


@pytest.mark.parametrize("chunking", CHUNKINGS)
@pytest.mark.parametrize(("stream", "expected"), STREAMS)
def test_streams(stream: bytes, expected: list[Outcome], chunking: object) -> None:
    # req 4.3-literal
    # req 9-tag
    # req 9-nul
    # req rfc9051/9-nul
    # req rfc9051/9-tag
    cut = chunking(stream + NEXT)  # type: ignore[operator]  # one of CHUNKINGS
    assert outcomes(events(framer(), cut)) == [*expected, THEN]


@pytest.mark.parametrize(("stream", "expected"), STREAMS)
def test_the_reference_says_the_same(stream: bytes, expected: list[Outcome]) -> None:
    assert Reference(stream + NEXT).run() == [*expected, THEN]


LONG: list[tuple[bytes, list[Outcome]]] = [
    (b"A1 " + b"x" * 100 + b"\r\n", [refused(b"A1", Fault.LINE)]),
    (b"A1 " + b"x" * 10_000 + b"\n", [refused(b"A1", Fault.LINE)]),
    (b"y" * 300 + b" x\r\n", [refused(None, Fault.LINE)]),
    (b"A1 X " + b"x" * 100 + b" {20+}\r\nB1 NOOP\r\nB2 NOOP\r\n\r\n\r\n", [refused(b"A1", Fault.LINE)]),
    (b"A1 X " + b"x" * 100 + b" {20}\r\nB1 NOOP\r\n", [refused(b"A1", Fault.LINE), frame(b"B1", b"NOOP", b"B1 NOOP")]),
    (b'A1 X "' + b"x" * 99 + b" {9+}\r\nB1 NOOP\r\n", [refused(b"A1", Fault.LINE), frame(b"B1", b"NOOP", b"B1 NOOP")]),
    (b'A1 X "' + b"\\" * 101 + b'" {9+}\r\n', [refused(b"A1", Fault.LINE)]),
    (b'A1 X "' + b"\\" * 100 + b'" {9+}\r\nB1 NOOP\r\n\r\n', [refused(b"A1", Fault.LINE)]),
    (b"A1 X {41+}\r\n" + b"B1 NOOP\r\n" * 4 + b"xxxxx\r\n", [refused(b"A1", Fault.LITERAL)]),
    (b"A1 X {41}\r\n", [refused(b"A1", Fault.LITERAL)]),
    (b"A1 APPEND x {401+}\r\n" + b"z" * 401 + b" {3+}\r\nabc\r\n", [refused(b"A1", Fault.LITERAL)]),
    (b"A1 APPEND x {401}\r\n", [refused(b"A1", Fault.LITERAL)]),
    (b"A1 APPEND x {90+}\r\n" + b"z" * 90 + b"\r\n", [frame(b"A1", b"APPEND", b"A1 APPEND x \x00", 90)]),
    (b"A1 APPEND x {50+}\r\n" + b"z" * 50 + b"\r\n", [frame(b"A1", b"APPEND", b"A1 APPEND x \x00", b"z" * 50)]),
    (
        b"A1 APPEND x {90}\r\n" + b"z" * 90 + b" {91+}\r\n" + b"y" * 91 + b"\r\n",
        [frame(b"A1", b"APPEND", b"A1 APPEND x \x00 \x00", 90, 91)],
    ),
    (b"A1 X " + b"{40+}\r\n" + b"B1 NOOP\r\n" * 4 + b"xxxx {40+}\r\n" + b"y" * 40 + b"\r\n",
     [frame(b"A1", b"X", b"A1 X \x00 \x00", b"B1 NOOP\r\n" * 4 + b"xxxx", b"y" * 40)]),
    (b"A1 X" + (b" {30+}\r\n" + b"y" * 30) * 5 + b"\r\n", [refused(b"A1", Fault.LINE)]),
    (b"A1 X" + b" y {0+}\r\n" * 60 + b"\r\n", [refused(b"A1", Fault.LINE)]),
]  # packed, to be seen at a glance  # fmt: skip


@pytest.mark.parametrize("chunking", CHUNKINGS)
@pytest.mark.parametrize(("stream", "expected"), LONG)
def test_too_much_is_skipped_to_its_true_end(stream: bytes, expected: list[Outcome], chunking: object) -> None:
    source = Framer(SMALL)
    source.set_authenticated(True)
    assert outcomes(events(source, chunking(stream + NEXT))) == [*expected, THEN]  # type: ignore[operator]  # CHUNKINGS
    assert Reference(stream + NEXT, SMALL).run() == [*expected, THEN]


def test_a_literal_too_large_is_answered_no_toobig() -> None:
    # req 2.2.1-literal-refused
    [event] = events(framer(append=10), whole(b"A1 APPEND x {11}\r\n"))
    assert event == Refused(b"A1", Fault.LITERAL, "Literal too large", "NO", "TOOBIG", fatal=False)


@pytest.mark.parametrize("announcement", [b"{+5}", b"{5++}", b"{-1}", b"{5-}", b"{" + b"9" * 19 + b"}", b"~{+5}"])
def test_a_literal_of_unknown_length_ends_the_connection(announcement: bytes) -> None:
    [event] = events(framer(), whole(b"A1 X " + announcement + b"\r\nA2 LOGOUT\r\n"))
    assert isinstance(event, Refused)
    assert (event.tag, event.fault, event.fatal) == (b"A1", Fault.UNKNOWN_LENGTH, True)


def test_the_peer_is_asked_for_each_synchronising_literal_and_only_then() -> None:
    # req 5.5-continuation
    # req rfc9051/5.5-continuation
    source = framer()
    assert events(source, bytewise(b"A1 LOGIN {5}\r\n")) == [Continue(b"A1", 5)]
    assert events(source, bytewise(b"alice {2}\r\n")) == [Continue(b"A1", 2)]
    assert source.in_command
    [event] = events(source, bytewise(b"pw\r\n"))
    assert isinstance(event, Frame)
    assert not source.in_command


def test_a_large_append_is_streamed_and_the_frame_names_it() -> None:
    source = framer(stream_above=4)
    found = events(source, whole(b"A1 APPEND x (\\Seen) ~{6}\r\n"))
    assert found == [BlobStart(b"A1", 0, 6, binary=True), Continue(b"A1", 6)]
    assert events(source, whole(b"ab")) == [BlobChunk(0, b"ab")]
    assert events(source, whole(b"cdef")) == [BlobChunk(0, b"cdef"), BlobEnd(0)]
    [event] = events(source, whole(b"\r\n"))
    assert isinstance(event, Frame)
    event.cursor.pos = event.cursor.text.index(b"~")
    assert event.cursor.any_literal() == Blob(0, 6)


def test_a_large_append_takes_no_memory() -> None:
    source = framer()
    size = 40 * 1024 * 1024
    drained = events(source, [b"A1 APPEND x {%d+}\r\n" % size])
    chunk = b"x" * 65536
    for _ in range(size // len(chunk)):
        source.feed(chunk)
        drained = drain(source)
        assert source.buffered == 0
    assert drained[-1] == BlobEnd(0)


def test_an_endless_line_takes_no_memory() -> None:
    source = framer()
    for _ in range(200):
        source.feed(b"A1 " + b"x" * 65536)
        assert source.next() is NEED_MORE
        assert source.buffered <= 2 * 65536
    source.feed(b"\r\n" + NEXT)
    assert outcomes(drain(source)) == [refused(b"A1", Fault.LINE), THEN]


def test_before_login_eight_kilobytes_must_do() -> None:
    source = Framer()
    fits = b"A1 LOGIN {4000+}\r\n" + b"x" * 4000 + b" {4000+}\r\n" + b"y" * 4000 + b"\r\n"
    over = b"A1 LOGIN {4000+}\r\n" + b"x" * 4000 + b" {5000+}\r\n" + b"y" * 5000 + b"\r\n"
    assert [outcome[0] for outcome in outcomes(events(source, whole(fits)))] == ["frame"]
    assert outcomes(events(source, whole(over))) == [refused(b"A1", Fault.LITERAL)]
    assert outcomes(events(source, whole(b"A1 LOGIN " + b"x" * 9000 + b"\r\n"))) == [refused(b"A1", Fault.LINE)]
    assert outcomes(events(source, whole(b"A1 APPEND x {9000}\r\n"))) == [refused(b"A1", Fault.LITERAL)]
    source.set_authenticated(True)
    assert [outcome[0] for outcome in outcomes(events(source, whole(over)))] == ["frame"]


def test_literal_minus_limits_only_literals_that_do_not_wait() -> None:
    # req rfc9051/4.3-limit
    source = framer(nonsync=4096)
    assert outcomes(events(source, whole(b"A1 X {4097+}\r\n" + b"x" * 4097 + b"\r\n"))) == [
        refused(b"A1", Fault.LITERAL)
    ]
    assert [event.__class__ for event in events(source, whole(b"A1 X {4097}\r\n"))] == [Continue]


def test_tls_on_the_plain_port_is_told_apart() -> None:
    for chunking in CHUNKINGS:
        [event] = events(Framer(), chunking(b"\x16\x03\x01\x02\x00\x01\nA1 NOOP\r\n"))
        assert isinstance(event, Refused)
        assert (event.fault, event.fatal, event.tag) == (Fault.TLS, True, None)
    assert outcomes(events(Framer(), [b"A1 NOOP\r\n", b"\x16\x03x\r\n"]))[1] == refused(None, Fault.SYNTAX)


def test_lines_outside_the_grammar() -> None:
    source = framer()
    source.feed(b"A1 AUTHENTICATE PLAIN\r\nAGEAYg==\r\n\r\n*\r\n\x00{5}\r\nDON")
    assert isinstance(source.next(), Frame)
    lines = [source.next_line() for _ in range(5)]
    assert lines == [b"AGEAYg==", b"", b"*", b"\x00{5}", NEED_MORE]
    source.feed(b"E\nA2 NOOP\r\n")
    assert source.next_line() == b"DONE"
    assert outcomes(drain(source)) == [frame(b"A2", b"NOOP", b"A2 NOOP")]


def test_an_endless_line_outside_the_grammar_ends_the_connection() -> None:
    source = Framer()
    source.feed(b"x" * 8192)
    assert source.next_line() is NEED_MORE
    source.feed(b"x")
    event = source.next_line()
    assert isinstance(event, Refused)
    assert event.fatal


def test_the_rest_can_be_taken_away() -> None:
    source = framer()
    source.feed(b"A1 STARTTLS\r\nA2 NOOP\r\n")
    assert isinstance(source.next(), Frame)
    assert source.buffered == 9
    assert source.take_rest() == b"A2 NOOP\r\n"
    assert source.next() is NEED_MORE
    assert not source.in_command


def test_the_framer_never_looks_beyond_the_event_it_returns() -> None:
    source = framer()
    source.feed(b"A1 IDLE\r\nDONE\r\nA2 X {3}\r\n")
    assert isinstance(source.next(), Frame)
    assert source.next_line() == b"DONE"
    assert source.next() == Continue(b"A2", 3)
