"""What is written leaves in loads of a bounded size, in its order, and nothing small goes alone."""

from hypothesis import given
from hypothesis import strategies as st

from bridge.net.transport import PIECE, loads

SIZES = st.lists(
    st.sampled_from([0, 1, 2, 100, PIECE // 2, PIECE // 2 + 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE + 3])
)


@given(SIZES)
def test_loads_hold_every_byte_in_order_and_no_more_than_a_piece(sizes: list[int]) -> None:
    data = [bytes([at % 256]) * size for at, size in enumerate(sizes)]
    found = list(loads(data))
    assert b"".join(bytes(each) for load in found for each in load) == b"".join(data)
    assert all(0 < sum(map(len, load)) <= PIECE for load in found)
    whole = [load for load in found if not isinstance(load[0], memoryview)]
    assert all(each for load in whole for each in load)


def test_small_pieces_go_together_also_behind_a_large_one() -> None:
    small, large = [b"a" * 1000] * 100, b"b" * (PIECE + 1)
    found = list(loads([*small, large, *small]))
    assert [sum(map(len, load)) for load in found] == [65_000, 35_000, PIECE, 1, 65_000, 35_000]
