"""The comparison with the reference finds the faults it is there for (DECISIONS 40): each is planted, and the shortest
history that shows it must fail, while it passes without the fault."""

import asyncio
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mailstore import filing, flags, placing
from mailstore.cache import MailboxIndex
from mailstore.model import Copied, Uid
from mailstore.sessions import NOBODY
from mailstore.shifts import Came, Flagged, Went
from mailstore.store import Store
from tests.store.test_histories import play

SEEN, DELETED, FLAGGED = {"\\Seen"}, {"\\Deleted"}, {"\\Flagged"}
LETTER: tuple[Any, ...] = ("append", "INBOX", 0, set())
LOG_ROW = "VALUES (:account, :mailbox, :modseq, :kind, :first, :last)"
LOG_SOME = "SELECT :account, :mailbox, :modseq, :kind, :first, :last WHERE :kind <> "


@dataclass(frozen=True)
class Fault:
    """A change of one query, or of what is called, and a history that brings it to light."""

    history: list[tuple[Any, ...]]
    query: str = ""
    before: str = ""
    after: str = ""
    sabotage: Callable[[Store], None] | None = None

    def plant(self, store: Store) -> None:
        if self.sabotage is not None:
            self.sabotage(store)
            return
        sql = store.db.queries[self.query]
        if self.before not in sql:
            raise LookupError(f"{self.query} has no such text")  # not an AssertionError: those are what is waited for
        store.db.queries[self.query] = sql.replace(self.before, self.after)


def nobody_watches(store: Store) -> None:
    setattr(store.sessions, "watched", lambda mailbox: NOBODY)  # noqa: B010 - mypy forbids a plain assignment


FAULTS = {
    "a UID is given again": Fault(
        [LETTER, ("flag", "INBOX", [0], "ADD", DELETED), ("expunge", "INBOX"), LETTER],
        "mailstore.placing.count",
        "messages = messages",
        "uidnext = uidnext + min(0, :messages), messages = messages",
    ),
    "a departure is not logged": Fault(
        [LETTER, ("look", "INBOX"), ("move", "INBOX", [0], "Archive")],
        "mailstore.placing.log",
        LOG_ROW,
        LOG_SOME + "2",
    ),
    "a change of flags is not logged": Fault(
        [LETTER, ("look", "INBOX"), ("flag", "INBOX", [0], "ADD", FLAGGED)],
        "mailstore.placing.log",
        LOG_ROW,
        LOG_SOME + "4",
    ),
    "flags are missed in one view": Fault(
        [LETTER, ("look", "All"), ("flag", "INBOX", [0], "ADD", FLAGGED)],
        "mailstore.changes.uids-of",
        "WHEN 'all' THEN s.in_all",
        "WHEN 'all' THEN 0",
    ),
    "MODIFIED is stale": Fault(
        [LETTER, ("mark",), ("flag", "All", [0], "ADD", FLAGGED), ("flag_unchanged", "INBOX", [0], DELETED)],
        "mailstore.flags.changed-since",
        "max(p.modseq, s.modseq)",
        "p.modseq",
    ),
    "a counter drifts": Fault(
        [LETTER, ("read", "INBOX", [0])],
        "mailstore.placing.count",
        "unseen = unseen + :unseen",
        "unseen = unseen",
    ),
    "a trashed request stays in Action": Fault(
        [LETTER, ("label", 0, True), ("move", "INBOX", [0], "Trash")],
        "mailstore.views.differing",
        "m.feeds &",
        "(m.feeds | 4) &",
    ),
    "read mail leaves Unread under the reader's eyes": Fault(
        [LETTER, ("select", "A"), ("read", "INBOX", [0])], sabotage=nobody_watches
    ),
}
PAIRS = [LETTER, ("append", "INBOX", 1, set()), ("copy", "INBOX", [0, 1], "Archive")]


def run(history: list[tuple[Any, ...]], folder: Path, plant: Callable[[Store], None] = lambda store: None) -> None:
    asyncio.run(play(history, folder, plant))


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_noticed(tmp_path: Path, name: str) -> None:
    fault = FAULTS[name]
    run(fault.history, tmp_path / "right")
    with pytest.raises((AssertionError, KeyError, sqlite3.Error)):
        run(fault.history, tmp_path / "wrong", fault.plant)


def test_a_wrong_pair_of_uids_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = filing._pairs

    def wrong(rows: Any, uid: int, target: Any) -> Any:
        pairs = right(rows, Uid(uid), target)
        return Copied(pairs.source_uids, pairs.target_uids[::-1], pairs.uidvalidity)

    run(PAIRS, tmp_path / "right")
    monkeypatch.setattr(filing, "_pairs", wrong)
    with pytest.raises(AssertionError):
        run(PAIRS, tmp_path / "wrong")


@pytest.mark.parametrize("deaf", ["_reflag", "_remove"])
def test_an_index_that_misses_what_a_change_did_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deaf: str
) -> None:
    history = [LETTER, ("look", "INBOX"), ("flag", "INBOX", [0], "ADD", DELETED), ("expunge", "INBOX")]
    run(history, tmp_path / "right")
    monkeypatch.setattr(MailboxIndex, deaf, lambda *args: None)
    with pytest.raises(AssertionError):
        run(history, tmp_path / "wrong")


@pytest.mark.parametrize("kind", [Came, Went, Flagged])
def test_a_change_that_does_not_know_what_it_did_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type
) -> None:
    def note(tx: Any, shift: Any) -> None:
        if not isinstance(shift, kind):
            right(tx, shift)

    right = placing.note
    for module in (placing, flags):
        monkeypatch.setattr(module, "note", note)
    with pytest.raises(AssertionError):
        run([LETTER, ("flag", "INBOX", [0], "ADD", FLAGGED), ("move", "INBOX", [0], "Archive")], tmp_path / "wrong")


def test_views_that_are_not_told_of_seen_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flags, "_refresh_views", lambda *args: None)
    with pytest.raises(AssertionError):
        run([LETTER, ("read", "INBOX", [0])], tmp_path / "wrong")
