"""A fault that only shows when several write at once, planted where commits are shared."""

import sqlite3

import pytest

from mailstore.writer import Job, Writer, _name


def lost_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of functions that share a commit the second, if a session asked for it, is taken back and said to be done."""
    run_group, run_one, done = Writer._run_group, Writer._run_one, [0]

    def group(writer: Writer, connection: sqlite3.Connection, first: Job) -> list[Job]:
        done[0] = 0
        return run_group(writer, connection, first)

    def lossy(writer: Writer, connection: sqlite3.Connection, job: Job, *, first: bool) -> None:
        done[0] += 1
        if first:
            run_one(writer, connection, job, first=first)
            return
        connection.execute("SAVEPOINT planted")
        run_one(writer, connection, job, first=first)
        if connection.in_transaction:
            lost = done[0] == 2 and any(word in _name(job) for word in ("change", "run_append"))
            connection.execute("ROLLBACK TO planted" if lost else "RELEASE planted")

    monkeypatch.setattr(Writer, "_run_group", group)
    monkeypatch.setattr(Writer, "_run_one", lossy)
