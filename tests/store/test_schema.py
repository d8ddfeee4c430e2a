"""The SQL: migrations add up to the schema, every query can be prepared, and the files are what they should be."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from mailstore.queries import Series, load_migrations, load_queries
from mailstore.store import SERIES
from mailstore.textindex import SERIES as INDEX_SERIES
from tests.store.helpers import Clock, mail, make_desk, open_store

ALL_SERIES = [SERIES, INDEX_SERIES]


@contextmanager
def migrated(series: Series) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as connection:
        for step in load_migrations(series):
            connection.executescript(step.sql)
        yield connection


def tables(connection: sqlite3.Connection) -> dict[str, str]:
    rows = connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
    return {name: re.sub(r"\s*([(),]|\s)\s*", r"\1", re.sub(r"--[^\n]*", "", sql)).strip() for name, sql in rows}


@pytest.mark.parametrize("series", ALL_SERIES, ids=lambda series: series.name)
def test_migrations_add_up_to_the_schema(series: Any) -> None:
    with migrated(series) as steps, closing(sqlite3.connect(":memory:")) as whole:
        whole.executescript((series.folder / "schema.sql").read_text())
        assert tables(steps) == tables(whole)
    assert [step.number for step in load_migrations(series)] == list(range(1, len(load_migrations(series)) + 1))


@pytest.mark.parametrize("series", ALL_SERIES, ids=lambda series: series.name)
def test_every_query_can_be_prepared(series: Any) -> None:
    with migrated(series) as connection:
        for name, sql in load_queries([series]).items():
            params = dict.fromkeys(re.findall(r":([a-z_]+)", sql), 1)
            try:
                connection.execute(f"EXPLAIN {sql}", params)
            except sqlite3.Error as error:
                pytest.fail(f"{name}: {error}")


@pytest.mark.parametrize("series", ALL_SERIES, ids=lambda series: series.name)
def test_every_query_is_used(series: Any) -> None:
    """By its full name, or where one is put together by its last part alone."""
    sources = "".join(path.read_text() for path in files("mailstore").iterdir() if path.name.endswith(".py"))
    for name in load_queries([series]):
        stem, _, last = name.rpartition(".")
        pieces = [last, *(f"{last.rpartition('-')[2]}" for _ in range("-" in last))]
        composed = f'f"{stem}.' in sources and any(re.search(rf"""["']{piece}["']""", sources) for piece in pieces)
        assert name in sources or composed, name


@pytest.mark.parametrize("series", ALL_SERIES, ids=lambda series: series.name)
def test_no_query_reads_a_whole_mailbox_for_each_row_of_another(series: Any) -> None:
    """The planner would, where it has the choice of two keys: thousands of messages would take minutes."""
    with migrated(series) as connection:
        for name, sql in load_queries([series]).items():
            if name.startswith("mailstore.check."):
                continue
            params = dict.fromkeys(re.findall(r":([a-z_]+)", sql), 1)
            plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", params)]
            loops = [line for line in plan if line.startswith(("SCAN j ", "SEARCH "))]
            inner = [line for line in loops[1:] if line.endswith("(mailbox=?)") and "placement" not in line]
            assert inner == [], (name, plan)


@pytest.mark.parametrize("series", ALL_SERIES, ids=lambda series: series.name)
def test_tables_are_strict(series: Any) -> None:
    with migrated(series) as connection:
        found = tables(connection)
    for name, sql in found.items():
        if sql.startswith("CREATE TABLE") and "fts5" not in sql and not name.startswith(("word", "sqlite_")):
            assert "STRICT" in sql.rsplit(")", 1)[1], name


async def test_files_are_private_and_few(tmp_path: Path) -> None:
    store = await open_store(tmp_path / "h", Clock())
    await (await make_desk(store, Clock())).append("INBOX", mail())
    names = {path.name for path in (tmp_path / "h").iterdir()}
    assert {name.split("-")[0] for name in names} == {"postroom.sqlite3", "textindex.sqlite3"}
    for path in (tmp_path / "h").iterdir():
        assert path.stat().st_mode & 0o077 == 0, path.name
    await store.close()
