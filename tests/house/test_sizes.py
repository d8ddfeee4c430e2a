"""No file over 500 lines, no function over 60; the median of functions at most 9 lines, the 90th percentile 32."""

import statistics

from tests.house.tree import PRODUCT, length, sources

MAX_FILE = 500
MAX_FUNCTION = 60
MAX_MEDIAN = 9
MAX_P90 = 32


def test_no_file_is_too_long() -> None:
    found = {source.path: len(source.text.splitlines()) for source in sources()}
    assert {path: lines for path, lines in found.items() if lines > MAX_FILE} == {}


def test_no_function_is_too_long() -> None:
    found = {
        f"{source.path}:{node.lineno} {node.name}": length(node) for source in sources() for node in source.functions()
    }
    assert {name: lines for name, lines in found.items() if lines > MAX_FUNCTION} == {}


def test_functions_are_short_as_a_rule() -> None:
    lengths = sorted(length(node) for source in sources(*PRODUCT) for node in source.functions())
    median, p90 = statistics.median(lengths), lengths[int(len(lengths) * 0.9)]
    assert (median <= MAX_MEDIAN, p90 <= MAX_P90) == (True, True), f"median {median}, p90 {p90}"
