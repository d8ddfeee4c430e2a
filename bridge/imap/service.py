"""The IMAP server: what its sessions share, how many there may be, and the one clock that looks after idle ones.

Rule: one timer for all sessions. Hundreds of idle clients cost a walk over a set every few seconds, and nothing else.
"""

import asyncio
import ssl
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

from bridge.auth import Authenticator, Identity
from bridge.imap.command import Farewell, Refused
from bridge.imap.dialect import Dialect, Feature
from bridge.imap.items.flags import FlagTexts
from bridge.imap.ordering import OrderMemory
from bridge.imap.recents import Recents
from bridge.imap.registry import dialects_for
from bridge.imap.session import Session
from bridge.imap.states import State
from bridge.imap.view import Shelf
from bridge.imap.wire.codes import Code
from bridge.imap.wire.framer import FramerLimits
from bridge.net.limits import ConnectionLimits
from bridge.net.transport import Pump
from config.settings import Settings
from mailstore import flags
from mailstore.errors import StoreError
from mailstore.model import Mailbox, MailboxId
from mailstore.sqlite import ReadTx
from mailstore.store import Store

SWEEP_SECONDS: Final = 10.0
LOGIN_SECONDS: Final = 120.0  # a connection that has not logged in by then is dropped
KEEP_ALIVE_SECONDS: Final = 120.0  # during IDLE something is said this often: keeps routers awake, finds dead peers
STOP_SECONDS: Final = 5.0
CONNECTIONS: Final = 5000
CONNECTIONS_OF_PEER: Final = 200


def _stands(password: int, tx: ReadTx) -> bool:
    return tx.one("bridge.passwords.get", id=password) is not None


class ImapService:
    """Made once the store is open. `protocol_factory` is what a listener calls for each connection."""

    def __init__(
        self,
        store: Store,
        auth: Authenticator,
        settings: Settings,
        tls: ssl.SSLContext | None,
        *,
        dialect: Dialect | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.store = store
        self.auth = auth
        self.settings = settings
        self.tls = tls
        self.clock = clock
        self.dialects = (dialect, dialect) if dialect else dialects_for(settings.imap)  # plain, TLS
        self.shelf = Shelf()
        self.recents = Recents()
        self.order_memory = OrderMemory()
        self.flag_texts = FlagTexts()
        largest = settings.imap.append_limit
        self.framer_limits = FramerLimits(append=largest, appends=max(largest, FramerLimits().appends))
        self._limits = ConnectionLimits(CONNECTIONS, CONNECTIONS_OF_PEER)
        self._pumps: dict[Session, Pump] = {}
        self._accounts: Counter[int] = Counter()
        self._later: dict[Session, asyncio.TimerHandle] = {}
        self._claims: set[MailboxId] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._sweeper: asyncio.TimerHandle | None = None
        self._closing = False
        self._empty: asyncio.Future[None] | None = None

    def protocol_factory(self, implicit_tls: bool) -> Callable[[], asyncio.Protocol]:
        """A factory of protocols, one a connection; with `implicit_tls` the listener has wrapped the port in TLS.

        Each listener has the extensions that the settings give it.
        """
        return partial(self._connect, self.dialects[implicit_tls])

    def _connect(self, dialect: Dialect) -> Pump:
        session = Session(self, dialect)
        pump = Pump(session)
        self._pumps[session] = pump
        if self._sweeper is None and not self._closing:
            self._sweeper = asyncio.get_running_loop().call_later(SWEEP_SECONDS, self._sweep_again)
        return pump

    # Host, for sessions

    def admit(self, session: Session) -> Farewell | None:
        if self._closing:
            return Farewell("Shutting down", Code.UNAVAILABLE.value)
        if not self._limits.admit(session.wire.peer):
            return Farewell("Too many connections; try again later", Code.UNAVAILABLE.value)
        session.admitted = True
        return None

    def count_in(self, session: Session, identity: Identity) -> None:
        if self._accounts[identity.account] >= self.settings.imap.max_sessions:
            raise Refused("This account has too many sessions open", Code.LIMIT.value)
        self._accounts[identity.account] += 1

    def count_out(self, session: Session) -> None:
        if session.identity is not None:
            self._accounts[session.identity.account] -= 1

    def forget(self, session: Session) -> None:
        if self._pumps.pop(session, None) is None:
            return
        if session.admitted:
            self._limits.leave(session.wire.peer)
        self.count_out(session)
        later = self._later.pop(session, None)
        if later is not None:
            later.cancel()
        if self._empty is not None and not self._pumps and not self._empty.done():
            self._empty.set_result(None)

    def note_claim(self, mailbox: Mailbox) -> None:
        if mailbox.id not in self._claims:
            self._claims.add(mailbox.id)
            task = asyncio.ensure_future(self._claim(mailbox))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _claim(self, mailbox: Mailbox) -> None:
        self._claims.discard(mailbox.id)  # a claim made from here on needs another round
        with suppress(StoreError):  # \\Recent is not worth an error; the next claim catches up
            await self.store.write(lambda tx: flags.claim_recent(tx, mailbox))

    def rouse(self, session: Session) -> None:
        pump = self._pumps.get(session)
        if pump is not None:
            pump.rouse()

    def push_later(self, session: Session, seconds: float) -> None:
        if session not in self._later:
            self._later[session] = asyncio.get_running_loop().call_later(seconds, self._push, session)

    def _push(self, session: Session) -> None:
        self._later.pop(session, None)
        session.push()

    # Looking after sessions

    @property
    def sessions(self) -> tuple[Session, ...]:
        return tuple(self._pumps)

    def _sweep_again(self) -> None:
        self._sweeper = None
        self.sweep()
        if self._pumps and not self._closing:
            self._sweeper = asyncio.get_running_loop().call_later(SWEEP_SECONDS, self._sweep_again)

    def sweep(self) -> None:
        """Log out who was silent too long, say something to who has been idle for a while, drop who does not close."""
        self._end_revoked()
        now = self.clock()
        for session, pump in tuple(self._pumps.items()):
            silent = now - session.touched
            allowed = LOGIN_SECONDS if session.state is State.FRESH else self.settings.imap.idle_seconds
            if session.state is State.OVER:
                pump.abort()
            elif silent >= allowed and not session.working:
                session.goodbye("Logged out after a long silence")
            elif silent >= allowed and not pump.writable:
                pump.abort()  # in the middle of an answer that nobody reads
            elif session.working and silent >= SWEEP_SECONDS and session.dialect.has(Feature.PROGRESS):
                session.progress()
            elif session.idling and now - max(session.pushed_at, session.touched) >= KEEP_ALIVE_SECONDS:
                session.keep_alive()

    def _end_revoked(self) -> None:
        """Whoever took a password away, and however: its sessions end with the next sweep."""
        used = {session.identity.password_id for session in self._pumps if session.identity is not None}
        for password in used:
            if not self.store.read(partial(_stands, password)):
                self.end_sessions(password)

    def end_sessions(self, password_id: int) -> int:
        """End the sessions that were opened with a password that has been revoked; how many there were."""
        ended = 0
        for session in self.sessions:
            identity = session.identity
            if session.state is not State.OVER and identity is not None and identity.password_id == password_id:
                session.goodbye("The password of this device was revoked")
                ended += 1
        return ended

    async def close(self) -> None:
        """Say BYE to everybody; who has a command under way, or does not take the BYE, gets a few seconds."""
        self._closing = True
        if self._sweeper is not None:
            self._sweeper.cancel()
        for session in self.sessions:
            session.goodbye("Postroom is shutting down")
        if self._pumps:
            self._empty = asyncio.get_running_loop().create_future()
            await asyncio.wait((self._empty,), timeout=STOP_SECONDS)
        for pump in tuple(self._pumps.values()):
            pump.abort()
        if self._tasks:
            await asyncio.wait(self._tasks)
