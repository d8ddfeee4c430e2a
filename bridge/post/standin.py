"""Messages that stand for something: a trigger in Automations, a note in Memory. What one shows, where its copies are,
and how it is taken away.

The rule: a copy with the same Message-ID stands for the thing as the first one does; views hold no copies.
"""

from typing import Protocol, TypeVar

from bridge.post.ports import ref
from mailstore import messages
from mailstore.events import Mail
from mailstore.model import AccountId, EmailId, Mailbox, Role
from mailstore.sqlite import ReadTx, WriteTx

T = TypeVar("T", covariant=True)


class Kept(Protocol[T]):
    """Who knows the things: agents.automations.Automations, agents.memory.Memory."""

    def of_ref(self, tx: ReadTx, account: int, reference: str, /) -> T | None: ...
    def of_newest(self, tx: ReadTx, account: int, message_id: str, /) -> T | None: ...


def shown_by(tx: ReadTx, kept: Kept[T], account: AccountId, mail: Mail) -> T | None:
    """What a message shows now: itself, or as a copy with the same Message-ID."""
    found = kept.of_ref(tx, account, ref(mail.email))
    if found is None and mail.message_id is not None:
        found = kept.of_newest(tx, account, mail.message_id)
    return found


def places(tx: ReadTx, account: AccountId, message_id: str | None) -> list[Mailbox]:
    """The mailboxes in which copies of a message stand."""
    known = messages.by_message_id(tx, account, message_id) if message_id else []
    return [place for email in known for place, _ in messages.locate(tx, email) if place.view is None]


def is_elsewhere(tx: ReadTx, account: AccountId, message_id: str | None) -> bool:
    """Whether a copy of the message stands outside Trash."""
    return any(place.role is not Role.TRASH for place in places(tx, account, message_id))


def take_away(tx: WriteTx, account: AccountId, series: str, only: Role | None = None) -> None:
    """Forget what a series shows now, and expunge that message wherever it is, or `only` from mailboxes of a role."""
    email = tx.value("bridge.shown.get", account=account, series=series)
    if email is None:
        return
    tx.run("bridge.shown.forget", account=account, series=series)
    for place, uid in messages.locate(tx, EmailId(email)):
        if place.view is None and only in (None, place.role):
            messages.expunge(tx, place, [uid], only_deleted=False)
