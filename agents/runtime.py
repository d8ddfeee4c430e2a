"""The runtime's face: everything that the rest of the program may ask of the agents.

The rule: what changes a run takes the caller's transaction, so that a mail and what it does are one commit; what runs
by itself is woken by `tx.after` and finds its work in the rows.
"""

import asyncio
import logging
import secrets
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from agents import (
    activity,
    approvals,
    audit,
    clerk,
    ending,
    grants,
    mails,
    outbox,
    recovery,
    requests,
    runs,
    store,
    threads,
    words,
)
from agents.approvals import Decided, Decision
from agents.automations import Automations
from agents.ids import message_id
from agents.letter import Kind, Letter, Outgoing
from agents.llm import Model
from agents.memory import Memory
from agents.office import Office, agent_profiles
from agents.ports import Clock, Database, Mail, Probe, ReadTx, Relay, WriteTx
from agents.profile import Profile
from agents.requests import RequestInfo
from agents.runner import Runner
from agents.runs import Received
from agents.sender import Sender
from agents.threads import Point
from agents.throttle import Throttle
from agents.timer import Timer
from agents.toolbox import Toolbox
from agents.words import Word
from agents.worker import Worker
from config.settings import Settings

_log = logging.getLogger(__name__)
GRACE: Final = 3.0
ACTIVITY_PAUSE: Final = 2.0
CATCH_UP: Final = 50
HOUR: Final = 3_600_000
NOTICES_AN_HOUR: Final = 30
"""Answers of the program in one thread in an hour: whatever writes to us that fast is not a person."""
_ENOUGH: Final = "This thread had many answers of the program. For the next hour it gets no more of them."


class _Bells:
    """The wake-ups of one runtime; silent until it has started."""

    def __init__(self) -> None:
        self.on_runs: Callable[[], None] = _silent
        self.on_mail: Callable[[], None] = _silent
        self.on_clock: Callable[[], None] = _silent
        self.on_stop: Callable[[str], None] = _silent_about
        self.on_activity: Callable[[str], None] = _silent_about

    def runs(self) -> None:
        self.on_runs()

    def mail(self) -> None:
        self.on_mail()

    def clock(self) -> None:
        self.on_clock()

    def stop(self, run: str) -> None:
        self.on_stop(run)

    def activity(self, run: str) -> None:
        self.on_activity(run)


def _silent() -> None:
    """Nobody listens yet: the start looks at the rows."""


def _silent_about(run: str) -> None:
    """Nobody listens yet: the start looks at the rows."""


class Runtime:
    """Agents at work on one database. Make one, `start()` it, hand it letters and decisions, `stop()` it."""

    def __init__(
        self,
        db: Database,
        settings: Settings,
        *,
        models: Mapping[str, Model],
        tools: Toolbox,
        skills: Mapping[str, Profile],
        relay: Relay,
        mail: Mail,
        clock: Clock,
        probe: Probe | None = None,
    ) -> None:
        self._db = db
        self._bells = _Bells()
        name = relay.name if relay.configured else ""
        agents = agent_profiles(settings)
        if clerk.TAG in models:
            agents[clerk.TAG] = clerk.PROFILE
        zone = settings.zone()
        self._office = Office(settings, clock, tools, models, agents, skills, self._bells, mail, name, zone)
        self.automations = Automations(self._office, db)
        self.memory = Memory(self._office, db)
        self.boot = secrets.token_hex(8)
        runner = Runner(self._office, db, self.boot, Throttle(), probe)
        self._worker = Worker(self._office, db, runner)
        self._sender = Sender(self._office, db, relay, probe)
        self._timer = Timer(self._office, db)
        self._stopping = False
        self._touched: dict[str, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Take over what an earlier start left, then work. The data folder's lock must be held."""
        await self._db.write(lambda tx: recovery.recover(tx, self._office, self.boot))
        self._bells.on_runs = self._worker.look
        self._bells.on_mail = self._sender.look
        self._bells.on_clock = self._timer.arm
        self._bells.on_stop = self._worker.stop_run
        self._bells.on_activity = self._touch
        self._sender.look()
        await self._timer.tick()
        self._worker.look()
        self._spawn(self._catch_up(), "activity of before")

    async def stop(self, grace: float = GRACE) -> None:
        """Finish what is in hand within `grace` seconds; what is not finished is taken up by the next start."""
        self._stopping = True
        for handle in self._touched.values():
            handle.cancel()
        self._touched.clear()
        self._bells.on_activity = _silent_about
        await self._timer.close()
        await self._worker.close(grace)
        await self._sender.close()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def tick(self) -> None:
        """Look at the clock now (after a clock was set by hand, as tests do)."""
        await self._timer.tick()

    async def idle(self) -> None:
        """Wait until no run is in hand."""
        await self._worker.idle()

    def _touch(self, run: str) -> None:
        """Activity shows a run's new state within two seconds, however often it changes."""
        if run not in self._touched:
            loop = asyncio.get_running_loop()
            self._touched[run] = loop.call_later(ACTIVITY_PAUSE, self._show, run)

    def _show(self, run: str) -> None:
        self._touched.pop(run, None)
        self._spawn(self.show_activity(run), f"activity {run}")

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._shown)

    async def _catch_up(self) -> None:
        """Show what an earlier start did not come to show: a few runs in a transaction, however many there are."""
        after = ""
        while not self._stopping:
            runs = self._db.read(partial(_stale, after=after))
            if not runs:
                return
            await self._db.write(partial(_show_all, office=self._office, runs=runs))
            after = runs[-1]

    def _shown(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            _log.error("activity could not be written; the next change tries again", exc_info=task.exception())

    async def show_activity(self, run: str) -> None:
        """Write a run's Activity message now, unless it has ended (its last one is written then)."""
        await self._db.write(lambda tx: _show(tx, self._office, run))

    def receive(self, tx: WriteTx, letter: Letter) -> Received:
        """Take a letter in, in the transaction that accepts the mail: it starts a run or feeds the active one."""
        return runs.receive(tx, self._office, letter)

    def thread_word(self, tx: WriteTx, account: int, thread: str, word: str, letter: Letter) -> Word:
        """Act on stop, retry, continue, status, help, "raise to 2 EUR", or "rename to Notes"."""
        return words.thread_word(tx, self._office, account, thread, word, letter)

    def is_thread_word(self, text: str) -> bool:
        """Whether a whole new text is a thread word."""
        return words.is_word(text)

    def point(self, tx: ReadTx, account: int, message_ids: Iterable[str], thread: str | None = None) -> Point | None:
        """The mail of ours that a fork goes on from: the first of these, else the newest of a thread."""
        found = (threads.point(tx, account, one) for one in message_ids)
        named = next((one for one in found if one is not None), None)
        return named or (threads.newest_point(tx, account, thread) if thread is not None else None)

    def fork(self, tx: WriteTx, account: int, thread: str, origin: Point) -> None:
        """Let a new thread go on from a mail of another one."""
        threads.fork(tx, self._office, account, thread, origin)

    def forked(self, tx: ReadTx, account: int, thread: str) -> Point | None:
        """What a thread goes on from, if it was forked."""
        return threads.forked(tx, account, thread)

    def cancel_thread(self, tx: WriteTx, account: int, thread: str, why: str) -> int:
        """Stop every run of a thread; returns how many. Each still sends its last mail."""
        rows = tx.all("agents.runs.active_of_thread", account=account, thread=thread)
        return sum(ending.cancel(tx, self._office, store.to_run(row), why) for row in rows)

    def forget_thread(self, tx: WriteTx, account: int, thread: str) -> None:
        """Delete everything of a thread but keys, Message-IDs and the audit trail; what runs in it is stopped."""
        ending.forget_thread(tx, self._office, account, thread)

    def cancel_run(self, tx: WriteTx, account: int, run: str, why: str) -> bool:
        """Stop one run of an account. False: there is none, or it has ended."""
        row = tx.one("agents.runs.get", run=run)
        return row is not None and row["account"] == account and ending.cancel(tx, self._office, store.to_run(row), why)

    def decide(self, tx: WriteTx, decision: Decision) -> Decided:
        """Apply a user's decision; the first one wins, every other is told what was decided."""
        return approvals.decide(tx, self._office, decision)

    def find_request(
        self,
        tx: ReadTx,
        account: int,
        *,
        token: str | None = None,
        message_id: str | None = None,
        code: str | None = None,
    ) -> RequestInfo | None:
        """A request of this account by one of its marks."""
        return requests.find(tx, account, token=token, message_id=message_id, code=code)

    def request(self, tx: ReadTx, account: int, request: str) -> RequestInfo | None:
        """A request of this account by its id (as events name it)."""
        row = tx.one("agents.requests.get", request=request, account=account)
        return requests.info(tx, store.to_request(row)) if row else None

    def waiting(self, tx: ReadTx, account: int) -> list[RequestInfo]:
        """The open requests of an account, oldest first."""
        return requests.waiting(tx, account)

    def grants(self, tx: ReadTx, account: int) -> list[grants.Grant]:
        """The standing approvals of an account."""
        return grants.of_account(tx, account, self._office.now())

    def revoke_grant(self, tx: WriteTx, account: int, grant: str, by: str = "", via: str = "") -> bool:
        """Take a standing approval back, by its id or its code."""
        found = grants.named(tx, account, self._office.now(), grant)
        return found is not None and grants.revoke(tx, self._office.now(), account, found.id, by, via)

    def take_letters(self, tx: ReadTx, limit: int = outbox.TAKE) -> list[Outgoing]:
        """Mails for the user's own mailboxes that wait, oldest first."""
        return outbox.take_letters(tx, limit)

    def mark_delivered(self, tx: WriteTx, key: str, mail_ref: str) -> bool:
        """A mail stands in its mailbox; call it in the transaction that appended it."""
        return outbox.mark_delivered(tx, self._office, key, mail_ref)

    def outgoing(self, tx: ReadTx, key: str) -> Outgoing | None:
        """A mail of the outbox by its key."""
        return outbox.get(tx, key)

    def is_own(self, tx: ReadTx, account: int, message_id: str) -> bool:
        """Whether a Message-ID was made here for this account."""
        return outbox.is_own(tx, account, message_id)

    def notice(
        self,
        tx: WriteTx,
        *,
        key: str,
        account: int,
        agent: str,
        thread: str,
        subject: str,
        body: str,
        in_reply_to: str | None = None,
    ) -> bool:
        """Queue a mail of the program itself, False when there are too many of them in this thread. The same key again
        is the same mail."""
        since = self._office.now() - HOUR
        lately = tx.value("agents.outbox.notices_since", account=account, thread=thread, since=since)
        if lately >= NOTICES_AN_HOUR:
            audit.record(tx, self._office.now(), account, "notice.withheld", None, None, thread=thread)
            return False
        if lately == NOTICES_AN_HOUR - 1:
            body = f"{body}\n\n{_ENOUGH}"
        made = message_id(key, self._office.settings.domain)
        mail = Outgoing(
            key, Kind.NOTICE, account, agent, thread, subject, body, "notice", "", 0, made, in_reply_to=in_reply_to
        )
        return outbox.put(tx, self._office, mail)

    def display(self, agent: str) -> str:
        """The name a user reads for an agent or a skill."""
        return mails.display(self._office, agent)

    def trail(self, tx: ReadTx, account: int, limit: int = 100) -> list[audit.Entry]:
        """The newest entries of an account's audit trail, newest first."""
        return audit.of_account(tx, account, limit)

    def run_counts(self, tx: ReadTx, account: int) -> dict[str, int]:
        """How many runs of an account are in each state."""
        return {row["state"]: row["n"] for row in tx.all("agents.runs.counts", account=account)}


def _stale(tx: ReadTx, after: str) -> list[str]:
    """The next runs whose Activity message is older than they are."""
    return [row["id"] for row in tx.all("agents.runs.stale_activity", after=after, limit=CATCH_UP)]


def _show_all(tx: WriteTx, office: Office, runs: Sequence[str]) -> None:
    for run in runs:
        _show(tx, office, run)


def _show(tx: WriteTx, office: Office, run_id: str) -> None:
    run = store.find_run(tx, run_id)
    if run is not None and run.ended is None:
        activity.put(tx, office, run)
