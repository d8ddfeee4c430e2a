"""LIST patterns match what the naive reading of RFC 3501 section 6.3.8 matches, and in no time."""

import time

from hypothesis import given
from hypothesis import strategies as st

from bridge.imap.base.listing import matcher

NAMES = st.text("ab/", max_size=8)
PATTERNS = st.text("ab/*%", max_size=8)


def naive(pattern: str, name: str) -> bool:
    if not pattern:
        return not name
    if pattern[0] == "*":
        return any(naive(pattern[1:], name[at:]) for at in range(len(name) + 1))
    if pattern[0] == "%":
        level = name.partition("/")[0]
        return any(naive(pattern[1:], name[at:]) for at in range(len(level) + 1))
    return name[:1] == pattern[0] and naive(pattern[1:], name[1:])


@given(PATTERNS, NAMES)
def test_patterns_match_as_the_naive_way_does(pattern: str, name: str) -> None:
    assert matcher("", pattern)(name) == naive(pattern, name)


@given(NAMES, PATTERNS, NAMES)
def test_the_reference_stands_in_front(reference: str, pattern: str, name: str) -> None:
    assert matcher(reference, pattern)(name) == naive(reference + pattern, name)


def test_no_pattern_is_slow() -> None:
    began = time.process_time()
    for piece in ("*a", "%a", "*%", "a%", "*a%"):
        for end in ("", "b", "/b", "%b", "*b"):
            matcher("", piece * 60 + end)("a" * 500)
    assert time.process_time() - began < 1
