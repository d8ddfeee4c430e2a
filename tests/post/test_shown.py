"""How a value is shown before it is approved: everything visible, nothing outside its marks, nothing lost."""

import re

from hypothesis import given
from hypothesis import strategies as st

from bridge.post.shown import GOES_ON, MARK, SHOWN_LIMIT, address, block, shorten, visible

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=600)


@given(value=TEXT, note=st.sampled_from(["", "new"]))
def test_every_line_stands_behind_a_mark_and_fits_a_screen(value: str, note: str) -> None:
    for line in block("Body", visible(value), note, 8):
        assert line.startswith((MARK.strip(), GOES_ON))
        assert "\n" not in line
        assert len(line) <= 104


@given(value=st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S")), min_size=1, max_size=600))
def test_the_pieces_of_a_long_line_are_the_line(value: str) -> None:
    shown = visible(value)
    lines = block("Body", shown, "", 8)
    assert "".join(line[11:] for line in lines) == shown


def test_a_long_line_goes_on_behind_its_own_mark() -> None:
    first, *rest = block("Body", "word " * 40 + "end", "", 8)
    assert first.startswith("| Body     word")
    assert rest
    assert all(line.startswith("|+         ") for line in rest)


@given(text=TEXT)
def test_visible_hides_nothing_and_can_be_read_back(text: str) -> None:
    shown = visible(text)
    assert not [char for char in shown if char in "\u200b\u202e\u2066\x07\u00ad"]
    escape = re.compile(r"\\\\|\\u\{([0-9a-f]+)\}")
    assert escape.sub(lambda found: chr(int(found[1], 16)) if found[1] else "\\", shown) == text


def test_a_short_value_is_whole_and_a_long_one_says_its_length_and_hash() -> None:
    assert shorten("x" * SHOWN_LIMIT).cut is False
    long = shorten("x" * (SHOWN_LIMIT + 1))
    assert long.cut
    assert f"{SHOWN_LIMIT + 1:,} bytes" in long.text


def test_a_look_alike_domain_stands_out() -> None:
    assert address("maya@ex\u0430mple.org") == "maya@ex\u0430mple.org (xn--exmple-4nf.org)"
    assert address("maya@example.org") == "maya@example.org"
    assert "not a valid domain" in address("maya@" + "\u0430" * 100 + ".org")
