"""What the user does with the mail itself, told to the runtime, and what the runtime decides, told to the mail.

The rule: everything here happens inside the transaction of the change it follows. A request that closes leaves Action
at once; a request mail that is thrown away is refused (which is safe); a task whose mail is thrown away is stopped.
"""

import json
from collections.abc import Callable, Mapping
from typing import Final

from agents import lookup
from agents.approvals import Decision
from agents.events import OutboxQueued, RequestClosed
from agents.letter import Kind
from agents.runtime import Runtime
from agents.seconds import Seat
from agents.states import RequestState
from bridge.post.concern import concerned
from bridge.post.ports import email_of, ref
from mailstore import accounts, flags, labels, messages, threads
from mailstore.events import Arrived, Gone, Mail, Trashed
from mailstore.model import ACTION_LABEL, AccountId, EmailId, Role, ThreadId
from mailstore.sqlite import ReadTx, WriteTx
from mailstore.store import Store

KEYWORDS: Final[Mapping[RequestState, str]] = {
    RequestState.APPROVED: "$Approved",
    RequestState.MIXED: "$Approved",
    RequestState.REJECTED: "$Rejected",
    RequestState.CANCELLED: "$Rejected",
    RequestState.SKIPPED: "$Rejected",
    RequestState.ANSWERED: "$Answered",
    RequestState.EDITED: "$Answered",
    RequestState.SUPERSEDED: "$Answered",
    RequestState.CONFIRMED: "$Answered",
    RequestState.EXPIRED: "$Expired",
}

_AWAY: Final = frozenset({Role.TRASH, Role.ACTIVITY, Role.AUTOMATIONS, Role.MEMORY})


class Folders:
    """Subscribes to the store's and the runtime's events; made once, before anything can happen.

    `wake_intake` and `wake_courier` are called in the loop after the commit of what they will find.
    """

    def __init__(
        self, store: Store, runtime: Runtime, wake_intake: Callable[[], None], wake_courier: Callable[[], None]
    ) -> None:
        self._runtime = runtime
        self._wake_intake = wake_intake
        self._wake_courier = wake_courier
        store.on(OutboxQueued, self._queued)
        store.on(RequestClosed, self._closed)
        store.on(Arrived, self._arrived)
        store.on(Trashed, self._trashed)
        store.on(Gone, self._gone)

    def _queued(self, tx: WriteTx, event: OutboxQueued) -> None:
        if event.kind != Kind.MAIL:
            tx.after(self._wake_courier)

    def _closed(self, tx: WriteTx, event: RequestClosed) -> None:
        for reference in lookup.mail_refs(tx, event.request):
            email = email_of(reference)
            if email is not None:
                labels.set_label(tx, email, ACTION_LABEL, False)
                flags.set_keywords(tx, email, add=(KEYWORDS[event.state],))

    def _arrived(self, tx: WriteTx, event: Arrived) -> None:
        """A message in Agents/<Name> is handed over, once for each new UID (DECISIONS 13)."""
        if event.mailbox.role is not Role.HANDOVER:
            return
        folder = event.mailbox.name.rpartition("/")[2]
        for uid, email in enumerate(event.emails, event.uid):
            tx.insert(
                "bridge.arrivals.add",
                account=event.account,
                email=email,
                kind="dropped",
                recipients=json.dumps([folder]),
                key=f"drop:{event.mailbox.uidvalidity}:{uid}",
                raw_hash="",
                via="hand-over folder",
                at=tx.now,
            )
        tx.after(self._wake_intake)

    def _trashed(self, tx: WriteTx, event: Trashed) -> None:
        for mail in concerned(tx, event, runs=True):
            self._refuse(tx, event.account, mail)
            started = lookup.started_by(tx, event.account, ref(mail.email))
            if started is None and self._is_last_copy(tx, event.account, mail):
                started = lookup.started_by_message(tx, event.account, mail.message_id or "")
            if started or not self._has_mail_left(tx, mail.thread):
                self._runtime.cancel_thread(tx, event.account, str(mail.thread), "its mail was moved to Trash")

    def _gone(self, tx: WriteTx, event: Gone) -> None:
        """Destroyed for good. From Junk nothing is concluded: filters put things there.

        With the last mail of a thread goes what the runtime knows of it, unless something still runs there: a client
        may destroy its Sent copy at once, and the result is still wanted.
        """
        if event.junked:
            return
        for mail in concerned(tx, event, runs=True):
            self._refuse(tx, event.account, mail)
            thread = str(mail.thread)
            if not threads.messages(tx, mail.thread) and not lookup.is_active(tx, event.account, thread):
                self._runtime.forget_thread(tx, event.account, thread)

    def _refuse(self, tx: WriteTx, account: AccountId, mail: Mail) -> None:
        request = lookup.request_of(tx, account, ref(mail.email))
        if request is None and self._is_last_copy(tx, account, mail):
            request = lookup.request_of_message(tx, account, mail.message_id or "")
        if request is None:
            return
        owner = lookup.owner_of(tx, request)
        seat = Seat.OWNER if owner == account else Seat.SECOND
        self._runtime.decide(
            tx,
            Decision(
                account=account if owner is None else owner,
                request=request,
                verdict="reject",
                by=seat.value if seat is Seat.OWNER else _address(tx, account),
                via="mailbox",
                at=tx.now,
                text="deleted by the user",
                rule="deleted",
                seat=seat,
            ),
        )

    def _has_mail_left(self, tx: ReadTx, thread: ThreadId) -> bool:
        """Whether any mail of the thread has a place outside Trash."""
        return any(_is_kept(tx, email) for email in threads.messages(tx, thread))

    def _is_last_copy(self, tx: ReadTx, account: AccountId, mail: Mail) -> bool:
        """Whether nothing with this Message-ID is left outside Trash: a copy filed by COPY stands for its original."""
        if mail.message_id is None:
            return False
        left = messages.by_message_id(tx, account, mail.message_id)
        return not any(_is_kept(tx, email) for email in left)


def _address(tx: ReadTx, account: AccountId) -> str:
    found = accounts.get(tx, account)
    return found.address if found else "the second approver"


def _is_kept(tx: ReadTx, email: EmailId) -> bool:
    return any(place.view is None and place.role not in _AWAY for place, _ in messages.locate(tx, email))
