"""The courier: what the runtime wrote for the user becomes a message in their mailbox.

The rule: the append and the outbox row's "sent" are one transaction, and the append carries the row's key, so that
whatever happens in between, one row is one message.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from agents import lookup
from agents.letter import Kind, Outgoing
from agents.runtime import Runtime
from bridge.post import threadindex
from bridge.post.compose import Frame, compose
from bridge.post.ports import ref
from config.settings import Settings
from mailstore import accounts, mailboxes, messages, threads
from mailstore.errors import Full
from mailstore.model import ACTION_LABEL, AccountId, Appended, EmailId, Millis, Role, ThreadId
from mailstore.parse import parse
from mailstore.sqlite import ReadTx, WriteTx
from mailstore.store import Prepared, Store

log = logging.getLogger(__name__)

_RETRY_SECONDS: Final = 30.0
_HELP = "help"


class Courier:
    """One task; `wake` after a commit that queued mail. Losing a wake loses nothing: a start looks for itself."""

    def __init__(self, store: Store, runtime: Runtime, settings: Settings, clock: Callable[[], Millis]) -> None:
        self._store = store
        self._runtime = runtime
        self._settings = settings
        self._clock = clock
        self._bell = asyncio.Event()
        self._displays = {name: agent.display or name.capitalize() for name, agent in settings.agents.items()}

    def wake(self) -> None:
        """There may be mail to deliver."""
        self._bell.set()

    async def run(self) -> None:
        """Deliver until cancelled."""
        while True:
            self._bell.clear()
            waiting = self._store.read(self._runtime.take_letters)
            delivered = [await self._deliver(letter) for letter in waiting]
            if not all(delivered):
                await self._pause()
            elif not waiting:
                await self._bell.wait()

    async def _deliver(self, outgoing: Outgoing) -> bool:
        """Deliver one. False: not now (the disk is full, or it failed and is tried again later)."""
        try:
            await self.deliver(outgoing)
        except Full:
            log.error("the disk is full: mail for the user waits", extra={"key": outgoing.key})
            return False
        except Exception:  # one letter that cannot be written must not keep back the others, nor end the courier
            log.exception("a letter could not be delivered", extra={"key": outgoing.key})
            return False
        return True

    async def deliver(self, outgoing: Outgoing) -> None:
        """Write one mail and put it where it belongs. Raises Full."""
        frame = self._store.read(lambda tx: self._frame(tx, outgoing))
        raw = compose(outgoing, frame)
        prepared = await asyncio.to_thread(self._store.prepare, raw) if outgoing.files else self._store.prepare(raw)
        await self._store.write(lambda tx: self._put(tx, outgoing, prepared))

    async def _pause(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_RETRY_SECONDS):  # wait_for of Python 3.11 can lose a cancel
                await self._bell.wait()

    def _frame(self, tx: ReadTx, outgoing: Outgoing) -> Frame:
        owner = accounts.get(tx, AccountId(outgoing.account))
        if owner is None:
            raise LookupError(f"the account of {outgoing.key} was removed")
        return Frame(
            domain=self._settings.domain,
            user=owner.name,
            user_address=owner.address,
            display=self._displays.get(outgoing.agent, outgoing.agent.capitalize()),
            references=_references(tx, owner.id, outgoing.in_reply_to),
            topic=_topic(outgoing.subject),
            at=self._clock(),
        )

    def _put(self, tx: WriteTx, outgoing: Outgoing, prepared: Prepared) -> None:
        if outgoing.kind is Kind.ACTIVITY and outgoing.activity is not None:
            put = self._put_activity(tx, outgoing, prepared, outgoing.activity.replaces)
        elif outgoing.kind is Kind.AUTOMATION:
            put = self._put_automation(tx, outgoing, prepared)
        elif outgoing.kind is Kind.MEMORY:
            put = _put_series(tx, outgoing, prepared, Role.MEMORY, outgoing.series, "$Note", None)
        else:
            put = self._put_letter(tx, outgoing, prepared)
        self._runtime.mark_delivered(tx, outgoing.key, ref(put.email))

    def _put_letter(self, tx: WriteTx, outgoing: Outgoing, prepared: Prepared) -> Appended:
        account, thread = AccountId(outgoing.account), ThreadId(int(outgoing.thread))
        threads.ensure(tx, account, thread)
        threads.alias(tx, account, thread, str(threads.index_alias(threadindex.root(outgoing.thread))))
        request = outgoing.request
        waits = request is not None and lookup.is_open(tx, outgoing.account, request.id)
        if request is not None:
            threads.alias(tx, account, thread, str(threads.code_alias(request.code)))
        return messages.append(
            tx,
            mailboxes.by_role(tx, account, Role.INBOX),
            prepared,
            flags=() if outgoing.unread else ("\\Seen",),
            key=f"out:{outgoing.key}",
            labels=(ACTION_LABEL,) if waits else (),
            thread=thread,
        )

    def _put_activity(self, tx: WriteTx, outgoing: Outgoing, prepared: Prepared, series: str) -> Appended:
        state = f"$Run-{outgoing.state.replace(' ', '-')}"  # a keyword is an atom: no spaces
        return _put_series(tx, outgoing, prepared, Role.ACTIVITY, series, state, None)

    def _put_automation(self, tx: WriteTx, outgoing: Outgoing, prepared: Prepared) -> Appended:
        """A trigger's message stands in the thread that the trigger was set in, so that answers to it do too."""
        account, thread = AccountId(outgoing.account), ThreadId(int(outgoing.thread))
        threads.ensure(tx, account, thread)
        state = f"$Trigger-{outgoing.state}"
        return _put_series(tx, outgoing, prepared, Role.AUTOMATIONS, outgoing.series, state, thread)


def _put_series(
    tx: WriteTx, outgoing: Outgoing, prepared: Prepared, role: Role, series: str, state: str, thread: ThreadId | None
) -> Appended:
    """Put the newest message of a series in the place of the one before, seen, with its state as a keyword."""
    account = AccountId(outgoing.account)
    old = tx.value("bridge.shown.get", account=account, series=series)
    put = messages.replace(
        tx,
        mailboxes.by_role(tx, account, role),
        None if old is None else EmailId(old),
        prepared,
        flags=("\\Seen", state),
        key=f"out:{outgoing.key}",
        thread=thread,
    )
    tx.run("bridge.shown.set", account=account, series=series, email=put.email)
    return put


def _references(tx: ReadTx, account: AccountId, answered: str | None) -> tuple[str, ...]:
    """The References of the mail that is answered, for the chain of the answer (RFC 5322 3.6.4)."""
    found = messages.by_message_id(tx, account, answered) if answered else []
    if not found:
        return ()
    info = messages.email(tx, found[-1])
    if info is None:
        return ()
    parsed = parse(messages.body(tx, info.content, 0, 64 * 1024))
    return parsed.references or parsed.in_reply_to


def _topic(subject: str) -> str:
    """The subject without its reply marks: what Outlook calls the topic."""
    while subject[:3].lower() == "re:":
        subject = subject[3:].lstrip()
    return subject
