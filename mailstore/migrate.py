"""Brings a database file up to date before anything else touches it.

The rule: a file written by a newer version is refused untouched, and a file that is to be changed is copied first.
Each step and the row that records it are one transaction.
"""

import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from mailstore.errors import TooOld
from mailstore.queries import Migration, Series, load_migrations

_RECORD = (
    "CREATE TABLE IF NOT EXISTS schema_versions "
    "(series TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (series, number)) STRICT, WITHOUT ROWID"
)


def migrate(connection: sqlite3.Connection, path: Path, all_series: Sequence[Series]) -> None:
    """Apply what is missing, series by series in the order given. Raises TooOld."""
    connection.execute(_RECORD)
    done = set(map(tuple, connection.execute("SELECT series, number FROM schema_versions").fetchall()))
    steps = [step for series in all_series for step in load_migrations(series)]
    _refuse_newer(done, steps)
    missing = [step for step in steps if (step.series, step.number) not in done]
    if missing and done:
        _copy(connection, path, missing[0])
    for step in missing:
        _apply(connection, step)


def _refuse_newer(done: set[tuple[str, int]], steps: Sequence[Migration]) -> None:
    known: dict[str, int] = {}
    for step in steps:
        known[step.series] = max(step.number, known.get(step.series, 0))
    for series, number in sorted(done):
        if series in known and number > known[series]:
            raise TooOld(
                f"the data was written by a newer Postroom ({series} schema {number}, this one knows "
                f"{known[series]}); install that version, or restore a backup"
            )


def _copy(connection: sqlite3.Connection, path: Path, first: Migration) -> None:
    target = path.with_name(f"{path.name}.before-{first.series}-{first.number:04d}")
    target.unlink(missing_ok=True)
    os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o600))
    copy = sqlite3.connect(target)
    try:
        connection.backup(copy)
    finally:
        copy.close()


def _apply(connection: sqlite3.Connection, step: Migration) -> None:
    record = f"INSERT INTO schema_versions VALUES ('{step.series}', {step.number});"
    try:
        connection.executescript(f"BEGIN IMMEDIATE;\n{step.sql}\n;{record}\nCOMMIT;")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
