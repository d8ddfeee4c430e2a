"""Sequence sets: resolved against a list of messages, in any order, with overlaps and with "*"."""

import pytest

from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.seqset import SeqSet, merge

UIDS = [3, 7, 8, 9, 20]


def positions(ranges: list[range]) -> list[int]:
    return [position for span in ranges for position in span]


def read(text: bytes) -> SeqSet:
    return Cursor(text).seqset()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"3", [3]),
        (b"4", []),
        (b"3,7:9", [3, 7, 8, 9]),
        (b"9:7,3,8", [3, 7, 8, 9]),
        (b"1:*", UIDS),
        (b"*:1", UIDS),
        (b"*", [20]),
        (b"*:*", [20]),
        (b"21:*", [20]),
        (b"*:123", [20]),
        (b"10:19", []),
        (b"1:4294967295", UIDS),
        (b"20,20,20", [20]),
    ],
)
def test_uids(text: bytes, expected: list[int]) -> None:
    # req 9-set
    # req rfc9051/9-sets
    assert [UIDS[at] for at in positions(read(text).resolve_uids(UIDS))] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"1", [1]),
        (b"5", [5]),
        (b"6", []),
        (b"4:9", [4, 5]),
        (b"*", [5]),
        (b"7:*", [5]),
        (b"*:2", [2, 3, 4, 5]),
        (b"5:3,4", [3, 4, 5]),
    ],
)
def test_numbers(text: bytes, expected: list[int]) -> None:
    assert [at + 1 for at in positions(read(text).resolve_numbers(5))] == expected


@pytest.mark.parametrize("text", [b"1:*", b"*", b"*:*", b"1", b"2:3"])
def test_an_empty_mailbox_gives_nothing(text: bytes) -> None:
    assert read(text).resolve_uids([]) == []
    assert read(text).resolve_numbers(0) == []


def test_the_answer_is_ascending_and_disjoint() -> None:
    assert read(b"20,3:8,8:9").resolve_uids(UIDS) == [range(5)]
    assert read(b"9,3").resolve_uids(UIDS) == [range(1), range(3, 4)]


def test_numbers_beyond_the_mailbox_can_be_told() -> None:
    # req rfc9051/9-beyond
    # req 9-beyond
    assert read(b"1:6").exceeds(5)
    assert not read(b"5:*").exceeds(5)
    assert read(b"*:1").exceeds(0)


def test_contains_and_ranges_put_the_highest_for_the_star() -> None:
    assert read(b"5:*").contains(7, highest=9)
    assert not read(b"5:*").contains(10, highest=9)
    assert read(b"9:*,1,2:4").uid_ranges(highest=7) == [(1, 4), (7, 9)]


def test_a_long_list_is_resolved_in_one_go() -> None:
    uids = range(1, 50_001)
    text = b",".join(b"%d" % uid for uid in range(1, 12_000, 2))
    assert len(positions(read(text).resolve_uids(uids))) == 6000


def test_merge_drops_what_is_empty_and_joins_what_touches() -> None:
    assert merge([(5, 5), (3, 4), (4, 6), (9, 8)]) == [range(3, 6)]


@pytest.mark.parametrize("text", [b"1", b"*", b"1:*", b"*:4", b"9:7,3,8"])
def test_render_gives_what_was_written(text: bytes) -> None:
    assert read(text).render() == text
