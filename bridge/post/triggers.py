"""The messages of triggers in the mailbox Automations: what the user does with one, and what becomes of it when its
trigger is over.

The rule: all of it in the transaction of the change it follows. A message in Trash is a schedule switched off; one that
is destroyed is a schedule deleted; a copy filed elsewhere says nothing.
"""

from agents.automations import Automations
from agents.events import TriggerRemoved
from bridge.post import standin
from bridge.post.concern import concerned
from mailstore.events import Gone, Restored, Trashed
from mailstore.model import AccountId, Role
from mailstore.sqlite import WriteTx
from mailstore.store import Store


class TriggerMail:
    """Subscribes to the events of both sides; made once, before anything can happen."""

    def __init__(self, store: Store, kept: Automations) -> None:
        self._kept = kept
        store.on(Trashed, self._trashed)
        store.on(Restored, self._restored)
        store.on(Gone, self._gone)
        store.on(TriggerRemoved, self._removed)

    def _trashed(self, tx: WriteTx, event: Trashed) -> None:
        for mail in concerned(tx, event):
            item = standin.shown_by(tx, self._kept, event.account, mail)
            if item is not None and not standin.is_elsewhere(tx, event.account, mail.message_id):
                self._kept.trashed(tx, item)

    def _restored(self, tx: WriteTx, event: Restored) -> None:
        for mail in concerned(tx, event):
            item = standin.shown_by(tx, self._kept, event.account, mail)
            if item is not None:
                self._kept.restored(tx, item)

    def _gone(self, tx: WriteTx, event: Gone) -> None:
        for mail in () if event.junked else concerned(tx, event):
            item = standin.shown_by(tx, self._kept, event.account, mail)
            if item is not None:
                self._kept.gone(tx, item)

    def _removed(self, tx: WriteTx, event: TriggerRemoved) -> None:
        standin.take_away(tx, AccountId(event.account), event.series, only=Role.AUTOMATIONS)
