"""Memory as the rest of the program meets it: what a model is shown of it, the message of each note, and the words of
its owner.

The rule: a model is shown notes as data and never more than fits a page; a note learned from untrusted text is not
among them, since reading it marks the run: it has to be asked for.
"""

from collections.abc import Iterable
from typing import Final

from agents import ids, mails, notes, outbox
from agents.events import NoteChanged
from agents.letter import Kind, Outgoing
from agents.notes import EVERYONE, New, Note
from agents.office import Office
from agents.ports import Database, ReadTx, WriteTx
from agents.profile import Profile

SENDER: Final = "help"
"""The local part that the messages of notes come from, and that answers to them go to."""

MAX_SHOWN: Final = 6000
_HOW: Final = (
    'Answer this message with "forget" to have it forgotten, or with "edit" and the new text below to change it. '
    "To delete this message is to forget the note; in Trash it is only set aside."
)


def uses(tx: ReadTx, account: int, profile: Profile) -> bool:
    """Whether an agent keeps and reads notes for an account: both have to say so."""
    return profile.memory and notes.is_on(tx, account)


def shown(tx: ReadTx, account: int, profile: Profile) -> str:
    """What a model is told at the start: the newest notes up to a page, and how many more there are."""
    if not uses(tx, account, profile):
        return ""
    found = notes.seen_by(tx, account, profile.name)
    trusted = [note for note in found if not note.taint]
    lines, left = [], MAX_SHOWN
    for note in trusted:
        line = as_line(note)
        if len(line) > left:
            break
        lines.append(line)
        left -= len(line)
    more = len(trusted) - len(lines)
    lines += [f"({more} older notes are not shown; recall finds them.)"] if more else []
    foreign = len(found) - len(trusted)
    lines += [f"({foreign} notes learned from text of others are not shown; recall finds them.)"] if foreign else []
    return "\n".join(lines)


def as_line(note: Note) -> str:
    """A note for a model: its name, its day, its words."""
    return f"[{note.code}, {mails.moment(note.updated)}] {note.text}"


class Memory:
    """The notes of one runtime. Keeps their messages in step by itself."""

    def __init__(self, office: Office, db: Database) -> None:
        self._office = office
        db.on(NoteChanged, self._changed)

    def _changed(self, tx: WriteTx, event: NoteChanged) -> None:
        note = notes.find(tx, event.note)
        if note is not None and note.state == "active":
            _put(tx, self._office, note)

    def of_mail(self, tx: ReadTx, account: int, message_ids: Iterable[str]) -> Note | None:
        """The note whose message (any state of it) has one of these Message-IDs."""
        for one in message_ids:
            key = outbox.own_key(tx, account, one)
            note = notes.find(tx, ident) if key and (ident := _note_of(key)) else None
            if note is not None and note.account == account:
                return note
        return None

    def is_message(self, tx: ReadTx, account: int, message_ids: Iterable[str]) -> bool:
        """Whether one of these Message-IDs is that of a note's message, also of one that was forgotten."""
        keys = (outbox.own_key(tx, account, one) for one in message_ids)
        return any(key is not None and _note_of(key) is not None for key in keys)

    def of_ref(self, tx: ReadTx, account: int, ref: str) -> Note | None:
        """The note that a stored message shows now."""
        row = tx.one("agents.outbox.by_ref", account=account, ref=ref)
        ident = _note_of(row["key"]) if row else None
        note = notes.find(tx, ident) if ident else None
        return note if note is not None and note.account == account else None

    def of_newest(self, tx: ReadTx, account: int, message_id: str) -> Note | None:
        """The note whose newest message has this Message-ID."""
        note = self.of_mail(tx, account, (message_id,))
        key = outbox.own_key(tx, account, message_id)
        return note if note is not None and key == f"{note.series}.{note.revision}" else None

    def trashed(self, tx: WriteTx, note: Note) -> None:
        """Its message was moved to Trash: nobody is shown the note."""
        notes.move(tx, self._office.now(), note, "off")

    def restored(self, tx: WriteTx, note: Note) -> None:
        """Its message came back from Trash."""
        notes.move(tx, self._office.now(), note, "active")

    def gone(self, tx: WriteTx, note: Note) -> None:
        """Its message was destroyed."""
        notes.forget(tx, self._office.now(), note, "its message was deleted")

    def forget(self, tx: WriteTx, note: Note, why: str) -> None:
        """Forget a note at its owner's word."""
        notes.forget(tx, self._office.now(), note, why)

    def turn(self, tx: WriteTx, account: int, on: bool, by: str, via: str) -> bool:
        """Turn memory on or off for an account. False: it was so before."""
        return notes.turn(tx, self._office.now(), account, on, by, via)

    def write(self, tx: WriteTx, account: int, text: str, key: str, agent: str = EVERYONE) -> Note:
        """Keep a note in the owner's own words. Raises notes.NotKept."""
        return notes.keep(tx, self._office.now(), New(account, agent, text, key, "your own words"))

    def change(self, tx: WriteTx, note: Note, text: str) -> None:
        """The owner's own words in place of a note's; they are trusted. Raises notes.NotKept."""
        notes.change(tx, self._office.now(), note, text)

    def forget_account(self, tx: WriteTx, account: int) -> None:
        """Forget everything of an account that is removed."""
        tx.run("agents.notes.forget_account", account=account)
        tx.run("agents.notes.turn_off", account=account)

    def whose(self, note: Note) -> str:
        """Who reads a note, as its owner knows them."""
        return mails.display(self._office, note.agent) if note.agent else "all your agents"


def _note_of(key: str) -> str | None:
    ident, mark, _ = key.partition(".note.")
    return ident if mark else None


def _put(tx: WriteTx, office: Office, note: Note) -> None:
    """Queue a note's message as the note is now."""
    tx.run("agents.notes.revise", id=note.id)
    key = f"{note.series}.{note.revision + 1}"
    mail = Outgoing(
        key=key,
        kind=Kind.MEMORY,
        account=note.account,
        agent=SENDER,
        thread=note.series,
        subject=note.title,
        body=_body(office, note),
        state=note.state,
        run="",
        step=note.revision + 1,
        message_id=ids.message_id(key, office.settings.domain),
        unread=False,
        series=note.series,
    )
    outbox.put(tx, office, mail, taint=note.taint)


def _body(office: Office, note: Note) -> str:
    who = mails.display(office, note.agent) if note.agent else "All your agents"
    learned = f', learned in "{note.about}"' if note.about and note.agent else ""
    facts = f"{who}, {mails.moment(note.updated)}, {note.code}{learned}."
    marked = ["This was learned from text of others, and you let it be kept."] if note.taint else []
    return "\n\n".join([note.text, facts, *marked, _HOW])
