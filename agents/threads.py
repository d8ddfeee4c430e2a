"""What a thread is beside its runs: a fork that goes on from a mail of another thread, and the name its owner gave it.

The rule: a fork sees its origin as it stood when the mail was written, takes over its mark of untrusted text, and
changes nothing of it.
"""

import json
import sqlite3
from dataclasses import dataclass
from typing import Final

from agents import audit
from agents.office import Office
from agents.ports import ReadTx, WriteTx

LONGEST: Final = 120


@dataclass(frozen=True, slots=True)
class Point:
    """A mail of ours that a fork goes on from: its thread, when it was written (UTC ms), its subject, its agent."""

    thread: str
    at: int
    subject: str
    agent: str = ""


def point(tx: ReadTx, account: int, message_id: str) -> Point | None:
    """A mail of ours to the user by its Message-ID, as a point to go on from."""
    row = tx.one("agents.threads.point", account=account, message_id=message_id)
    return _point(row) if row else None


def newest_point(tx: ReadTx, account: int, thread: str) -> Point | None:
    """The newest mail of ours to the user in a thread."""
    row = tx.one("agents.threads.newest_point", account=account, thread=thread)
    return _point(row) if row else None


def _point(row: sqlite3.Row) -> Point:
    return Point(row["thread"], row["created"], json.loads(row["body"])["mail"]["subject"], row["agent"])


def fork(tx: WriteTx, office: Office, account: int, thread: str, origin: Point) -> None:
    """Let a new thread go on from a mail of another one."""
    row = {"account": account, "thread": thread, "origin": origin.thread, "upto": origin.at, "now": office.now()}
    tx.run("agents.threads.fork", **row, subject=origin.subject)
    audit.record(tx, office.now(), account, "thread.forked", None, thread, origin=origin.thread)


def forked(tx: ReadTx, account: int, thread: str) -> Point | None:
    """What a thread goes on from, if it was forked."""
    row = tx.one("agents.threads.forked", account=account, thread=thread)
    return Point(row["origin"], row["upto"], row["subject"]) if row else None


def line(tx: ReadTx, account: int, thread: str) -> dict[str, object]:
    """A thread and all that it goes on from, for the queries that look at the whole of it."""
    return {
        "account": account,
        "thread": thread,
        "line": tx.value("agents.threads.line", account=account, thread=thread),
    }


def rename(tx: WriteTx, office: Office, account: int, thread: str, title: str) -> str:
    """Give a thread a name, which the subjects of its later mails are; returns it as it is kept."""
    kept = " ".join(title.split())[:LONGEST].strip()
    tx.run("agents.threads.call", account=account, thread=thread, title=kept)
    audit.record(tx, office.now(), account, "thread.renamed", None, thread)
    return kept


def title(tx: ReadTx, account: int, thread: str) -> str | None:
    """The name that a thread was given."""
    found: str | None = tx.value("agents.threads.title", account=account, thread=thread)
    return found
