"""Notes: what an agent, or the user, wants remembered from one task to the next, as rows.

The rule: a note belongs to one account, and to the agent that wrote it (to all of them when the user did); what was
learned while untrusted text had been read keeps that mark until the user says otherwise. Every change is told by an
event of the same transaction.
"""

import sqlite3
from dataclasses import dataclass
from typing import Final

from agents import audit, ids
from agents.events import NoteChanged, NoteRemoved
from agents.ports import ReadTx, WriteTx

MAX_TEXT: Final = 2000
MAX_NOTES: Final = 200
EVERYONE: Final = ""
"""The agent of a note that every agent of the account reads."""


class NotKept(Exception):
    """A note that is not kept; `why` is a whole sentence."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True, slots=True)
class Note:
    """One note. `state` is "active", or "off" while its message lies in Trash; `about` says where it was learned."""

    id: str
    account: int
    agent: str
    text: str
    about: str
    taint: bool
    state: str
    revision: int
    created: int
    updated: int

    @property
    def code(self) -> str:
        """Its short name, as people and agents say it."""
        return ids.short_code("N", self.id)

    @property
    def title(self) -> str:
        """Its first words."""
        line = " ".join(self.text.split())
        return line if len(line) <= 70 else f"{line[:69].rstrip()}…"

    @property
    def series(self) -> str:
        """What its message stands under."""
        return f"{self.id}.note"


@dataclass(frozen=True, slots=True)
class New:
    """A note to be kept. `key` makes it one, however often it is asked for."""

    account: int
    agent: str
    text: str
    key: str
    about: str = ""
    taint: bool = False


def is_on(tx: ReadTx, account: int) -> bool:
    """Whether an account wants notes kept and read."""
    return tx.value("agents.notes.is_on", account=account) is not None


def turn(tx: WriteTx, now: int, account: int, on: bool, by: str = "", via: str = "") -> bool:
    """Turn memory on or off. False: it was so before."""
    if is_on(tx, account) == on:
        return False
    tx.run("agents.notes.turn_on", account=account, now=now) if on else tx.run("agents.notes.turn_off", account=account)
    audit.record(tx, now, account, f"memory.{'on' if on else 'off'}", None, None, by=by, via=via)
    return True


def keep(tx: WriteTx, now: int, new: New) -> Note:
    """Keep a note, or find the one that says the same. Raises NotKept."""
    text = checked(new.text)
    row = tx.one("agents.notes.by_key", account=new.account, key=new.key)
    row = row or tx.one("agents.notes.same", account=new.account, agent=new.agent, text=text)
    if row is not None:
        return to_note(row)
    if tx.value("agents.notes.count", account=new.account) >= MAX_NOTES:
        raise NotKept(f"There are {MAX_NOTES} notes already, and no more are kept; forget some first.")
    note = ids.new_id(now)
    tx.run(
        "agents.notes.add",
        id=note,
        text=text,
        taint=int(new.taint),
        now=now,
        **{name: getattr(new, name) for name in ("account", "agent", "about", "key")},
    )
    audit.record(tx, now, new.account, "note.kept", None, note, agent=new.agent)
    tx.emit(NoteChanged(note, new.account))
    return get(tx, note)


def checked(text: str) -> str:
    """The words of a note as they are kept. Raises NotKept."""
    text = text.strip()
    if not text:
        raise NotKept("A note without words is not kept.")
    if len(text) > MAX_TEXT:
        raise NotKept(f"A note has at most {MAX_TEXT} characters; this one has {len(text)}.")
    return text


def change(tx: WriteTx, now: int, note: Note, text: str, taint: bool = False) -> None:
    """Other words for a note. Raises NotKept."""
    tx.run("agents.notes.change", id=note.id, text=checked(text), taint=int(taint), now=now)
    audit.record(tx, now, note.account, "note.changed", None, note.id)
    tx.emit(NoteChanged(note.id, note.account))


def move(tx: WriteTx, now: int, note: Note, state: str) -> None:
    """Set a note aside, or take it up again; its message is where its owner put it."""
    if tx.run("agents.notes.move", id=note.id, state=state):
        tx.run("agents.notes.withdraw", series=note.series, now=now)
        audit.record(tx, now, note.account, f"note.{'restored' if state == 'active' else 'set_aside'}", None, note.id)


def forget(tx: WriteTx, now: int, note: Note, why: str) -> None:
    """Forget a note: its words are nowhere in the runtime's tables any more but in what was said in tasks."""
    tx.run("agents.notes.remove", id=note.id)
    tx.run("agents.notes.forget_mail", series=note.series)
    audit.record(tx, now, note.account, "note.forgotten", None, note.id, why=why)
    tx.emit(NoteRemoved(note.id, note.account, note.series))


def get(tx: ReadTx, note: str) -> Note:
    """A note that is there."""
    found = find(tx, note)
    if found is None:
        raise KeyError(note)
    return found


def find(tx: ReadTx, note: str) -> Note | None:
    """A note by its id."""
    row = tx.one("agents.notes.get", id=note)
    return to_note(row) if row is not None else None


def of_account(tx: ReadTx, account: int) -> list[Note]:
    """All notes of an account, oldest first."""
    return [to_note(row) for row in tx.all("agents.notes.of_account", account=account)]


def seen_by(tx: ReadTx, account: int, agent: str) -> list[Note]:
    """The notes that an agent may read, the newest first."""
    return [to_note(row) for row in tx.all("agents.notes.seen_by", account=account, agent=agent)]


def named(tx: ReadTx, account: int, name: str) -> Note | None:
    """The note of an account with this code or id; None when there is none."""
    plain = name.strip("[] .").upper()
    found = [note for note in of_account(tx, account) if plain in (note.code, note.id.upper())]
    return found[0] if len(found) == 1 else None


def to_note(row: sqlite3.Row) -> Note:
    names = ("id", "account", "agent", "text", "about", "state", "revision", "created", "updated")
    return Note(**{name: row[name] for name in names}, taint=bool(row["taint"]))
