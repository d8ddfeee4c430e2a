"""The manifest of RFC 3501 checked both ways: every row is tested where it says, every claim in a test has its row."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

MANIFEST = Path(__file__).parent / "rfc3501.txt"
TESTS = Path(__file__).parent.parent
DIALOGUES = TESTS / "transcripts"
CLAIM = re.compile(r"# req ([0-9][\w.\-]*)")
IDENTIFIER = re.compile(r"[2-9][0-9.]*(-[a-z0-9]+)+|11\.[0-9](-[a-z0-9]+)+")


@dataclass(frozen=True)
class Row:
    id: str
    where: str
    demand: str

    @property
    def reason(self) -> str | None:
        return self.where[1:-1] if self.where.startswith("[") else None


@cache
def rows() -> tuple[Row, ...]:
    lines = (line for line in MANIFEST.read_text().splitlines() if line and not line.startswith("#"))
    return tuple(Row(*(part.strip() for part in line.split(" | ", 2))) for line in lines)


@cache
def claims() -> frozenset[tuple[str, str]]:
    """(id, where) of every claim in a dialogue or in the body of a test function."""
    return frozenset(each_claim())


def each_claim() -> Iterator[tuple[str, str]]:
    for path in sorted(DIALOGUES.rglob("*.txt")):
        where = path.relative_to(DIALOGUES).as_posix()
        yield from ((found, where) for found in CLAIM.findall(path.read_text()))
    for path in sorted(TESTS.rglob("test_*.py")):
        if path != Path(__file__):
            yield from python_claims(path)


def python_claims(path: Path) -> Iterator[tuple[str, str]]:
    text = path.read_text()
    if "# req " not in text:
        return
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            body = "\n".join(lines[node.lineno - 1 : node.end_lineno])
            yield from ((found, f"{path.relative_to(TESTS).as_posix()}::{node.name}") for found in CLAIM.findall(body))


def test_rows_are_well_formed_and_unique() -> None:
    identifiers = [row.id for row in rows()]
    assert len(identifiers) == len(set(identifiers)) > 100
    assert [row.id for row in rows() if not IDENTIFIER.fullmatch(row.id)] == []
    assert [row.id for row in rows() if not row.demand.endswith(".")] == []
    assert all(len(row.reason) > 10 for row in rows() if row.reason is not None)


@pytest.mark.parametrize("row", [row for row in rows() if row.reason is None], ids=lambda row: row.id)
def test_a_row_is_tested_where_it_says(row: Row) -> None:
    assert (row.id, row.where) in claims()


def test_every_claim_has_its_row() -> None:
    known = {(row.id, row.where) for row in rows()}
    assert claims() - known == set()


def test_every_section_of_commands_and_responses_has_rows() -> None:
    sections = {row.id.partition("-")[0] for row in rows()}
    commands = [f"6.1.{n}" for n in range(1, 4)] + [f"6.2.{n}" for n in range(1, 4)]
    commands += [f"6.3.{n}" for n in range(1, 12)] + [f"6.4.{n}" for n in range(1, 9)] + ["6.5.1"]
    responses = ["7.1", "7.2.1", "7.3.1", "7.3.2", "7.4.1", "7.4.2", "7.5"]
    assert [section for section in commands + responses if section not in sections] == []
