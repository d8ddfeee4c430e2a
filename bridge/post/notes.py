"""The messages of notes in the mailbox Memory: what the user does with one, and what becomes of it when its note is
forgotten.

The rule: all of it in the transaction of the change it follows. A message in Trash is a note set aside; one that is
destroyed is a note forgotten; one that is filed in another folder still is its note.
"""

from agents.events import NoteRemoved
from agents.memory import Memory
from bridge.post import standin
from bridge.post.concern import concerned
from mailstore.events import Gone, Restored, Trashed
from mailstore.model import AccountId
from mailstore.sqlite import WriteTx
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
        for mail in concerned(tx, event):
            note = standin.shown_by(tx, self._memory, event.account, mail)
            if note is not None and not standin.is_elsewhere(tx, event.account, mail.message_id):
                self._memory.trashed(tx, note)

    def _restored(self, tx: WriteTx, event: Restored) -> None:
        for mail in concerned(tx, event):
            note = standin.shown_by(tx, self._memory, event.account, mail)
            if note is not None:
                self._memory.restored(tx, note)

    def _gone(self, tx: WriteTx, event: Gone) -> None:
        """A client without MOVE files by COPY and EXPUNGE: as long as a copy is left, it stands for the note."""
        for mail in () if event.junked else concerned(tx, event):
            note = standin.shown_by(tx, self._memory, event.account, mail)
            if note is None:
                continue
            if not standin.places(tx, event.account, mail.message_id):
                self._memory.gone(tx, note)
            elif not standin.is_elsewhere(tx, event.account, mail.message_id):
                self._memory.trashed(tx, note)

    def _removed(self, tx: WriteTx, event: NoteRemoved) -> None:
        standin.take_away(tx, AccountId(event.account), event.series)
