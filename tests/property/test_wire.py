"""Laws of the wire layer: what is written is read back, chunks do not matter, sets agree with the naive way."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.imap.wire import render, utf7
from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.errors import ParseError
from bridge.imap.wire.framer import FramerLimits
from bridge.imap.wire.seqset import SeqSet
from tests.wire.harness import events, framer
from tests.wire.reference import Reference, outcomes

LIMITS = FramerLimits(line=60, command=150, literal=40, append=200, stream_above=80)
BODIES = st.binary(max_size=60).map(lambda raw: raw.replace(b"\x00", b""))
NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20)
NUMBERS = st.integers(1, 12)
ENDS = st.one_of(NUMBERS, st.just(0))
RANGES = st.lists(st.tuples(ENDS, ENDS), min_size=1, max_size=6)
PIECES = st.sampled_from(
    [b"A1", b" ", b"X", b"APPEND", b"\r\n", b"\n", b"\r", b'"', b"\\", b"{3}", b"{3+}", b"{41+}", b"{90+}", b"~{2+}",
     b"{+5}", b"abc", b"\x00", b"z" * 30, b"z" * 70, b"(", b"{", b"}", b"\xff", b"\x16\x03"]
)  # packed, to be seen at a glance  # fmt: skip
STREAMS = st.lists(PIECES, max_size=40).map(b"".join)


def through_the_framer(argument: bytes) -> Cursor:
    """A cursor at the argument, which has come over the wire as a client would send it (its literals wait for us)."""
    [*_, frame] = events(framer(), [b"A1 X " + argument + b"\r\n"])
    cursor: Cursor = frame.cursor  # type: ignore[union-attr]  # anything else fails the test here
    cursor.sp()
    return cursor


@given(BODIES)
def test_strings_come_back(raw: bytes) -> None:
    assert through_the_framer(render.string(raw)).string() == raw
    assert through_the_framer(render.astring(raw)).astring() == raw
    assert through_the_framer(render.nstring(raw)).nstring() == raw
    assert through_the_framer(render.literal(raw)).literal() == raw


@given(NAMES)
def test_names_come_back(name: str) -> None:
    assert utf7.decode(utf7.encode(name)) == name
    read = through_the_framer(render.mailbox_name(name)).mailbox()
    assert read == ("INBOX" if name.upper() == "INBOX" else name)


@given(NAMES)
def test_encoded_names_are_printable_ascii(name: str) -> None:
    assert all(0x20 <= byte <= 0x7E for byte in utf7.encode(name))


@given(
    st.one_of(st.binary(max_size=30), st.lists(st.sampled_from([b"&", b"-", b"AOk", b"2D0", b"a", b","])).map(b"".join))
)
def test_decoding_a_name_raises_nothing_else(raw: bytes) -> None:
    try:
        name = utf7.decode(raw)
    except ParseError:
        assert isinstance(utf7.decode_lenient(raw), str)
    else:
        assert utf7.decode(utf7.encode(name)) == name


@given(RANGES, st.lists(NUMBERS, unique=True, max_size=8).map(sorted))
def test_sets_resolve_as_the_naive_way_does(ranges: list[tuple[int, int]], uids: list[int]) -> None:
    seqset = SeqSet(tuple(ranges))
    assert Cursor(seqset.render()).seqset() == seqset
    by_uid = [uids[at] for span in seqset.resolve_uids(uids) for at in span]
    assert by_uid == [uid for uid in uids if naive(ranges, uid, uids[-1])]
    count = len(uids)
    by_number = [at + 1 for span in seqset.resolve_numbers(count) for at in span]
    assert by_number == [number for number in range(1, count + 1) if naive(ranges, number, count)]
    highest = uids[-1] if uids else 5
    covered = {n for low, high in seqset.uid_ranges(highest) for n in range(low, high + 1)}
    assert covered == {n for n in range(1, 20) if naive(ranges, n, highest)}
    assert all(seqset.contains(n, highest) == (n in covered) for n in range(1, 20))


def naive(ranges: list[tuple[int, int]], number: int, highest: int) -> bool:
    ends = [sorted((low or highest, high or highest)) for low, high in ranges]
    return any(low <= number <= high for low, high in ends)


@given(st.lists(st.integers(1, 30), unique=True, min_size=1))
def test_number_sets_come_back_in_order(values: list[int]) -> None:
    read = Cursor(render.number_set(values)).seqset()
    assert [n for low, high in read.ranges for n in range(low, high + 1)] == values


@given(st.integers(398_131_200, 253_402_214_399), st.integers(-1439, 1439))
def test_internal_dates_come_back(seconds: int, zone: int) -> None:
    assert Cursor(render.internal_date(seconds * 1000, zone)).date_time() == (seconds * 1000, zone)


@given(
    st.tuples(st.integers(0, 32), st.sampled_from(["Jan", "feb", "DEC", "Foo"]), st.integers(0, 9999)),
    st.tuples(st.integers(0, 25), st.integers(0, 61), st.integers(0, 62)),
    st.tuples(st.sampled_from("+-"), st.integers(0, 25), st.integers(0, 99)),
)
def test_dates_are_those_of_the_calendar(
    day: tuple[int, str, int], clock: tuple[int, int, int], zone: tuple[str, int, int]
) -> None:
    """Against the standard library; a leap second is the instant of the second after it."""
    text = "{:02}-{}-{:04}".format(*day) + " {:02}:{:02}:{:02}".format(*clock) + " {}{:02}{:02}".format(*zone)
    ahead = timedelta(hours=zone[1], minutes=zone[2]) * (-1 if zone[0] == "-" else 1)
    leap = clock[2] == 60
    try:
        month = {"Jan": 1, "feb": 2, "DEC": 12}[day[1]]
        local = datetime(day[2], month, day[0], clock[0], clock[1], 59 if leap else clock[2], tzinfo=timezone(ahead))
    except (KeyError, ValueError):
        with pytest.raises(ParseError):
            Cursor(f'"{text}"'.encode()).date_time()
        return
    millis = (local - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1) + leap * 1000
    assert Cursor(f'"{text}"'.encode()).date_time() == (millis, ahead // timedelta(minutes=1))


@given(STREAMS, st.lists(st.integers(1, 9), min_size=1, max_size=30))
def test_chunks_do_not_matter(stream: bytes, sizes: list[int]) -> None:
    source = framer()
    source.limits = LIMITS
    chunks, at = [], 0
    for size in sizes * (len(stream) // len(sizes) + 1):
        chunks.append(stream[at : at + size])
        at += size
    assert outcomes(events(source, chunks)) == Reference(stream, LIMITS).run()
    assert source.buffered <= LIMITS.command
