"""Reading grows with the size of a mail and not with its square, whatever its shape.

Times of the processor are compared with each other, never with a limit; `python -m tests.replies.shapes` prints what a
megabyte takes.
"""

import pytest

from bridge.post.reading import read_reply
from tests.replies.clients import TABLE
from tests.replies.shapes import SHAPES, SIZE, seconds


@pytest.mark.parametrize("shape", SHAPES)
def test_time_grows_with_size_alone(shape: str) -> None:
    """Four times the size in at most ten times the time: quadratic ways need sixteen."""
    small = min(seconds(SHAPES[shape](60_000)) for _ in range(3))
    large = min(seconds(SHAPES[shape](240_000)) for _ in range(3))
    assert large < small * 10 + 0.02


@pytest.mark.parametrize("shape", SHAPES)
def test_a_megabyte_is_read(shape: str) -> None:
    """And approves only where the word stands alone below a megabyte of fields."""
    reading = read_reply(SHAPES[shape](SIZE), TABLE, "all")
    assert (reading.decision == "approve") == (shape in ("recipients", "fields", "references")), reading.rule
