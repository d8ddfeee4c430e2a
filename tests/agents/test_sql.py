"""The tables: states as in the code, migrations as in the schema, every query used, and ends that hold."""

import re
import sqlite3
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest

from agents.states import CallState, OutboxState, PlanKind, RequestKind, RequestState, RunState, StepKind

FOLDER = Path(str(resources.files("agents") / "sql"))
QUERY = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


def tables() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.executescript((FOLDER / "schema.sql").read_text())
    return connection


def allowed(table: str, column: str) -> set[str]:
    """The values that the CHECK of a column names."""
    connection = tables()
    [[sql]] = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchall()
    connection.close()
    match = re.search(rf"\b{column}\s+TEXT[^,]*?CHECK \({column} IN \(([^)]*)\)\)", sql, re.DOTALL)
    assert match, (table, column)
    return set(re.findall(r"'(\w+)'", match[1]))


def test_the_states_of_the_code_are_those_of_the_tables() -> None:
    assert allowed("runs", "state") == set(RunState)
    assert allowed("steps", "kind") == set(StepKind)
    assert allowed("tool_calls", "state") == set(CallState)
    assert allowed("tool_calls", "plan") == set(PlanKind)
    assert allowed("requests", "kind") == set(RequestKind)
    assert allowed("requests", "state") == set(RequestState)
    assert allowed("outbox", "state") == set(OutboxState)


def test_the_migrations_add_up_to_the_schema() -> None:
    migrated = sqlite3.connect(":memory:")
    for file in sorted(FOLDER.glob("[0-9]*.sql")):
        migrated.executescript(file.read_text())
    schema = tables()
    wanted = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
    assert migrated.execute(wanted).fetchall() == schema.execute(wanted).fetchall()
    migrated.close()
    schema.close()


def queries() -> Iterator[tuple[str, str]]:
    """(name, SQL) of every query of the package."""
    for file in FOLDER.glob("*.sql"):
        if file.name == "schema.sql" or file.name[0].isdigit():
            continue
        text = file.read_text()
        for block, name in zip(QUERY.split(text)[2::2], QUERY.findall(text), strict=True):
            sql = "\n".join(line for line in block.splitlines() if not line.startswith("--")).strip().rstrip(";")
            yield f"agents.{file.stem}.{name}", sql


def test_every_query_is_used_and_runs_on_the_tables() -> None:
    code = "\n".join(
        path.read_text() for root in ("agents", "bridge") for path in (FOLDER.parents[1] / root).rglob("*.py")
    )
    unused = []
    connection = tables()
    for name, sql in queries():
        if f'"{name}"' not in code:
            unused.append(name)
        connection.execute(f"EXPLAIN {sql}", dict.fromkeys(re.findall(r":(\w+)", sql), 1))
    connection.close()
    assert unused == []


def test_no_query_reads_the_whole_outbox() -> None:
    """Nor all mail of an account: it grows with every mail that was ever written. Only the sweep of files does."""
    connection = tables()
    read_all = {}
    for name, sql in queries():
        params = dict.fromkeys(re.findall(r":(\w+)", sql), 1)
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", params)]
        wide = [line for line in plan if re.search(r"^SCAN (outbox|o)\b|^SEARCH (outbox|o) .*\(account=\?\)$", line)]
        if "outbox" in sql and wide:
            read_all[name] = wide
    connection.close()
    assert set(read_all) == {"agents.blobs.forget"}, read_all


def test_steps_and_audit_only_grow() -> None:
    connection = tables()
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("INSERT INTO steps VALUES ('r', 0, 'user', '{}', 1)")
    connection.execute("INSERT INTO audit VALUES (1, 1, 1, 'x', NULL, NULL, '{}')")
    for statement in ("UPDATE steps SET body = '[]'", "UPDATE audit SET what = 'y'"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute(statement)
    connection.close()
