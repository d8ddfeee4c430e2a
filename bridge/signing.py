"""The signature under mail that leaves the bridge (DKIM, RFC 6376): the key, the signing, and the record for the DNS.

The rule: a mail is signed only with the key of its own From domain, and in full; a mail of another domain leaves as it
is. The key never leaves the data folder.
"""

import base64
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Final

from bridge.from_line import from_address, from_values
from config.paths import write_private
from config.settings import Relay

BITS: Final = 2048
_SIGNED: Final = (
    "from", "to", "cc", "subject", "date", "message-id", "in-reply-to", "references", "reply-to", "mime-version",
    "content-type", "content-transfer-encoding", "auto-submitted",
)  # packed, to be seen at a glance  # fmt: skip
"""Signed once each, whether there or not, so that none can be added; a second From cannot be added either."""
_CHUNK: Final = 255


def key_file(home: Path) -> Path:
    """Where the key lies in the data folder."""
    return home / "tls" / "dkim.pem"


def ensure_key(home: Path) -> bytes:
    """The private key as PEM (PKCS #1), made on first use, mode 0600."""
    file = key_file(home)
    if not file.exists():
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import rsa

        made = rsa.generate_private_key(public_exponent=65537, key_size=BITS)
        form, no_password = serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        write_private(file, made.private_bytes(serialization.Encoding.PEM, form, no_password))
    return file.read_bytes()


def dns_record(home: Path, selector: str, domain: str) -> tuple[str, str]:
    """The name and the value of the TXT record that lets others verify our signatures (RFC 6376 section 3.6)."""
    from cryptography.hazmat.primitives import serialization

    private = serialization.load_pem_private_key(ensure_key(home), None)
    kind, form = serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    public = base64.b64encode(private.public_key().public_bytes(kind, form)).decode()
    return f"{selector}._domainkey.{domain}.", f"v=DKIM1; k=rsa; p={public}"


def zone_line(name: str, value: str) -> str:
    """The record as a line of a zone file: a TXT string holds at most 255 bytes, so it is cut."""
    strings = " ".join(f'"{value[start : start + _CHUNK]}"' for start in range(0, len(value), _CHUNK))
    return f"{name} 3600 IN TXT ( {strings} )"


def signer(home: Path, relay: Relay | None) -> Callable[[bytes], bytes]:
    """What is done to a mail before it leaves: signing, where its From is of the configured domain."""
    if relay is None or not relay.dkim_domain:
        return _unsigned
    key = lru_cache(1)(lambda: ensure_key(home))
    domain = relay.dkim_domain.lower()
    return lambda raw: sign(raw, key(), relay.dkim_selector, domain) if domain_of(raw) == domain else raw


def _unsigned(raw: bytes) -> bytes:
    return raw


def domain_of(raw: bytes) -> str:
    """The domain of the one From address, in lower case; "" when there is not plainly one."""
    values = from_values(raw.partition(b"\r\n\r\n")[0] + b"\r\n")
    address = from_address(values[0]) if len(values) == 1 else None
    return (address or "").rpartition("@")[2].lower()


def sign(raw: bytes, key: bytes, selector: str, domain: str) -> bytes:
    """The mail with our signature as its first field. `raw` has CRLF line ends."""
    import dkim

    names = [*_SIGNED, "from"]
    field: bytes = dkim.DKIM(raw).sign(
        selector.encode(),
        domain.encode(),
        key,
        canonicalize=(b"relaxed", b"relaxed"),
        include_headers=[name.encode() for name in names],
    )
    return field + raw
