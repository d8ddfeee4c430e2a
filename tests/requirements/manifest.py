"""Requirement manifests: rows in a text file and claims in tests, read for the checks that hold them together.

A claim is a line "# req ID" for RFC 3501, and "# req rfcNNNN/ID" for any other, in a dialogue or in the body of a test.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
TESTS = FOLDER.parent
DIALOGUES = TESTS / "transcripts"
CLAIM = re.compile(r"# req (?:rfc(\d+)/)?((?:\d|[A-Z][.\-])[\w.\-]*)")
BASE = "3501"


@dataclass(frozen=True)
class Row:
    rfc: str
    id: str
    where: str
    demand: str

    @property
    def reason(self) -> str | None:
        """Why there is no test, if there is none."""
        return self.where[1:-1] if self.where.startswith("[") else None


@cache
def rows(rfc: str) -> tuple[Row, ...]:
    text = (FOLDER / f"rfc{rfc}.txt").read_text()
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    return tuple(Row(rfc, *(part.strip() for part in line.split(" | ", 2))) for line in lines)


@cache
def claims() -> frozenset[tuple[str, str, str]]:
    """(RFC, id, where) of every claim."""
    return frozenset(_each_claim())


def _each_claim() -> Iterator[tuple[str, str, str]]:
    for path in sorted(DIALOGUES.rglob("*.txt")):
        where = path.relative_to(DIALOGUES).as_posix()
        yield from ((rfc or BASE, found, where) for rfc, found in CLAIM.findall(path.read_text()))
    for path in sorted(TESTS.rglob("test_*.py")):
        if path.parent != FOLDER:
            yield from _claims_of(path)


def _claims_of(path: Path) -> Iterator[tuple[str, str, str]]:
    text = path.read_text()
    if "# req " not in text:
        return
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            body = "\n".join(lines[node.lineno - 1 : node.end_lineno])
            where = f"{path.relative_to(TESTS).as_posix()}::{node.name}"
            yield from ((rfc or BASE, found, where) for rfc, found in CLAIM.findall(body))
