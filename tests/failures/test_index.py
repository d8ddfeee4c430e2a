"""The index of failure cases holds both ways: every number has tests that exist, every such test has a number."""

import ast
import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
TESTS = FOLDER.parent
ROOT = TESTS.parent
NAMED = re.compile(r"test_case_(\d+)_")
NUMBERS = frozenset(
    map(
        int,
        "1 2 3 4 6 7 8 9 10 11 13 14 15 17 18 20 21 22 23 25 27 28 29 31 32 33 34 36 37 39 40 41 44 45 47 48 49 51 52 "
        "54 55 57 58 59 61 62 64 65 66 67 70 71 72 74".split(),
    )
)
"""Every case that there is; the others of the list it came from were merged into these."""


@cache
def rows() -> dict[int, tuple[str, tuple[str, ...]]]:
    """What holds, and the tests named for it, by number."""
    found: dict[int, tuple[str, tuple[str, ...]]] = {}
    for line in (FOLDER / "cases.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            number, what, tests = (part.strip() for part in line.split("|"))
            assert int(number) not in found, f"case {number} stands twice"
            found[int(number)] = (what, tuple(tests.split()))
    return found


@cache
def functions(file: Path) -> frozenset[str]:
    return frozenset(
        node.name
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    )


@cache
def by_name() -> dict[int, list[str]]:
    """The tests that carry a number in their name."""
    found: dict[int, list[str]] = {}
    for file in sorted(TESTS.rglob("test_*.py")):
        for name in functions(file):
            if fit := NAMED.match(name):
                found.setdefault(int(fit[1]), []).append(f"{file.relative_to(ROOT)}::{name}")
    return found


def test_every_case_stands_in_the_index() -> None:
    assert set(rows()) == NUMBERS
    assert all(what for what, _ in rows().values())


def test_every_case_has_a_test() -> None:
    assert [number for number, (_, tests) in rows().items() if not tests and number not in by_name()] == []


def test_every_test_that_carries_a_number_has_its_case() -> None:
    assert {number: tests for number, tests in by_name().items() if number not in rows()} == {}


def test_every_named_test_exists() -> None:
    missing = []
    for _, tests in rows().values():
        for named in tests:
            path, _, name = named.partition("::")
            file = ROOT / path
            if not file.is_file() or (name and name not in functions(file)):
                missing.append(named)
    assert missing == []
