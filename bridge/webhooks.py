"""Webhooks as the web port serves them, without the web: who may call, and what became of a call.

The rule: the secret is checked before a byte of the body is read, a signature before the body is understood; a call is
answered after the commit that took it; no secret and no body is written down.
"""

import asyncio
import hashlib
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from agents import trigger
from agents.automations import Automations
from agents.trigger import Trigger
from agents.trigger_event import Delivery, Taken
from agents.trigger_secret import Opened
from bridge import signatures
from bridge.net.limits import LoginLimited, LoginLimits
from bridge.signatures import Claim, Unsigned
from config.secrets import SecretError
from config.settings import Settings, Signature
from mailstore import accounts
from mailstore.errors import Full
from mailstore.model import Millis
from mailstore.sqlite import ReadTx, WriteTx
from mailstore.store import Store

log = logging.getLogger(__name__)


delay: Callable[[float], Awaitable[None]] = asyncio.sleep
"""How a wrong secret is made to wait; tests do not."""


class NoSuchHook(Exception):
    """There is no webhook of this name, or webhooks are off."""


class WrongSecret(Exception):
    """There is one, and this is not its secret, or not its signature; the text says why where it can."""


class Unready(Exception):
    """A signature cannot be checked now, for want of a key."""


class TooOften(Exception):
    """Too many wrong secrets from this peer; `seconds` is how long to wait."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"too many wrong secrets, try again in {seconds:.0f} s")
        self.seconds = seconds


@dataclass(frozen=True, slots=True)
class Call:
    """A call whose secret was right. `key` is the sender's own name for it, or empty."""

    trigger: str
    name: str
    key: str
    body: bytes
    text: str


@dataclass(slots=True)
class Webhooks:
    """Made once."""

    store: Store
    kept: Automations
    settings: Settings
    now: Callable[[], Millis]
    limits: LoginLimits = field(default_factory=lambda: LoginLimits(time.monotonic))

    @property
    def max_bytes(self) -> int:
        return self.settings.webhooks.max_bytes

    async def open(self, account: str, name: str, secret: str, peer: str) -> str:
        """The trigger that these open. Raises NoSuchHook, WrongSecret (both after a delay), TooOften."""
        login = self._admit(account, name, peer)
        found = self.store.read(lambda tx: self._look(tx, account, name, secret))
        if found.trigger is None:
            await self._failed(peer, login)
            raise WrongSecret if found.named else NoSuchHook
        self.limits.succeeded(peer, login)
        return found.trigger.id

    def _admit(self, account: str, name: str, peer: str) -> str:
        """What this caller's failures are counted under. Raises NoSuchHook when webhooks are off, TooOften."""
        if not self.settings.webhooks.enabled:
            raise NoSuchHook
        login = f"{account}/{name}"[:200]
        try:
            self.limits.check(peer, login)
        except LoginLimited as limited:
            raise TooOften(limited.seconds) from None
        return login

    async def _failed(self, peer: str, login: str) -> None:
        log.warning("a webhook was called with a wrong name, secret or signature", extra={"peer": peer})
        await delay(self.limits.failed(peer, login))

    def signature(self, account: str, name: str) -> Signature | None:
        """How the calls of a webhook are signed, if they are."""
        if not self.settings.signatures:
            return None
        owner = self.store.read(lambda tx: accounts.find(tx, account, self.settings.domain))
        return signatures.of_webhook(self.settings, owner.name, name.lower()) if owner is not None else None

    async def claim(self, signed: Signature, account: str, headers: Mapping[str, str], peer: str) -> Claim:
        """What the headers of a signed call claim. Raises NoSuchHook, WrongSecret (both after a delay), TooOften."""
        login = self._admit(account, signed.name, peer)
        if self._signed_trigger(signed) is None:
            await self._failed(peer, login)
            raise NoSuchHook
        try:
            return signatures.claim(signed, headers, self.now() / 1000)
        except Unsigned as why:
            await self._failed(peer, login)
            raise WrongSecret(str(why)) from None

    async def open_signed(self, signed: Signature, account: str, made: Claim, body: bytes, peer: str) -> str:
        """The trigger that a signed body opens. Raises NoSuchHook, WrongSecret (after a delay), TooOften, Unready."""
        login = self._admit(account, signed.name, peer)
        try:
            key = signatures.key_bytes(signed, signed.key.reveal() if signed.key else "")
        except (SecretError, ValueError) as error:
            log.error("the key of a webhook's signature cannot be used", extra={"hook": signed.name, "why": str(error)})
            raise Unready from None
        if not signatures.fits(made, key, body):
            await self._failed(peer, login)
            raise WrongSecret("the signature is not that of this body under our key")
        item = self._signed_trigger(signed)
        if item is None:
            raise NoSuchHook
        self.limits.succeeded(peer, login)
        return item.id

    def _signed_trigger(self, signed: Signature) -> Trigger | None:
        def find(tx: ReadTx) -> Trigger | None:
            owner = accounts.find(tx, signatures.owner_of(self.settings, signed), self.settings.domain)
            return trigger.named(tx, owner.id, "webhook", signed.name) if owner is not None else None

        return self.store.read(find)

    def _look(self, tx: ReadTx, account: str, name: str, secret: str) -> Opened:
        owner = accounts.find(tx, account, self.settings.domain)
        return self.kept.open_by(tx, owner.id if owner else None, "webhook", name.lower(), secret)

    async def take(self, call: Call) -> Taken:
        """Take a call in, once for its key. A full disk is `full`."""
        delivery = Delivery(
            call.key, hashlib.sha256(call.body).hexdigest(), f'webhook "{call.name}"', call.text, refusable=True
        )
        try:
            taken = await self.store.write(lambda tx: self._take(tx, call.trigger, delivery))
        except Full:
            taken = Taken("full")
        log.info("a webhook was called", extra={"trigger": call.trigger, "outcome": taken.outcome})
        return taken

    def _take(self, tx: WriteTx, ident: str, delivery: Delivery) -> Taken:
        item = trigger.find(tx, ident)
        return self.kept.deliver(tx, item, delivery) if item is not None else Taken("off")
