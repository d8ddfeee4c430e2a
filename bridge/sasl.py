"""What SASL mechanisms carry (RFC 4616 PLAIN, the old LOGIN), read without any IO; SMTP and IMAP share it.

The rule: a fault is a SaslError whose text may be shown to the peer and holds nothing that the peer sent.
"""

import binascii
import unicodedata
from base64 import b64decode
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Final

MECHANISMS: Final = ("PLAIN", "LOGIN")
MAX_RESPONSE: Final = 12288  # RFC 4954 section 4: the longest line of an exchange
MAX_LOGIN: Final = 320
MAX_PASSWORD: Final = 1024


class SaslError(Exception):
    """The peer's answer cannot be read."""


class SaslCancelled(SaslError):
    """The peer gave the exchange up with "*"."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a peer claims. The password is in no text form of it."""

    login: str
    password: str = field(repr=False)


Exchange = Generator[bytes, bytes, Credentials]


def decode_response(line: bytes) -> bytes:
    """A base64 line of an exchange, decoded. "=" is the empty answer, "*" raises SaslCancelled."""
    line = line.strip()
    if line == b"*":
        raise SaslCancelled("authentication cancelled")
    if line == b"=":
        return b""
    if len(line) > MAX_RESPONSE:
        raise SaslError("the answer is too long")
    try:
        return b64decode(line, validate=True)
    except binascii.Error:
        raise SaslError("the answer is not base64") from None


def exchange(mechanism: str, initial: bytes | None) -> Exchange:
    """The exchange as a generator: yields challenges (before base64), is sent decoded answers, returns credentials.

    `initial` is the decoded initial response, None when there was none. Raises SaslError, at once for an unknown one.
    """
    match mechanism.upper():
        case "PLAIN":
            return _plain(initial)
        case "LOGIN":
            return _login(initial)
    raise SaslError("this mechanism is not offered")


def parse_plain(message: bytes) -> Credentials:
    """authzid NUL authcid NUL password. An authzid must be empty or equal the authcid: nobody acts for another here."""
    parts = message.split(b"\0")
    if len(parts) != 3:
        raise SaslError("PLAIN needs three parts")
    authzid, authcid, password = parts
    if authzid not in (b"", authcid):
        raise SaslError("acting for another user is not offered")
    return credentials(authcid, password)


def credentials(login: bytes, password: bytes) -> Credentials:
    """Login and password as text (UTF-8, NFC as RFC 8265 asks). Raises SaslError."""
    if not login or not password:
        raise SaslError("login and password must not be empty")
    if len(login) > MAX_LOGIN or len(password) > MAX_PASSWORD:
        raise SaslError("login or password is too long")
    if b"\0" in login + password:
        raise SaslError("login and password must not hold NUL")
    try:
        return Credentials(_text(login), _text(password))
    except UnicodeDecodeError:
        raise SaslError("login and password must be UTF-8") from None


def _text(value: bytes) -> str:
    return unicodedata.normalize("NFC", value.decode())


def _plain(initial: bytes | None) -> Exchange:
    return parse_plain((yield b"") if initial is None else initial)


def _login(initial: bytes | None) -> Exchange:
    login = (yield b"Username:") if initial is None else initial
    password = yield b"Password:"
    return credentials(login, password)
