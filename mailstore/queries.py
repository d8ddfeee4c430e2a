"""Named SQL: every statement stands in a .sql file under a name that says what it does; no SQL is built elsewhere.

A series is a folder of SQL that belongs to one package: numbered migrations (`0001_first.sql`), `schema.sql` (what the
migrations add up to, proven by a test) and query files. A query file holds blocks

    -- name: claim
    -- Takes the oldest waiting row. (what it does, in words)
    UPDATE ...

and the query is called "<series>.<file>.<name>".
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path

_NAME = re.compile(r"^-- name:[ \t]*(\S+)[ \t]*$", re.MULTILINE)
_MIGRATION = re.compile(r"^(\d{4})_\w+\.sql$")


@dataclass(frozen=True, slots=True)
class Series:
    """A package's folder of SQL; `name` prefixes its queries and numbers its migrations."""

    name: str
    folder: Traversable | Path


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered step of a series."""

    series: str
    number: int
    sql: str


def load_migrations(series: Series) -> list[Migration]:
    """The series' migrations, ascending by number."""
    steps = [
        Migration(series.name, int(match[1]), file.read_text(encoding="utf-8"))
        for file in series.folder.iterdir()
        if (match := _MIGRATION.match(file.name))
    ]
    return sorted(steps, key=lambda step: step.number)


def load_queries(all_series: Sequence[Series]) -> dict[str, str]:
    """Every named query of every series; a name given twice is a fault of the program (ValueError)."""
    queries: dict[str, str] = {}
    for series in all_series:
        for file in series.folder.iterdir():
            if not file.name.endswith(".sql") or file.name == "schema.sql" or _MIGRATION.match(file.name):
                continue
            for name, sql in _blocks(file.read_text(encoding="utf-8")):
                full = f"{series.name}.{file.name.removesuffix('.sql')}.{name}"
                if full in queries:
                    raise ValueError(f"query {full} is defined twice")
                queries[full] = sql
    return queries


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    marks = list(_NAME.finditer(text))
    for index, mark in enumerate(marks):
        end = marks[index + 1].start() if index + 1 < len(marks) else len(text)
        lines = text[mark.end() : end].strip().splitlines()
        while lines and lines[0].startswith("--"):
            lines.pop(0)
        yield mark[1], "\n".join(lines).strip().rstrip(";")
