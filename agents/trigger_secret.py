"""The secrets of webhooks and mail hooks: made here, shown once by whoever asked, kept as salted hashes.

The rule: a check costs the same whether there is such a trigger or not, and compares in constant time.
"""

import base64
import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import Final

from agents import audit, trigger
from agents.ports import ReadTx, WriteTx
from agents.rule import SpecFault
from agents.trigger import Trigger

SHORTEST: Final = 16
LONGEST: Final = 256
_ROUNDS: Final = 10_000
"""A few milliseconds: secrets made here need none of it, one that a person chose does."""

_DECOY: Final = (b"no such trigger.", b"\0" * 32)
WITH_SECRET: Final = ("webhook", "hook")


@dataclass(frozen=True, slots=True)
class Opened:
    """What a name and a secret open: a trigger, whatever its state; `named` says whether there is one of that name."""

    trigger: Trigger | None
    named: bool


def new_secret() -> str:
    """160 random bits as 32 small letters and digits, fit for a local part."""
    return base64.b32encode(secrets.token_bytes(20)).decode().lower()


def give(tx: WriteTx, now: int, item: Trigger, secret: str) -> None:
    """Keep a trigger's secret; the one before stops counting. Raises SpecFault for one that is too short or long."""
    if item.kind not in WITH_SECRET:
        raise SpecFault(f"{item.spec} has no secret")
    if not SHORTEST <= len(secret.encode()) <= LONGEST or not secret.isascii() or not secret.isprintable():
        raise SpecFault(f"a secret has {SHORTEST} to {LONGEST} printable ASCII characters")
    if item.kind == "hook" and (not secret.isalnum() or secret != secret.lower() or len(secret) > 40):
        raise SpecFault("the token of a mail hook has 16 to 40 small letters and digits")
    salt = secrets.token_bytes(16)
    tx.run("agents.triggers.keep_secret", trigger=item.id, salt=salt, hash=_hash(secret, salt), now=now)
    audit.record(tx, now, item.account, "trigger.secret", None, item.id)


def open_by(tx: ReadTx, account: int | None, kind: str, name: str, secret: str) -> Opened:
    """The trigger that a name and a secret open. `account` None: there is no such account, which costs as much."""
    item = trigger.named(tx, account, kind, name) if account is not None else None
    row = tx.one("agents.triggers.secret", trigger=item.id) if item is not None else None
    salt, kept = (bytes(row["salt"]), bytes(row["hash"])) if row is not None else _DECOY
    right = hmac.compare_digest(_hash(secret[: LONGEST + 1], salt), kept) and row is not None
    return Opened(item if right else None, item is not None)


def _hash(secret: str, salt: bytes) -> bytes:
    return hashlib.pbkdf2_hmac("sha256", secret.encode("utf-8", "surrogatepass"), salt, _ROUNDS)
