"""Webhooks as the web port serves them, without the web: who may call, and what became of a call.

The rule: the secret is checked before a byte of the body is read; a call is answered after the commit that took it; a
secret is never written down, nor is any body.
"""

import asyncio
import hashlib
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from agents import trigger
from agents.automations import Automations
from agents.trigger_event import Delivery, Taken
from agents.trigger_secret import Opened
from bridge.net.limits import LoginLimited, LoginLimits
from config.settings import Settings
from mailstore import accounts
from mailstore.errors import Full
from mailstore.sqlite import ReadTx, WriteTx
from mailstore.store import Store

log = logging.getLogger(__name__)


delay: Callable[[float], Awaitable[None]] = asyncio.sleep
"""How a wrong secret is made to wait; tests do not."""


class NoSuchHook(Exception):
    """There is no webhook of this name, or webhooks are off."""


class WrongSecret(Exception):
    """There is one, and this is not its secret."""


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
    limits: LoginLimits = field(default_factory=lambda: LoginLimits(time.monotonic))

    @property
    def max_bytes(self) -> int:
        return self.settings.webhooks.max_bytes

    async def open(self, account: str, name: str, secret: str, peer: str) -> str:
        """The trigger that these open. Raises NoSuchHook, WrongSecret (both after a delay), TooOften."""
        if not self.settings.webhooks.enabled:
            raise NoSuchHook
        login = f"{account}/{name}"[:200]
        try:
            self.limits.check(peer, login)
        except LoginLimited as limited:
            raise TooOften(limited.seconds) from None
        found = self.store.read(lambda tx: self._look(tx, account, name, secret))
        if found.trigger is None:
            log.warning("a webhook was called with a wrong name or secret", extra={"peer": peer})
            await delay(self.limits.failed(peer, login))
            raise WrongSecret if found.named else NoSuchHook
        self.limits.succeeded(peer, login)
        return found.trigger.id

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
