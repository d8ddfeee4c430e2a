"""Who is it? A login and a password become an Identity; IMAP, SMTP and the web ask here and nowhere else.

The rule: an unknown user, a wrong password and a revoked one get the same answer in the same time; a limit is a
LoginLimited and never looks like a wrong password. A right password is checked by argon2 (in a thread, two at once) and
remembered for ten minutes as a keyed hash whose key dies with the process; whether it still stands is read every time.
"""

import asyncio
import hashlib
import logging
import secrets
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from bridge import passwords, scram
from bridge.identity import Identity
from bridge.net.limits import LoginLimited, LoginLimits
from bridge.passwords import Candidate, Hasher
from config.settings import Settings
from mailstore import accounts
from mailstore.errors import StoreError
from mailstore.model import Account, AccountId
from mailstore.sqlite import ReadTx, WriteTx

__all__ = ["Authenticator", "Identity", "LoginLimited"]

T = TypeVar("T")

_log = logging.getLogger(__name__)

CHECKS_AT_ONCE: Final = 2
CHECKS_WAITING: Final = 64
REMEMBER_SECONDS: Final = 600.0
REMEMBERED: Final = 1024


class Store(Protocol):
    """What is needed of mailstore.store.Store."""

    def read(self, fn: Callable[[ReadTx], T], /) -> T: ...
    def write(self, fn: Callable[[WriteTx], T], /) -> Awaitable[T]: ...


@dataclass(frozen=True, slots=True)
class Begun:
    """A SCRAM login whose challenge has been made."""

    first: scram.ClientFirst
    challenge: bytes
    peer: str


@dataclass(frozen=True, slots=True)
class _Remembered:
    password_id: int
    until: float


class Authenticator:
    """Made once; `close` when the server stops. `sleep`, `clock` and `hasher` are there to be replaced by tests."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        *,
        limits: LoginLimits | None = None,
        hasher: Hasher | None = None,
        iterations: int = scram.ITERATIONS,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._store = store
        self._domain = settings.domain
        self.offers_scram = settings.imap.offers_scram
        self._iterations = iterations
        self._clock = clock
        self._sleep = sleep
        self._limits = limits or LoginLimits(clock)
        self._hasher = hasher or passwords.default_hasher()
        self._key = secrets.token_bytes(32)
        self._remembered: OrderedDict[bytes, _Remembered] = OrderedDict()
        self._running: dict[bytes, asyncio.Task[Identity | None]] = {}
        self._decoy: str | None = None
        self._threads = ThreadPoolExecutor(CHECKS_AT_ONCE, thread_name_prefix="password")

    async def start(self) -> None:
        """Where SCRAM is not offered any more, forget what was kept for it: a thief would guess at it first."""
        if self.offers_scram or self._store.read(lambda tx: tx.value("bridge.scram.kept")) is None:
            return
        with suppress(StoreError):  # the disk is full; the next start forgets it
            await self._store.write(lambda tx: tx.run("bridge.scram.forget-all"))

    async def check(self, login: str, password: str, *, peer: str) -> Identity | None:
        """The identity, or None for a wrong login or password (after a delay). `peer` is the address of the client.

        Raises LoginLimited: too many attempts from this peer, or too many checks waiting.
        """
        self._limits.check(peer, login)
        started = self._clock()
        digest = self._digest(login, password)
        identity = self._recall(digest, login) or await self._check_once(digest, login, password)
        if identity is None:
            await self._refuse(peer, login, started)
            return None
        self._limits.succeeded(peer, login)
        return identity

    async def scram_begin(self, message: bytes, *, peer: str) -> Begun:
        """The challenge for a client's first message; the same for a login that nobody has.

        Raises SaslError for a message that cannot be read, LoginLimited as `check` does.
        """
        first = scram.read_first(message)
        self._limits.check(peer, first.login)
        salt = self._store.read(lambda tx: passwords.scram_salt(tx, self._name(tx, first.login), self._iterations))
        nonce = secrets.token_urlsafe(scram.NONCE_BYTES)
        return Begun(first, scram.server_first(first, nonce, salt.salt, salt.iterations), peer)

    async def scram_finish(self, begun: Begun, message: bytes) -> tuple[Identity, bytes] | None:
        """The identity and the server's own proof, or None for a wrong login or password (after a delay).

        Raises SaslError for a message that cannot be read, LoginLimited as `check` does. An attempt is this message:
        what a client takes to make it is no part of the delay, and exchanges begun side by side stay within the limit.
        """
        started = self._clock()
        self._limits.check(begun.peer, begun.first.login)
        final = scram.read_final(message)
        hit = self._store.read(lambda tx: self._proven(tx, begun, final))
        if hit is None:
            await self._refuse(begun.peer, begun.first.login, started)
            return None
        identity, used = hit
        self._limits.succeeded(begun.peer, begun.first.login)
        await self._note_use(identity.password_id)
        return identity, scram.server_final(begun.first, begun.challenge, final, used)

    async def _refuse(self, peer: str, login: str, started: float) -> None:
        """Count a wrong login, tell the log, and wait until the answer is due."""
        delay = self._limits.failed(peer, login)
        account = self._store.read(lambda tx: accounts.find(tx, login, self._domain))
        # Not the login itself: people type their password into that field.
        _log.warning("wrong password for %s from %s", account.name if account else "nobody here", peer)
        await self._sleep(max(0.0, started + delay - self._clock()))

    def _proven(self, tx: ReadTx, begun: Begun, final: scram.ClientFinal) -> tuple[Identity, scram.Verifier] | None:
        login = begun.first.login
        account = accounts.find(tx, login, self._domain)
        rows = [] if account is None else passwords.scram_candidates(tx, account.id, self._iterations)
        if not scram.answers(begun.first, begun.challenge, final):
            return None
        for password_id, kept in rows:
            if scram.opens(begun.first, begun.challenge, final, kept):
                identity = self._identity(tx, login, password_id)
                return None if identity is None else (identity, kept)
        return None

    def _name(self, tx: ReadTx, login: str) -> str:
        """The name that a salt is made of: the account's, or what would be the name of an account."""
        account = accounts.find(tx, login, self._domain)
        return account.name if account else login.lower().removesuffix("@" + self._domain.lower())

    def _salt_of(self, account: int) -> passwords.Salt | None:
        """What verifiers of this account's passwords are made with, if SCRAM is offered."""
        known = self._store.read(lambda tx: accounts.get(tx, AccountId(account))) if self.offers_scram else None
        if known is None:
            return None
        return self._store.read(lambda tx: passwords.scram_salt(tx, known.name, self._iterations))

    async def _learn(self, account: Account, hit: Candidate, password: str) -> None:
        """Keep what SCRAM needs of a password that has just been found right; once, and only where it is offered."""
        salt = self._salt_of(account.id)
        if salt is None or self._store.read(lambda tx: passwords.has_verifiers(tx, hit.id, salt.iterations)):
            return
        plain = passwords.plain_form(hit, password)
        found = await self._in_thread(lambda: passwords.verifiers(plain, salt, generated=hit.generated))
        with suppress(StoreError):  # the next login learns it
            await self._store.write(lambda tx: passwords.keep_verifiers(tx, hit.id, found))

    async def add_generated(self, account: int, label: str, *, hooks_only: bool = False) -> str:
        """Make a password for a device; the only time it is shown. Raises AlreadyExists, BadPassword."""
        password = passwords.generate()
        salt = self._salt_of(account)
        prepared = await self._in_thread(lambda: passwords.prepare_generated(password, self._hasher, salt))
        await self._store.write(lambda tx: passwords.add(tx, account, label, prepared, _now(), hooks_only=hooks_only))
        return password

    async def add_given(self, account: int, label: str, password: str, *, replace: bool = False) -> None:
        """Keep a password that the user chose. Raises AlreadyExists, BadPassword."""
        salt = self._salt_of(account)
        prepared = await self._in_thread(lambda: passwords.prepare_given(password, self._hasher, salt))
        await self._store.write(lambda tx: passwords.add(tx, account, label, prepared, _now(), replace=replace))

    async def revoke(self, account: int, label: str) -> bool:
        """Take a password away; False when there is none of this label. Open sessions are the caller's to end."""
        self._remembered.clear()
        return await self._store.write(lambda tx: passwords.revoke(tx, account, label))

    def close(self) -> None:
        """Forget everything and let the threads end."""
        self._remembered.clear()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _recall(self, digest: bytes, login: str) -> Identity | None:
        known = self._remembered.get(digest)
        if known is None:
            return None
        identity = None
        if self._clock() < known.until:
            identity = self._store.read(lambda tx: self._identity(tx, login, known.password_id))
        if identity is None:
            del self._remembered[digest]
        return identity

    async def _check_once(self, digest: bytes, login: str, password: str) -> Identity | None:
        """A client opens several connections at once: the same credentials are checked once for all of them."""
        task = self._running.get(digest)
        if task is None:
            if len(self._running) >= CHECKS_WAITING:
                raise LoginLimited(5.0)
            task = asyncio.ensure_future(self._verify(digest, login, password))
            self._running[digest] = task
            task.add_done_callback(lambda _: self._running.pop(digest, None))
        return await asyncio.shield(task)

    async def _verify(self, digest: bytes, login: str, password: str) -> Identity | None:
        account, rows = self._store.read(lambda tx: self._candidates(tx, login, password))
        hit = await self._in_thread(lambda: passwords.match(rows, password, self._hasher, self._decoy_hash))
        if account is None or hit is None:
            return None
        identity = self._store.read(lambda tx: self._identity(tx, login, hit.id))
        if identity is not None:
            self._remember(digest, hit.id)
            await self._note_use(hit.id)
            await self._learn(account, hit, password)
        return identity

    def _candidates(self, tx: ReadTx, login: str, password: str) -> tuple[Account | None, list[Candidate]]:
        account = accounts.find(tx, login, self._domain)
        return account, [] if account is None else passwords.candidates(tx, account.id, password)

    def _identity(self, tx: ReadTx, login: str, password_id: int) -> Identity | None:
        """The identity if the account still is there and the password still is its own."""
        account = accounts.find(tx, login, self._domain)
        row = tx.one("bridge.passwords.get", id=password_id)
        if account is None or row is None or row["account"] != account.id:
            return None
        return Identity(account.id, account.name, account.address, row["label"], password_id, bool(row["hooks_only"]))

    def _remember(self, digest: bytes, password_id: int) -> None:
        self._remembered[digest] = _Remembered(password_id, self._clock() + REMEMBER_SECONDS)
        while len(self._remembered) > REMEMBERED:
            self._remembered.popitem(last=False)

    async def _note_use(self, password_id: int) -> None:
        if self._store.read(lambda tx: tx.value("bridge.passwords.stale", id=password_id, now=_now())) is None:
            return
        with suppress(StoreError):  # a full disk must not keep anybody from reading their mail
            await self._store.write(lambda tx: tx.run("bridge.passwords.used", id=password_id, now=_now()))

    def _digest(self, login: str, password: str) -> bytes:
        return hashlib.blake2b(f"{login}\0{password}".encode(errors="surrogatepass"), key=self._key).digest()

    def _decoy_hash(self) -> str:
        if self._decoy is None:
            self._decoy = self._hasher.hash(secrets.token_hex(16))
        return self._decoy

    async def _in_thread(self, fn: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, fn)


def _now() -> int:
    return time.time_ns() // 1_000_000
