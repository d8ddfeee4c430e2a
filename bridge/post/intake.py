"""Intake: every mail that was kept is read and acted on, once: a task, an answer, a decision, a word to the program.

The rule: what a mail does and the end of its row are one transaction, so a crash repeats the reading and never the act.
A mail that cannot be read is said so by mail, and keeps nothing back.
"""

import asyncio
import json
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

from agents import lookup
from agents.runtime import Runtime
from bridge.post import notices
from bridge.post.accept import identity_key
from bridge.post.acting import Acting, Arrival
from bridge.post.content import stored
from bridge.post.incoming import Incoming, read
from bridge.post.sent import StoredSent
from config.settings import Settings
from mailstore import messages, threads
from mailstore.errors import Full
from mailstore.model import AccountId, EmailId, EmailInfo, Millis
from mailstore.parse import Message, parse
from mailstore.sqlite import ReadTx, WriteTx
from mailstore.store import Store

log = logging.getLogger(__name__)

_BATCH: Final = 20
_ATTEMPTS: Final = 3
_RETRY_SECONDS: Final = 30.0
_LOST: Final = (
    "Not done: before Postroom could read your mail, a mail client removed it from Sent or put another text with the "
    "same Message-ID in its place. Nothing was started or decided by it.\n\nWhat to do: send it again."
)
_BIG: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class _Loaded:
    info: EmailInfo
    raw: bytes
    incoming: Incoming


class Intake:
    """One task; `wake` after a commit that queued something. A start looks for itself."""

    def __init__(
        self, store: Store, runtime: Runtime, acting: Acting, settings: Settings, clock: Callable[[], Millis]
    ) -> None:
        self._store = store
        self._runtime = runtime
        self._acting = acting
        self._settings = settings
        self._clock = clock
        self._bell = asyncio.Event()

    def wake(self) -> None:
        """There may be mail to act on."""
        self._bell.set()

    async def run(self) -> None:
        """Act on mail until cancelled."""
        while True:
            self._bell.clear()
            rows = self._store.read(lambda tx: tx.all("bridge.arrivals.queued", limit=_BATCH))
            for row in rows:
                arrival = Arrival(
                    row["id"],
                    AccountId(row["account"]),
                    EmailId(row["email"]),
                    row["kind"] == "dropped",
                    tuple(json.loads(row["recipients"])),
                    row["key"],
                    row["via"],
                    row["at"],
                )
                if not await self._attempt(arrival, row["attempts"]):
                    await self._pause()
                    break
            if not rows:
                await self._bell.wait()

    async def _attempt(self, arrival: Arrival, attempts: int) -> bool:
        """Act on one mail. False: try again later."""
        try:
            if attempts >= _ATTEMPTS:
                await self._store.write(partial(self._give_up, arrival=arrival))
            else:
                await self.act(arrival)
        except Full:
            log.error("the disk is full: mail waits to be acted on", extra={"arrival": arrival.id})
            return False
        except Exception:  # a mail that breaks the reader must not stop the others, nor be lost: it is tried again
            log.exception("a mail could not be acted on", extra={"arrival": arrival.id, "attempt": attempts + 1})
            await self._store.write(lambda tx: tx.run("bridge.arrivals.attempt", id=arrival.id))
        return True

    async def act(self, arrival: Arrival) -> None:
        """Read one mail and do what it says."""
        loaded = await self._load(arrival)
        await self._store.write(lambda tx: self._act(tx, arrival, loaded))

    async def _load(self, arrival: Arrival) -> _Loaded | None:
        """The mail and its reading; None when it was destroyed meanwhile."""
        found = self._store.read(partial(stored, account=arrival.account, email=arrival.email))
        if found is None:
            return None
        info, raw = found
        if len(raw) > _BIG:
            return await self._store.read_slow(lambda tx: self._read(tx, arrival, info, raw))
        return self._store.read(lambda tx: self._read(tx, arrival, info, raw))

    def _read(self, tx: ReadTx, arrival: Arrival, info: EmailInfo, raw: bytes) -> _Loaded:
        message = parse(raw)
        sent = StoredSent(tx, self._runtime, arrival.account, self._settings.domain)
        weak = self._is_direct(tx, arrival, info, message)
        from bridge.post.reading import read_message  # on first use: its patterns make a start slower

        reading = read_message(message, raw, sent, languages=self._settings.languages, weak_ok=weak)
        return _Loaded(info, raw, read(arrival.email, raw, message, reading))

    def _is_direct(self, tx: ReadTx, arrival: Arrival, info: EmailInfo, message: Message) -> bool:
        """Whether a mail answers a request directly, and none of ours came later: then weak words count."""
        answered, account = message.in_reply_to, arrival.account
        if not lookup.is_newest(tx, account, str(info.thread), answered):
            return False
        return any(self._runtime.find_request(tx, account, message_id=one) for one in answered)

    def _act(self, tx: WriteTx, arrival: Arrival, loaded: _Loaded | None) -> None:
        if tx.value("bridge.arrivals.state", id=arrival.id) != "queued":
            return
        if loaded is None or not _is_what_came(arrival, loaded):
            state = self._tell_lost(tx, arrival, loaded)
        else:
            state = self._acting.act(tx, arrival, loaded.info, loaded.incoming)
        tx.run("bridge.arrivals.finish", id=arrival.id, state=state)

    def _tell_lost(self, tx: WriteTx, arrival: Arrival, loaded: _Loaded | None) -> str:
        """Nothing is done by a mail that is no longer there, or that another text has taken the place of."""
        if arrival.dropped:
            return "done"  # taken out of the folder again before it was looked at
        info = loaded.info if loaded else None
        asked = notices.Asked(
            arrival.account,
            str(info.thread if info else threads.new(tx, arrival.account)),
            info.subject if info else "",
            info.message_id if info else None,
            arrival.key,
        )
        notices.say(tx, self._runtime, asked, "help", _LOST)
        return "unreadable"

    def _give_up(self, tx: WriteTx, arrival: Arrival) -> None:
        info = messages.email(tx, arrival.email)
        if info is not None:
            body = (
                "Not done: Postroom could not read this mail, and nothing was started or decided by it. The mail is in "
                "Sent.\n\nWhat to do: send it again as plain text. The log of the server names the cause."
            )
            notices.say(tx, self._runtime, notices.Asked.of(info, arrival.key), "help", body)
        tx.run("bridge.arrivals.finish", id=arrival.id, state="unreadable")

    async def _pause(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_RETRY_SECONDS):  # wait_for of Python 3.11 can lose a cancel
                await self._bell.wait()


def _is_what_came(arrival: Arrival, loaded: _Loaded) -> bool:
    """Whether the text that is read is the one that was submitted: only submission acts, never what was appended."""
    if arrival.dropped:
        return True
    return identity_key(loaded.incoming.message.message_id, loaded.raw) == arrival.key.partition("#")[0]
