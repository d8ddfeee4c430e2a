"""Watched mailboxes as triggers: each new mail out there begins a run here, once.

The rule: what was seen and what it set off are one transaction, so that a crash anywhere begins exactly one run.
Nothing that was there before the watch began ever counts, and what the program itself sent sets nothing off.
"""

import asyncio
import hashlib
import logging
from typing import Final

from agents import trigger
from agents.events import TriggerChanged, TriggerRemoved
from agents.runtime import Runtime
from agents.trigger import Trigger
from agents.trigger_event import Delivery
from bridge.post.hooks import is_echo
from bridge.post.incoming import attachments
from bridge.post.material import material
from bridge.watch import NotNow, Place, Watch
from config.settings import Settings, WatchedMailbox
from mailstore import accounts, mailboxes, messages, threads
from mailstore.errors import StoreError
from mailstore.model import AccountId, Role, ThreadId
from mailstore.parse import normalise
from mailstore.sqlite import ReadTx, WriteTx
from mailstore.store import Prepared, Store

log = logging.getLogger(__name__)

KIND: Final = "mailbox"
_DAY_MS: Final = 86_400_000


def owner_of(settings: Settings, name: str) -> str:
    """The name of the account that may watch a mailbox of the settings; empty when there is none of this name."""
    watched = settings.mailboxes.get(name)
    return "" if watched is None else watched.account or settings.user


class Watched:
    """Keeps one watch for each active trigger of this kind. `start` when everything works, `close` before it ends."""

    def __init__(self, store: Store, runtime: Runtime, settings: Settings) -> None:
        self._store = store
        self._runtime = runtime
        self._settings = settings
        self._watches: dict[str, Watch] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._works = False
        store.on(TriggerChanged, self._changed)
        store.on(TriggerRemoved, self._removed)

    async def start(self) -> None:
        """Begin to watch what is active."""
        self._works = True
        await self._look()

    async def close(self) -> None:
        """Stop every watch; mails being handed over are finished first."""
        self._works = False
        for ident in list(self._watches):
            self._end(ident)
        if self._closing:
            await asyncio.wait(set(self._closing))

    def _changed(self, tx: WriteTx, event: TriggerChanged) -> None:
        item = trigger.find(tx, event.trigger)
        if item is None or item.kind != KIND:
            return
        if item.state != "active":  # what comes meanwhile is not made up for
            tx.run("bridge.outside.forget_places", mailbox=_prefix(item.id))
        tx.after(self._look_soon)

    def _removed(self, tx: WriteTx, event: TriggerRemoved) -> None:
        tx.run("bridge.outside.forget_places", mailbox=_prefix(event.trigger))
        tx.after(self._look_soon)

    def _look_soon(self) -> None:
        if self._works:
            self._keep(asyncio.create_task(self._look(), name="watched mailboxes"))

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _look(self) -> None:
        """Watch what is active, and nothing else."""
        active = {item.id: item for item in self._store.read(lambda tx: self._runtime.automations.active(tx, KIND))}
        for ident in [ident for ident in self._watches if ident not in active]:
            self._end(ident)
        for item in active.values():
            if self._works and item.id not in self._watches:
                await self._begin(item)

    async def _begin(self, item: Trigger) -> None:
        far = self._settings.mailboxes.get(item.name)
        if far is None or not self._store.read(lambda tx: self._is_owner(tx, item)):
            why = f'there is no mailbox "{item.name}" of yours in the settings'
            await self._store.write(lambda tx: self._fail(tx, item.id, why))
            return
        if item.id in self._watches:
            return
        reader = _Reader(self._store, self._runtime, item.id, far)
        watch = Watch(far, reader, far.max_bytes, from_yesterday=False, tell=reader.complain)
        self._watches[item.id] = watch
        watch.start()

    def _is_owner(self, tx: ReadTx, item: Trigger) -> bool:
        owner = accounts.get(tx, AccountId(item.account))
        return owner is not None and owner.name == owner_of(self._settings, item.name)

    def _fail(self, tx: WriteTx, ident: str, why: str) -> None:
        item = trigger.find(tx, ident)
        if item is not None and item.state == "active":
            self._runtime.automations.fail(tx, item, why)

    def _end(self, ident: str) -> None:
        self._keep(asyncio.create_task(self._watches.pop(ident).close(), name=f"end of watch {ident}"))


class _Reader:
    """bridge.watch.Reader of one trigger."""

    def __init__(self, store: Store, runtime: Runtime, ident: str, far: WatchedMailbox) -> None:
        self._store = store
        self._runtime = runtime
        self._ident = ident
        self._far = far
        self._where = f"{far.username}@{far.host}/{far.mailbox}"

    def place(self) -> Place | None:
        return self._store.read(self._place)

    def _place(self, tx: ReadTx) -> Place | None:
        row = tx.one("bridge.outside.place", mailbox=_prefix(self._ident) + self._where)
        return Place(row["uidvalidity"], row["next_uid"]) if row else None

    async def take(self, raw: bytes | None, place: Place) -> None:
        """One mail, and the place behind it, in one transaction."""
        try:
            prepared = await asyncio.to_thread(self._store.prepare, normalise(raw)) if raw is not None else None
            await self._store.write(lambda tx: self._take(tx, prepared, place))
        except (StoreError, NotNow):
            raise  # the mail is fetched again when there is room for it
        except Exception:  # one mail that breaks the reader must not end the watch, nor come again for ever
            log.exception("a mail of a watched mailbox could not be read", extra={"trigger": self._ident})
            await self._store.write(lambda tx: self._pass_over(tx, place, "a mail that could not be read"))

    async def complain(self, why: str) -> None:
        """The mailbox has not been readable for a while: say so by mail, once a day."""
        await self._store.write(lambda tx: self._complain(tx, why))

    def _complain(self, tx: WriteTx, why: str) -> None:
        item = trigger.find(tx, self._ident)
        if item is None or item.state != "active":
            return
        self._runtime.automations.note(tx, item, f"cannot read the mailbox: {why}")
        self._notice(tx, item, f"down.{tx.now // _DAY_MS}", _DOWN.format(name=item.name, why=why))

    def _take(self, tx: WriteTx, prepared: Prepared | None, place: Place) -> None:
        item = trigger.find(tx, self._ident)
        if item is None or item.state != "active":
            return
        known = self._place(tx)
        self._read_to(tx, place)
        if prepared is not None:
            self._deliver(tx, item, prepared, place)
        elif known is None:
            self._runtime.automations.note(tx, item, "began to watch")
        elif known.uidvalidity != place.uidvalidity:
            self._tell(tx, item, place, _RENUMBERED.format(name=item.name))
        else:
            self._tell(tx, item, place, _LARGE.format(name=item.name, most=self._far.max_bytes))

    def _read_to(self, tx: WriteTx, place: Place) -> None:
        where = _prefix(self._ident) + self._where
        tx.run("bridge.outside.read_to", mailbox=where, uidvalidity=place.uidvalidity, next_uid=place.next_uid)

    def _deliver(self, tx: WriteTx, item: Trigger, prepared: Prepared, place: Place) -> None:
        account, message, raw = AccountId(item.account), prepared.message, prepared.raw
        if self._is_echo(tx, item, prepared):
            self._runtime.automations.note(tx, item, "passed over, as it was our own mail or a machine's answer to it")
            return
        thread, key = ThreadId(int(item.thread)), f"{self._where}:{place.uidvalidity}:{place.next_uid - 1}"
        threads.ensure(tx, account, thread)
        box = mailboxes.by_role(tx, account, Role.ARCHIVE)
        kept = messages.append(tx, box, prepared, flags=("\\Seen",), key=f"{item.id}:{key}", thread=thread)
        delivery = Delivery(
            key=key,
            digest=hashlib.sha256(raw).hexdigest(),
            source=f'mail in "{item.name}"',
            text=material(kept.email, message, raw),
            message=f"E{kept.email}",
            message_id=message.message_id,
            attachments=attachments(kept.email, message),
        )
        taken = self._runtime.automations.deliver(tx, item, delivery)
        log.info("a watched mailbox has new mail", extra={"trigger": item.id, "outcome": taken.outcome})
        if not taken.is_kept and taken.outcome != "other":
            raise NotNow(taken.outcome)

    def _is_echo(self, tx: ReadTx, item: Trigger, prepared: Prepared) -> bool:
        """Our own mail come back, or a machine's answer to it: obeying either could go round for ever."""
        message = prepared.message
        if is_echo(tx, self._runtime, item.account, message):
            return True
        answered = (*message.in_reply_to, *message.references)
        from bridge.post.reading import machine_reason  # on first use: its patterns make a start slower

        machine = machine_reason(message, prepared.raw) is not None
        return machine and any(self._runtime.is_own(tx, item.account, one) for one in answered)

    def _pass_over(self, tx: WriteTx, place: Place, what: str) -> None:
        self._read_to(tx, place)
        item = trigger.find(tx, self._ident)
        if item is not None:
            self._tell(tx, item, place, f"Passed over in the watched mailbox: {what}. The log names the cause.")

    def _tell(self, tx: WriteTx, item: Trigger, place: Place, text: str) -> None:
        """A notice in the trigger's thread; the same place again is the same mail."""
        where = hashlib.sha256(f"{self._where}:{place.uidvalidity}:{place.next_uid}".encode()).hexdigest()[:24]
        self._notice(tx, item, where, text)

    def _notice(self, tx: WriteTx, item: Trigger, key: str, text: str) -> None:
        self._runtime.notice(
            tx,
            key=f"watched.{item.id}.{key}",
            account=item.account,
            agent=item.agent,
            thread=item.thread,
            subject=item.title,
            body=text,
        )


def _prefix(ident: str) -> str:
    return f"trigger {ident} "


_DOWN: Final = (
    'The watched mailbox "{name}" could not be read for a while: {why}. It is tried again every few minutes, and what '
    "came meanwhile is not missed.\n\nWhat to do: look at [mailboxes.{name}] in the settings, and at that server."
)
_RENUMBERED: Final = (
    'The mailbox "{name}" was made anew by its server: its mails have new numbers. Nothing that is in it now begins a '
    "task; what comes from now on does."
)
_LARGE: Final = (
    'A mail in the watched mailbox "{name}" is larger than {most} bytes and was left where it is; no task was begun '
    "for it."
)
