"""The messages of triggers in the mailbox Automations: what the user does with one, and what becomes of it when its
trigger is over.

The rule: all of it in the transaction of the change it follows. A message in Trash is a schedule switched off; one that
is destroyed is a schedule deleted; a copy filed elsewhere says nothing.
"""

from agents.automations import Automations
from agents.events import TriggerRemoved
from agents.trigger import Trigger
from bridge.post.ports import ref
from mailstore import messages
from mailstore.events import Gone, Restored, Trashed
from mailstore.model import AccountId, EmailId, Role
from mailstore.sqlite import ReadTx, WriteTx
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
        item = self._shown_by(tx, event)
        if item is not None and not _is_elsewhere(tx, event.account, event.message_id):
            self._kept.trashed(tx, item)

    def _restored(self, tx: WriteTx, event: Restored) -> None:
        item = self._shown_by(tx, event)
        if item is not None:
            self._kept.restored(tx, item)

    def _gone(self, tx: WriteTx, event: Gone) -> None:
        item = self._shown_by(tx, event) if event.everywhere and not event.junked else None
        if item is not None:
            self._kept.gone(tx, item)

    def _shown_by(self, tx: ReadTx, event: Trashed | Restored | Gone) -> Trigger | None:
        """The trigger that a message shows now: itself, or as a copy with the same Message-ID."""
        found = self._kept.of_ref(tx, event.account, ref(event.email))
        if found is None and event.message_id is not None:
            found = self._kept.of_newest(tx, event.account, event.message_id)
        return found

    def _removed(self, tx: WriteTx, event: TriggerRemoved) -> None:
        account = AccountId(event.account)
        email = tx.value("bridge.shown.get", account=account, series=event.series)
        if email is None:
            return
        tx.run("bridge.shown.forget", account=account, series=event.series)
        for place, uid in messages.locate(tx, EmailId(email)):
            if place.role is Role.AUTOMATIONS:
                messages.expunge(tx, place, [uid], only_deleted=False)


def _is_elsewhere(tx: ReadTx, account: AccountId, message_id: str | None) -> bool:
    """Whether a copy of the message stands outside Trash."""
    known = messages.by_message_id(tx, account, message_id) if message_id else []
    places = (place for email in known for place, _ in messages.locate(tx, email))
    return any(place.view is None and place.role is not Role.TRASH for place in places)
