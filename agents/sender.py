"""The sender: takes mails for the outside world from the outbox to the relay, one at a time.

The rule (DECISIONS 30): `data_sent` is committed before a byte of the body is handed over. What fails before it is
sent again with the same Message-ID; what fails after it is unknown and asked about, never sent again by itself.
"""

import asyncio
import logging
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from agents import approvals, audit, journal, mails, outbox, requests, store, turn
from agents.effects import Outcome, watch
from agents.letter import File, OutsideMail
from agents.office import Office
from agents.ports import Database, Dispatch, MailNotFound, Probe, Relay, RelayRefused, RelayUncertain, WriteTx
from agents.states import CallState, OutboxState

_log = logging.getLogger(__name__)

MINUTE: Final = 60_000
HOUR: Final = 60 * MINUTE
WAITS: Final = (MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR)
PATIENCE: Final = 24 * HOUR
LONGEST_DELIVERY: Final = 900.0


class Withdrawn(Exception):
    """The mail was taken back before its body was handed over."""


class _Phases:
    """Tells the outbox how far a delivery is."""

    def __init__(self, db: Database, office: Office, key: str, point: Callable[[str], None]) -> None:
        self._db = db
        self._office = office
        self._key = key
        self._point = point

    async def data_sent(self) -> None:
        """From here on the body may have arrived. Raises Withdrawn when the mail was taken back."""
        moved = await self._db.write(
            lambda tx: phase(tx, self._office, self._key, OutboxState.SENDING, OutboxState.DATA_SENT)
        )
        if not moved:
            raise Withdrawn(self._key)
        self._point("mail.data_sent")


class Sender:
    """One task that sends what is queued; it sleeps until the bell."""

    def __init__(self, office: Office, db: Database, relay: Relay, probe: Probe | None) -> None:
        self._office = office
        self._db = db
        self._relay = relay
        self._probe = probe
        self._bell = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    def look(self) -> None:
        """Some mail may be queued or due. Also takes up the work again after a fault, such as a full disk."""
        self._bell.set()
        if not self._closed and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._work(), name="sender")
            self._task.add_done_callback(_log_fault)

    async def close(self) -> None:
        """Stop now; a mail that is being sent is taken up, or asked about, by the next start."""
        self._closed = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    def _point(self, name: str) -> None:
        if self._probe is not None:
            self._probe.point(name)

    async def _work(self) -> None:
        while True:
            await self._bell.wait()
            self._bell.clear()
            while (row := await self._db.write(lambda tx: _take(tx, self._office))) is not None:
                await self._send(row)

    async def _send(self, row: sqlite3.Row) -> None:
        key: str = row["key"]
        if not self._relay.configured:
            await self._db.write(lambda tx: failed(tx, self._office, key, "there is no relay to send it through"))
            return
        try:
            outside = await self._whole(row["account"], key)
        except MailNotFound:
            await self._db.write(lambda tx: failed(tx, self._office, key, "a file to attach is not there any more"))
            return
        dispatch = Dispatch(outside, row["message_id"], row["account"], row["agent"])
        self._point("mail.before")
        phases = _Phases(self._db, self._office, key, self._point)
        outcome = await watch(self._relay.deliver(dispatch, phases), LONGEST_DELIVERY)
        self._point("mail.after")
        await self._db.write(lambda tx: _settle(tx, self._office, key, outside, outcome))

    async def _whole(self, account: int, key: str) -> OutsideMail:
        """The mail with the files that go along. Raises MailNotFound."""
        mail, refs = self._db.read(lambda tx: (outbox.get(tx, key), outbox.refs(tx, key)))
        if mail is None or mail.mail is None:
            raise MailNotFound(key)
        found = [await self._office.mail.attachment(account, ref) for ref in refs]
        files = tuple(File(one.name, one.media_type, one.data) for one in found)
        return replace(mail.mail, attachments=mail.mail.attachments + files)


def _log_fault(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception() is not None:
        _log.error("the sender met a fault; it goes on at the next bell", exc_info=task.exception())


def _take(tx: WriteTx, office: Office) -> sqlite3.Row | None:
    """The next mail that is due, now in phase `sending`."""
    now = office.now()
    row = tx.one("agents.outbox.next_mail", now=now)
    if row is None:
        return None
    sent = tx.value("agents.outbox.sent_since", account=row["account"], agent=row["agent"], since=now - HOUR)
    if sent >= office.limits(row["agent"]).mails_per_hour:
        phase(
            tx, office, row["key"], OutboxState.QUEUED, OutboxState.QUEUED, "too many mails this hour", now + WAITS[1]
        )
        tx.after(office.bells.clock)
        return _take(tx, office)
    phase(tx, office, row["key"], OutboxState.QUEUED, OutboxState.SENDING)
    return row


def phase(
    tx: WriteTx,
    office: Office,
    key: str,
    was: OutboxState,
    state: OutboxState,
    reply: str = "",
    next_at: int | None = None,
) -> bool:
    """Move a mail from one phase to the next, if it is where it is thought to be."""
    now = office.now()
    at = now if next_at is None else next_at
    return bool(tx.run("agents.outbox.phase", key=key, was=was, state=state, reply=reply, next_at=at, now=now))


def _settle(tx: WriteTx, office: Office, key: str, mail: OutsideMail, outcome: Outcome) -> None:
    """Write down what came of one delivery."""
    row = tx.one("agents.outbox.get", key=key)
    if row is None or row["state"] == OutboxState.WITHDRAWN:
        return
    handed_over = row["state"] == OutboxState.DATA_SENT
    error = outcome.error
    if isinstance(outcome.value, str):
        _sent(tx, office, row, mail, outcome.value)
    elif isinstance(error, RelayRefused):
        _refused(tx, office, row, error)
    elif handed_over:
        text = (
            error.text
            if isinstance(error, RelayUncertain)
            else "the connection to the relay was lost after the mail was handed over"
        )
        uncertain(tx, office, row, text)
    else:
        if error is not None and not isinstance(error, RelayUncertain | OSError | TimeoutError):
            _log.error("a delivery met a fault of the program", exc_info=error)
        _later(tx, office, row, "the relay could not be reached")


def _sent(tx: WriteTx, office: Office, row: sqlite3.Row, mail: OutsideMail, reply: str) -> None:
    phase(tx, office, row["key"], OutboxState(row["state"]), OutboxState.SENT, reply)
    for address in mail.to:
        tx.run("agents.outbox.know", account=row["account"], address=address.lower(), now=office.now())
    audit.record(tx, office.now(), row["account"], "mail.sent", row["run"], row["key"], message_id=row["message_id"])
    text = f"The mail was sent to {', '.join(mail.to)} at {mails.clock_time(office.now())}."
    _end_call(tx, office, row, CallState.DONE, text)


def _refused(tx: WriteTx, office: Office, row: sqlite3.Row, error: RelayRefused) -> None:
    if error.permanent:
        failed(tx, office, row["key"], f"the relay refused it: {error.text}")
    else:
        _later(tx, office, row, error.text)


def _later(tx: WriteTx, office: Office, row: sqlite3.Row, why: str) -> None:
    """Not sent, and known not to be: try again later, for a day."""
    now = office.now()
    if now - row["created"] > PATIENCE:
        failed(tx, office, row["key"], f"after a day of trying: {why}")
        return
    wait = WAITS[min(row["attempt"], len(WAITS)) - 1]
    phase(tx, office, row["key"], OutboxState(row["state"]), OutboxState.QUEUED, why, now + wait)
    tx.after(office.bells.clock)


def failed(tx: WriteTx, office: Office, key: str, why: str) -> None:
    """A mail that will not be sent: its call fails and says why."""
    row = tx.one("agents.outbox.get", key=key)
    if row is not None and phase(tx, office, key, OutboxState(row["state"]), OutboxState.FAILED, why):
        audit.record(tx, office.now(), row["account"], "mail.failed", row["run"], key)
        _end_call(tx, office, row, CallState.FAILED, f"The mail was not sent: {why}")


def uncertain(tx: WriteTx, office: Office, row: sqlite3.Row, why: str) -> None:
    """A mail that may have been sent: the user is asked, unless its run has ended."""
    phase(tx, office, row["key"], OutboxState(row["state"]), OutboxState.UNKNOWN, why)
    call = store.get_call(tx, row["call"])
    if call.ended is None:
        approvals.doubt(tx, office, store.get_run(tx, call.run), [call], why)
        requests.requeue(tx, office, call.run)


def _end_call(tx: WriteTx, office: Office, row: sqlite3.Row, state: CallState, text: str) -> None:
    call = store.get_call(tx, row["call"])
    if call.ended is None and call.state is CallState.STARTED:
        journal.end_call(tx, office, call, turn.tell_changes(call, journal.Ending(state, text)))
        requests.requeue(tx, office, call.run)
