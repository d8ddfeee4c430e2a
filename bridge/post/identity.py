"""Whose mail is it, when nobody logged in to send it? A DKIM signature that we verify ourselves is the proof
(RFC 6376).

The rule: any doubt is a Doubt with a name, and a mail in doubt decides nothing. What other servers say of a mail
(Authentication-Results, ARC, Received-SPF) is never read: anybody can write it.
"""

import hashlib
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from bridge.from_line import from_address, from_values
from mailstore.model import Millis
from mailstore.parse import Message, normalise, parse

MAX_BYTES: Final = 4 * 1024 * 1024
MAX_SIGNATURES: Final = 8
EARLY_MS: Final = 10 * 60 * 1000
"""How far the clock of a signer may be ahead of ours."""
_HOUR_MS: Final = 3_600_000
_WANTED: Final = ("from", "to", "date", "message-id")
"""Header fields that an answer must have."""
_SIGNED: Final = (*_WANTED, "subject", "cc", "in-reply-to", "references")
"""Header fields that must be signed where they occur: whatever binds, dates or addresses the answer."""
_ONCE: Final = (
    *_SIGNED, "reply-to", "sender", "mime-version", "content-type", "content-transfer-encoding", "auto-submitted",
)  # packed, to be seen at a glance  # fmt: skip
"""Header fields that may occur once only: a second one could be added without breaking a signature."""
_NEAREST: Final = (
    "dns", "testing", "signature", "stale", "early", "expired", "framing", "header-unsigned", "length", "weak",
    "other-domain",
)  # packed, to be seen at a glance  # fmt: skip
_ALGORITHM: Final = b"rsa-sha256"
"""The one that counts. Who signs with Ed25519 signs with RSA too, as hardly anybody verifies Ed25519."""

Lookup = Callable[[bytes, float], bytes | None]
"""The TXT record of a name, or None when there is none. Raises KeyUnknown when that cannot be known now."""


class KeyUnknown(Exception):
    """The DNS gave no answer: whether there is a key is not known."""


@dataclass(frozen=True, slots=True)
class Proof:
    """The mail is from `address`: `domain` signed it with the key `selector` at `signed` (UTC ms)."""

    address: str
    domain: str
    selector: str
    signed: Millis
    signature: str
    """A hash of what the signer signed: the same mail has the same one, however it is delivered. The bytes of a
    signature would not do: they can be written in other ways that verify as well."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why the mail counts for nothing: a short name for the audit, and a sentence for people."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Terms:
    """What a signed mail is held to: addresses that may decide, how old a signature may be, the time now (UTC ms)."""

    allowed: Collection[str]
    fresh_hours: float
    now: Millis


def dns_txt(name: bytes, timeout: float) -> bytes | None:
    """Look a key up in the DNS. Blocks: call it in a thread. Raises KeyUnknown: a server that fails says nothing about
    the key, while one that knows no such name does.
    """
    from dns import resolver
    from dns.exception import DNSException

    try:
        found = resolver.resolve(name.decode("ascii"), "TXT", lifetime=timeout, search=False)
    except (resolver.NXDOMAIN, resolver.NoAnswer):
        return None
    except (DNSException, OSError, UnicodeError) as error:
        raise KeyUnknown(str(error) or type(error).__name__) from error
    return next((b"".join(record.strings) for record in found), None)


def prove(raw: bytes, terms: Terms, lookup: Lookup) -> Proof | Doubt:
    """Whether a mail, as it was fetched, is proven to come from an allowed address. Blocks for the DNS."""
    if len(raw) > MAX_BYTES:
        return Doubt("too-large", f"the mail is larger than {MAX_BYTES // (1024 * 1024)} MiB")
    if normalise(raw) != raw:
        return Doubt("malformed", "its lines do not end as those of a mail do: two programs could read two mails")
    message = parse(raw)
    address = _sender(message, raw)
    if isinstance(address, Doubt):
        return address
    if address.lower() not in {one.lower() for one in terms.allowed}:
        return Doubt("from", f"{address} is not one of the addresses that may decide")
    fault = _header_fault(message)
    return fault or _best(raw, message, address, terms, lookup)


def sender_of(raw: bytes) -> str:
    """The one From address of a mail, in lower case, or "": what it claims, which proves nothing."""
    values = from_values(_head(raw))
    return (from_address(values[0]) or "").lower() if len(values) == 1 else ""


def _head(raw: bytes) -> bytes:
    return raw.partition(b"\r\n\r\n")[0] + b"\r\n"


def _sender(message: Message, raw: bytes) -> str | Doubt:
    values = from_values(_head(raw))
    if len(values) != 1:
        return Doubt("from-fields", f"it has {len(values)} From fields, and one is wanted")
    written = from_address(values[0])
    listed = [address.spec for address in message.envelope.from_]
    if written is None or not written.isascii() or [one.lower() for one in listed] != [written.lower()]:
        return Doubt("from-unclear", "its From field is not plainly one address")
    return written


def _header_fault(message: Message) -> Doubt | None:
    for name in _ONCE:
        if len(message.headers.raw(name)) > 1:
            return Doubt("doubled", f"its field {name.title()} occurs twice")
    for name in _WANTED:
        if name not in message.headers:
            return Doubt("missing", f"it has no field {name.title()}")
    return None


def _best(raw: bytes, message: Message, address: str, terms: Terms, lookup: Lookup) -> Proof | Doubt:
    """Try every signature: one that holds is enough, and one that does not does no harm."""
    values = message.headers.raw("dkim-signature")
    if not values:
        return Doubt("unsigned", "it is not signed (no DKIM signature)")
    doubts: list[Doubt] = []
    for index in range(min(len(values), MAX_SIGNATURES)):
        found = _try(raw, index, _Trial(message, address, terms), lookup)
        if isinstance(found, Proof):
            return found
        doubts.append(found)
    return _nearest(doubts)


def _nearest(doubts: list[Doubt]) -> Doubt:
    """The doubt of the signature that came closest, which is the one worth telling."""
    return min(doubts, key=lambda doubt: _NEAREST.index(doubt.name) if doubt.name in _NEAREST else len(_NEAREST))


@dataclass(frozen=True, slots=True)
class _Trial:
    message: Message
    address: str
    terms: Terms


def _try(raw: bytes, index: int, trial: _Trial, lookup: Lookup) -> Proof | Doubt:
    """Check one signature: first what it promises, then whether it holds."""
    import dkim

    try:
        signed = dkim.DKIM(raw)
        field = [value for name, value in signed.headers if name.lower() == b"dkim-signature"][index]
        tags: Mapping[bytes, bytes] = dkim.util.parse_tag_value(field)
    except (dkim.DKIMException, dkim.util.InvalidTagValueList, ValueError, IndexError):
        return Doubt("malformed-signature", "its signature cannot be read")
    if fault := _promise_fault(tags, trial, raw):
        return fault
    if fault := _hold_fault(signed, index, tags, trial, lookup):
        return fault
    domain, selector = _text(tags, b"d"), _text(tags, b"s")
    at = _signed_at(tags, trial.message) or 0
    return Proof(trial.address.lower(), domain, selector, at, _content(trial.message, raw))


def _content(message: Message, raw: bytes) -> str:
    """A hash of the fields that must be signed and of the text, without what canonicalisation (RFC 6376 section 3.4)
    leaves open: how white space is spread.
    """
    fields = [b" ".join(b" ".join(message.headers.raw(name)).split()) for name in _SIGNED]
    lines = (b" ".join(line.split()) for line in raw[message.root.body_start :].split(b"\r\n"))
    return hashlib.sha256(b"\r\n".join([*fields, *lines]).rstrip()).hexdigest()


def _text(tags: Mapping[bytes, bytes], name: bytes) -> str:
    return tags.get(name, b"").decode("ascii", "replace").strip().lower()


def _promise_fault(tags: Mapping[bytes, bytes], trial: _Trial, raw: bytes) -> Doubt | None:
    """What is wrong with a signature even if it holds."""
    if not {b"b", b"bh", b"d", b"s", b"h", b"a"} <= set(tags):
        return Doubt("malformed-signature", "its signature lacks a part")
    if tags[b"a"].strip() != _ALGORITHM:
        return Doubt("weak", f"it is signed with {_text(tags, b'a')}, which does not count here")
    if b"l" in tags:
        return Doubt("length", "only the beginning of its text is signed (l=), so text could be added")
    if not aligned(trial.address.rpartition("@")[2], _text(tags, b"d")):
        return Doubt("other-domain", f"it is signed by {_text(tags, b'd')}, which does not speak for {trial.address}")
    named = {name.strip().lower() for name in tags[b"h"].decode("ascii", "replace").split(":")}
    for name in _SIGNED:
        if name in trial.message.headers and name not in named:
            return Doubt("header-unsigned", f"its field {name.title()} is not signed")
    encoded = "content-transfer-encoding" in named
    return _age_fault(tags, trial) or (None if "content-type" in named else _framing_fault(trial.message, raw, encoded))


def aligned(of: str, by: str) -> bool:
    """Whether the domain `by` speaks for addresses of the domain `of`: it is the same, or one above it."""
    of, by = of.lower(), by.lower()
    return of == by or ("." in by and of.endswith(f".{by}"))


def _signed_at(tags: Mapping[bytes, bytes], message: Message) -> Millis | None:
    """When it was signed; without a time of signing the Date, which is signed too."""
    stamp = tags.get(b"t", b"").strip()
    return int(stamp) * 1000 if re.fullmatch(rb"[0-9]{1,12}", stamp) else message.sent


def _age_fault(tags: Mapping[bytes, bytes], trial: _Trial) -> Doubt | None:
    signed, terms = _signed_at(tags, trial.message), trial.terms
    if signed is None or signed < terms.now - terms.fresh_hours * _HOUR_MS:
        return Doubt("stale", f"it was signed more than {terms.fresh_hours:g} hours ago, or does not say when")
    if signed > terms.now + EARLY_MS:
        return Doubt("early", "it was signed in the future")
    ends = tags.get(b"x", b"").strip()
    if ends and (not re.fullmatch(rb"[0-9]{1,12}", ends) or int(ends) * 1000 < terms.now):
        return Doubt("expired", "its signature has expired")
    return None


def _framing_fault(message: Message, raw: bytes, encoded: bool) -> Doubt | None:
    """Where the signer did not sign Content-Type (Gmail does not), somebody else could have written it: then the body
    must itself confirm how it is cut, or be one part of text."""
    root = message.root
    body = raw[root.body_start :]
    if root.type == "multipart":
        first = body.partition(b"\r\n")[0]
        boundary = first[2:].rstrip(b" \t")
        if first.startswith(b"--") and boundary and body.rstrip(b"\r\n").endswith(b"--" + boundary + b"--"):
            same = re.search(rb'boundary="?' + re.escape(boundary) + rb'"?', _head(raw), re.IGNORECASE)
            if same is not None:
                return None
    elif root.media_type == "text/plain" and not body.startswith(b"--") and (encoded or _is_readable(message)):
        return None
    return Doubt("framing", "its Content-Type is not signed, and its text could be cut otherwise than it was written")


def _is_readable(message: Message) -> bool:
    """Whether the text stands in a mail as it is written: whoever calls it base64 can make other text of it."""
    encoding = (message.headers.get("content-transfer-encoding") or "7bit").strip().lower()
    return encoding in ("7bit", "8bit", "binary", "quoted-printable")


def _hold_fault(signed: Any, index: int, tags: Mapping[bytes, bytes], trial: _Trial, lookup: Lookup) -> Doubt | None:
    """Whether the signature holds, with the key that the DNS gives, and whether that key is for such mail."""
    import dkim

    unknown: list[str] = []
    records: list[bytes] = []

    def ask(name: bytes, timeout: float = 5) -> bytes | None:
        try:
            found = lookup(name, timeout)
        except KeyUnknown as error:
            unknown.append(str(error))
            return None
        records.append(found or b"")
        return found

    broken = (dkim.DKIMException, dkim.asn1.ASN1FormatError, dkim.crypto.UnparsableKeyError)
    why = "its signature does not hold, or its key is not there"
    try:
        holds = signed.verify(index, dnsfunc=ask)
    except (*broken, ValueError, TypeError, LookupError, ArithmeticError) as error:
        holds, why = False, f"its signature does not hold ({_short(error)})"
    if unknown or not holds:
        return _lost(unknown) or Doubt("signature", why)
    return _key_fault(dkim.util.parse_tag_value(records[-1]), tags, trial)


def _key_fault(key: Mapping[bytes, bytes], tags: Mapping[bytes, bytes], trial: _Trial) -> Doubt | None:
    """What the record of a key says against its use here (RFC 6376 section 3.6.1)."""

    def listed(name: bytes) -> set[bytes]:
        return {one.strip().lower() for one in key.get(name, b"").split(b":")} - {b""}

    by = _text(tags, b"d")
    if b"y" in listed(b"t"):
        return Doubt("testing", f"{by} marks its key as being tested (t=y), so that it counts for nothing")
    if listed(b"h") and b"sha256" not in listed(b"h"):
        return Doubt("weak", f"the key of {by} is meant for another kind of signature")
    spoken_for = {trial.address.rpartition("@")[2].lower(), _text(tags, b"i").rpartition("@")[2] or by}
    if b"s" in listed(b"t") and spoken_for != {by}:
        return Doubt("other-domain", f"the key of {by} does not speak for the domains below it (t=s)")
    return None


def _lost(unknown: list[str]) -> Doubt | None:
    return Doubt("dns", "the key of its signature could not be looked up now") if unknown else None


def _short(error: Exception) -> str:
    text = " ".join(str(error).split())
    return "".join(char for char in text if char.isprintable())[:80] or type(error).__name__
