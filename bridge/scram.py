"""SCRAM-SHA-256 (RFC 5802, RFC 7677), the server's half, read and computed without any IO.

Rule: what is kept of a password (StoredKey, ServerKey) can check a login and cannot make one. Channel binding is not
offered: a client that only could ("y") is let in, one that asks for it ("p=") is refused (RFC 5802 section 6). A fault
is a SaslError whose text holds nothing that the peer sent.
"""

import hashlib
import hmac
import stringprep
import unicodedata
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from dataclasses import dataclass
from typing import Final

from bridge.sasl import MAX_LOGIN, SaslError

NAME: Final = "SCRAM-SHA-256"
ITERATIONS: Final = 600_000
"""RFC 7677 asks for 4096 at least; this is what is advised for PBKDF2 with SHA-256 today. The client pays for it."""
NONCE_BYTES: Final = 18
_GS2: Final = frozenset({"n", "y"})
_PROHIBITED: Final = (
    stringprep.in_table_c12, stringprep.in_table_c21_c22, stringprep.in_table_c3, stringprep.in_table_c4,
    stringprep.in_table_c5, stringprep.in_table_c6, stringprep.in_table_c7, stringprep.in_table_c8,
    stringprep.in_table_c9,
)  # packed, to be seen at a glance  # fmt: skip


@dataclass(frozen=True, slots=True)
class Verifier:
    """What is kept of one password; `iterations` of PBKDF2 made it, with the salt of its account."""

    iterations: int
    stored_key: bytes
    server_key: bytes


@dataclass(frozen=True, slots=True)
class ClientFirst:
    """The client's first message: who it says it is, its nonce, and the parts that are signed as they came."""

    login: str
    nonce: str
    gs2: bytes
    bare: bytes


@dataclass(frozen=True, slots=True)
class ClientFinal:
    """The client's second message; `without_proof` is what is signed of it."""

    nonce: str
    binding: bytes
    proof: bytes
    without_proof: bytes


def saslprep(text: str) -> str:
    """RFC 4013, as both sides prepare a password; one that it does not allow stays as it is, and then has to match."""
    kept = (char for char in text if not stringprep.in_table_b1(char))
    mapped = "".join(" " if stringprep.in_table_c12(char) else char for char in kept)
    made = unicodedata.normalize("NFKC", mapped)
    return text if any(test(char) for char in made for test in _PROHIBITED) or not made else made


def verifier(password: str, salt: bytes, iterations: int = ITERATIONS) -> Verifier:
    """Derive what is kept. Takes as long as `iterations` ask for: not in the loop."""
    salted = hashlib.pbkdf2_hmac("sha256", saslprep(password).encode(), salt, iterations)
    return Verifier(iterations, _hash(_hmac(salted, b"Client Key")), _hmac(salted, b"Server Key"))


def read_first(message: bytes) -> ClientFirst:
    """`n,,n=login,r=nonce`. An authzid must be the login: nobody acts for another here. Raises SaslError."""
    flag, authzid, bare = _split_first(_text(message))
    if flag not in _GS2:
        raise SaslError("channel binding is not offered")
    parts = bare.split(",")
    if not parts[0].startswith("n=") or len(parts) < 2 or not parts[1].startswith("r="):  # "m=": section 5.1, refuse
        raise SaslError("the first message is not one of SCRAM")
    login, nonce = _name(parts[0][2:]), parts[1][2:]
    if authzid and (not authzid.startswith("a=") or _name(authzid[2:]) != login):
        raise SaslError("acting for another user is not offered")
    if not login or len(login) > MAX_LOGIN or not nonce or not _printable(nonce):
        raise SaslError("the first message is not one of SCRAM")
    return ClientFirst(unicodedata.normalize("NFC", login), nonce, f"{flag},{authzid},".encode(), bare.encode())


def _split_first(text: str) -> tuple[str, str, str]:
    flag, first, rest = text.partition(",")
    authzid, second, bare = rest.partition(",")
    if not first or not second:
        raise SaslError("the first message is not one of SCRAM")
    return flag, authzid, bare


def server_first(first: ClientFirst, nonce: str, salt: bytes, iterations: int) -> bytes:
    """The challenge; `nonce` is the server's own part."""
    return b"r=%b,s=%b,i=%d" % ((first.nonce + nonce).encode(), b64encode(salt), iterations)


def read_final(message: bytes) -> ClientFinal:
    """`c=biws,r=nonce,p=proof`. Raises SaslError."""
    text = _text(message)
    without_proof, comma, proof = text.rpartition(",p=")
    parts = without_proof.split(",")
    if not comma or len(parts) < 2 or not parts[0].startswith("c=") or not parts[1].startswith("r="):
        raise SaslError("the second message is not one of SCRAM")
    return ClientFinal(parts[1][2:], _base64(parts[0][2:]), _base64(proof), without_proof.encode())


def answers(first: ClientFirst, challenge: bytes, final: ClientFinal) -> bool:
    """Whether the second message belongs to this exchange: the same nonce, and the header that was sent before."""
    nonce = challenge[2:].partition(b",")[0]
    return hmac.compare_digest(final.nonce.encode(), nonce) and final.binding == first.gs2


def server_final(first: ClientFirst, challenge: bytes, final: ClientFinal, used: Verifier) -> bytes:
    """The server's own proof that it knows the password."""
    return b"v=" + b64encode(_hmac(used.server_key, _signed(first, challenge, final)))


def opens(first: ClientFirst, challenge: bytes, final: ClientFinal, kept: Verifier) -> bool:
    """Whether the proof was made with the password that this was kept of."""
    return _opens(kept, _signed(first, challenge, final), final.proof)


def _signed(first: ClientFirst, challenge: bytes, final: ClientFinal) -> bytes:
    return b",".join((first.bare, challenge, final.without_proof))


def _opens(kept: Verifier, signed: bytes, proof: bytes) -> bool:
    if len(proof) != len(kept.stored_key):
        return False
    signature = _hmac(kept.stored_key, signed)
    client_key = bytes(a ^ b for a, b in zip(proof, signature, strict=True))
    return hmac.compare_digest(_hash(client_key), kept.stored_key)


def _hmac(key: bytes, data: bytes) -> bytes:
    return hmac.digest(key, data, "sha256")


def _hash(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def _text(message: bytes) -> str:
    try:
        text = message.decode()
    except UnicodeDecodeError:
        raise SaslError("the message is not UTF-8") from None
    if "\0" in text:
        raise SaslError("the message must not hold NUL")
    return text


def _name(text: str) -> str:
    """A saslname: "," and "=" are written =2C and =3D."""
    if "=" in text.replace("=2C", "").replace("=3D", ""):
        raise SaslError("the login is not written as SCRAM asks")
    return text.replace("=2C", ",").replace("=3D", "=")


def _printable(nonce: str) -> bool:
    return all("!" <= char <= "~" for char in nonce)


def _base64(text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except (NotBase64, ValueError):
        raise SaslError("the message is not base64") from None
