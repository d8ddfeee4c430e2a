"""Signatures of webhooks as services make them: HMAC-SHA256 with a key that both sides hold, over the bytes that came.

The rule: what the headers claim is looked at before a byte of the body is read, the signature before the body is
understood; a comparison takes constant time; a signed time counts for five minutes and no longer.
"""

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from config.settings import Settings, Signature

FRESH_SECONDS: Final = 300
"""How old a signed time may be."""

AHEAD_SECONDS: Final = 60
"""How far the sender's clock may be ahead. With FRESH_SECONDS this is less than the ten minutes for which the same
bytes are the same call (agents.trigger_event), so that nothing can be played again while it is fresh.
"""

MOST_SIGNATURES: Final = 8
"""Several are sent while a service changes its key."""

SHORTEST_KEY: Final = 16
_STANDARD_KEY: Final = "whsec_"
_TIME: Final = re.compile(r"[0-9]{1,12}")
_HEX: Final = re.compile(r"[0-9a-fA-F]{64}")

Headers = Mapping[str, str]
"""By name in lower case."""


class Unsigned(Exception):
    """The headers hold no signature that could count; the text says why, and may be told to the caller."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What the headers claim: signatures, one of which must fit `before` and the body, and the time they were made.

    `key` is the sender's own name for the call, where that is signed too.
    """

    signatures: tuple[bytes, ...]
    before: bytes = b""
    time: str | None = None
    key: str = ""


def of_webhook(settings: Settings, account: str, name: str) -> Signature | None:
    """How the calls of an account's webhook are signed, if they are."""
    signed = settings.signatures.get(name)
    return signed if signed is not None and owner_of(settings, signed) == account else None


def owner_of(settings: Settings, signed: Signature) -> str:
    """The name of the account whose webhook is signed so."""
    return signed.account or settings.user


def claim(signed: Signature, headers: Headers, now: float) -> Claim:
    """Read the headers. `now` is in seconds since 1970. Raises Unsigned."""
    made = _SCHEMES[signed.scheme](signed, headers)
    if not made.signatures:
        raise Unsigned(f"there is no signature in the way of {signed.scheme}")
    if made.time is not None:
        if _TIME.fullmatch(made.time) is None:
            raise Unsigned("the signature has no time")
        if not now - FRESH_SECONDS <= int(made.time) <= now + AHEAD_SECONDS:
            raise Unsigned("the signature is too old, or one of the two clocks is wrong")
    return made


def fits(made: Claim, key: bytes, body: bytes) -> bool:
    """Whether one of the signatures is that of the body."""
    right = hmac.new(key, made.before + body, hashlib.sha256).digest()
    return any(hmac.compare_digest(right, given) for given in made.signatures)


def key_bytes(signed: Signature, text: str) -> bytes:
    """The key as it signs. Raises ValueError when it is too short, or is not what the scheme gives out."""
    key = text.encode()
    if signed.scheme == "standard":
        try:
            key = base64.b64decode(text.removeprefix(_STANDARD_KEY), validate=True)
        except binascii.Error:
            raise ValueError("is not what Standard Webhooks gives out (whsec_ and base64)") from None
    if len(key) < SHORTEST_KEY:
        raise ValueError(f"is shorter than {SHORTEST_KEY} bytes")
    return key


def _github(_: Signature, headers: Headers) -> Claim:
    return Claim(_of_hex([_behind("sha256=", headers.get("x-hub-signature-256", ""))]))


def _stripe(_: Signature, headers: Headers) -> Claim:
    """`t=TIME,v1=HEX,v1=HEX`: the time, a full stop and the body are signed."""
    parts = [part.strip().partition("=") for part in headers.get("stripe-signature", "").split(",")]
    time = next((value for name, _, value in parts if name == "t"), "")
    return Claim(_of_hex([value for name, _, value in parts if name == "v1"]), f"{time}.".encode(), time)


def _slack(_: Signature, headers: Headers) -> Claim:
    time = headers.get("x-slack-request-timestamp", "").strip()
    return Claim(_of_hex([_behind("v0=", headers.get("x-slack-signature", ""))]), f"v0:{time}:".encode(), time)


def _standard(_: Signature, headers: Headers) -> Claim:
    """Standard Webhooks: `v1,BASE64` and more behind spaces; the id and the time are signed with the body."""
    ident, time = headers.get("webhook-id", "").strip(), headers.get("webhook-timestamp", "").strip()
    given = headers.get("webhook-signature", "").split()
    found = [_of_base64(_behind("v1,", one)) for one in given[:MOST_SIGNATURES]]
    return Claim(tuple(filter(None, found)) if ident else (), f"{ident}.{time}.".encode(), time, ident)


def _plain(signed: Signature, headers: Headers) -> Claim:
    """The body alone, in hex or base64, with or without `sha256=` before it."""
    said = headers.get(signed.header.lower(), "").strip()
    bare = said[7:] if said.lower().startswith("sha256=") else said
    return Claim(_of_hex([bare]) or tuple(filter(None, [_of_base64(bare)])))


def _behind(prefix: str, said: str) -> str:
    said = said.strip()
    return said[len(prefix) :] if said.startswith(prefix) else ""


def _of_hex(given: list[str]) -> tuple[bytes, ...]:
    return tuple(bytes.fromhex(one) for one in given[:MOST_SIGNATURES] if _HEX.fullmatch(one))


def _of_base64(text: str) -> bytes:
    try:
        made = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""
    return made if len(made) == hashlib.sha256().digest_size else b""


_SCHEMES: Final[Mapping[str, Callable[[Signature, Headers], Claim]]] = {
    "github": _github,
    "stripe": _stripe,
    "slack": _slack,
    "standard": _standard,
    "plain": _plain,
}
