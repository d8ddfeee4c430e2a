"""Identifiers, hashes and keys of the runtime.

The rule: a key that guards against doing a thing twice is made from row ids alone, never from text, so that an equal
later wish is a new one.
"""

import base64
import hashlib
import json
import secrets
from typing import Any, Final

_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_CODE_ALPHABET: Final = "23456789ABCDEFGHJKMNPQRSTVWXYZ"


def new_id(now: int) -> str:
    """26 characters: the time in ms, then 80 random bits (a ULID in lower case); sorts by time."""
    value = (now << 80) | secrets.randbits(80)
    return "".join(_ALPHABET[(value >> shift) & 31] for shift in range(125, -1, -5))


def canonical(value: Any) -> str:
    """JSON with one spelling for one value: sorted keys, no spaces."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def digest(value: Any) -> str:
    """SHA-256 of the canonical JSON, in hex."""
    return hashlib.sha256(canonical(value).encode("utf-8", "surrogatepass")).hexdigest()


def idem_key(run: str, seq: int, idx: int) -> str:
    """The key of one call: the same in every try, different for every other call."""
    return digest([run, seq, idx])[:40]


def new_token() -> str:
    """A request's secret: 128 random bits as 26 base32 characters, fit for a local part."""
    return base64.b32encode(secrets.token_bytes(16)).decode().rstrip("=").lower()


def new_code() -> str:
    """A short code to say aloud ("A-7F3K"); it finds a request and binds nothing."""
    return "A-" + "".join(secrets.choice(_CODE_ALPHABET) for _ in range(4))


def short_code(letter: str, row: str) -> str:
    """A short name for a row ("G-7F3KQ2"), always the same for its id; two rows of one account hardly share one."""
    value = int.from_bytes(hashlib.sha256(row.encode()).digest()[:8], "big")
    digits = []
    for _ in range(6):
        value, rest = divmod(value, len(_CODE_ALPHABET))
        digits.append(_CODE_ALPHABET[rest])
    return f"{letter}-{''.join(digits)}"


def message_id(key: str, domain: str) -> str:
    """The RFC Message-ID of the mail with this key: the same in every try, and short, as some clients fold long ones
    wrongly.
    """
    return f"<{hashlib.sha256(key.encode()).hexdigest()[:32]}@{domain}>"
