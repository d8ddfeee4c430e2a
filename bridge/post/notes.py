"""The messages of notes in the mailbox Memory: what the user does with one, and what becomes of it when its note is
forgotten.

The rule: all of it in the transaction of the change it follows. A message in Trash is a note set aside; one that is
destroyed is a note forgotten; one that is filed in another folder still is its note.
"""

from collections.abc import Iterator

from agents.events import NoteRemoved
from agents.memory import Memory
from agents.notes import Note
from bridge.post.ports import ref
from mailstore import messages
from mailstore.events import Gone, Restored, Trashed
from mailstore.model import AccountId, EmailId, Role
from mailstore.sqlite import ReadTx, WriteTx
from mailstore.store import Store


class NoteMail:
    """Subscribes to the events of both sides; made once, before anything can happen."""

    def __init__(self, store: Store, memory: Memory) -> None:
        self._memory = memory
        store.on(Trashed, self._trashed)
        store.on(Restored, self._restored)
        store.on(Gone, self._gone)
        store.on(NoteRemoved, self._removed)

    def _trashed(self, tx: WriteTx, event: Trashed) -> None:
        note = self._shown_by(tx, event)
        if note is not None and Role.USER not in set(_places(tx, event)):
            self._memory.trashed(tx, note)

    def _restored(self, tx: WriteTx, event: Restored) -> None:
        note = self._shown_by(tx, event)
        if note is not None:
            self._memory.restored(tx, note)

    def _gone(self, tx: WriteTx, event: Gone) -> None:
        """A client without MOVE files by COPY and EXPUNGE: as long as a copy is left, it stands for the note."""
        note = self._shown_by(tx, event) if event.everywhere and not event.junked else None
        if note is None:
            return
        left = set(_places(tx, event))
        if not left:
            self._memory.gone(tx, note)
        elif left == {Role.TRASH}:
            self._memory.trashed(tx, note)

    def _shown_by(self, tx: ReadTx, event: Trashed | Restored | Gone) -> Note | None:
        """The note that a message shows now: itself, or as a copy with the same Message-ID."""
        found = self._memory.of_ref(tx, event.account, ref(event.email))
        if found is None and event.message_id is not None:
            found = self._memory.of_newest(tx, event.account, event.message_id)
        return found

    def _removed(self, tx: WriteTx, event: NoteRemoved) -> None:
        account = AccountId(event.account)
        email = tx.value("bridge.shown.get", account=account, series=event.series)
        if email is None:
            return
        tx.run("bridge.shown.forget", account=account, series=event.series)
        for place, uid in messages.locate(tx, EmailId(email)):
            if place.view is None:
                messages.expunge(tx, place, [uid], only_deleted=False)


def _places(tx: ReadTx, event: Trashed | Gone) -> Iterator[Role]:
    """Where copies of the message stand: Trash, or Role.USER for every other place."""
    known = messages.by_message_id(tx, event.account, event.message_id) if event.message_id else []
    for email in known:
        for place, _ in messages.locate(tx, email):
            if place.view is None:
                yield Role.TRASH if place.role is Role.TRASH else Role.USER
