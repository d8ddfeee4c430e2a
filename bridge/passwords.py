"""Passwords of accounts: one a device, generated and readable, shown once, kept as argon2id hashes.

The rule: the plain text is returned once by `add` and never kept; every comparison is made by argon2.
A generated password is five groups of four letters and digits without look-alikes (99 bits). Its first group is kept in
clear to find the row (79 bits remain), so a login costs one check however many devices there are.
"""

import hmac
import secrets
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from bridge.sasl import MAX_PASSWORD
from bridge.scram import ITERATIONS, Verifier
from bridge.scram import verifier as make_verifier
from mailstore.errors import AlreadyExists
from mailstore.sqlite import ReadTx, WriteTx

ALPHABET: Final = "abcdefghjkmnpqrstuvwxyz23456789"
GROUP: Final = 4
GROUPS: Final = 5
MAX_LABEL: Final = 64


class BadPassword(ValueError):
    """A password or label that cannot be kept; the text says why."""


class Hasher(Protocol):
    """What this module needs of argon2; tests hand in a cheaper one."""

    def hash(self, password: str, /) -> str: ...
    def verify(self, hash: str, password: str, /) -> bool: ...


@dataclass(frozen=True, slots=True)
class Password:
    """One password as a list shows it. Times are UTC ms; `generated` is False for one that the user chose."""

    id: int
    label: str
    generated: bool
    created: int
    used: int | None
    hooks_only: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row that a typed password could match."""

    id: int
    label: str
    generated: bool
    hash: str


@dataclass(frozen=True, slots=True)
class Salt:
    """What an account's verifiers for SCRAM are made with."""

    salt: bytes
    iterations: int = ITERATIONS


@dataclass(frozen=True, slots=True)
class Prepared:
    """A hashed password, ready to be kept; `verifiers` are its forms for SCRAM, where the salt was known."""

    selector: str | None
    hash: str
    verifiers: tuple[Verifier, ...] = ()


def default_hasher() -> Hasher:
    """argon2id with the parameters of RFC 9106 for 64 MiB (about 100 ms and 64 MiB a check)."""
    from argon2 import PasswordHasher  # on first use: listing passwords needs none of it

    return PasswordHasher()


def generate() -> str:
    """A new readable password."""
    groups = ("".join(secrets.choice(ALPHABET) for _ in range(GROUP)) for _ in range(GROUPS))
    return "-".join(groups)


def prepare_generated(password: str, hasher: Hasher, scram: Salt | None = None) -> Prepared:
    """Hash a generated password. Costs 100 ms, with `scram` a second: not in the loop, not in a transaction."""
    plain = canonical(password)
    return Prepared(plain[:GROUP], hasher.hash(plain), verifiers(plain, scram, generated=True) if scram else ())


def verifiers(plain: str, scram: Salt, *, generated: bool) -> tuple[Verifier, ...]:
    """What SCRAM keeps of a password, for each way in which people write it. `plain` as it is hashed."""
    dashed = "-".join(plain[start : start + GROUP] for start in range(0, len(plain), GROUP))
    forms = (dashed, plain) if generated else (plain,)
    return tuple(make_verifier(form, scram.salt, scram.iterations) for form in forms)


def prepare_given(password: str, hasher: Hasher, scram: Salt | None = None) -> Prepared:
    """Hash a password that the user chose. Costs 100 ms, with `scram` half a second. Raises BadPassword."""
    plain = unicodedata.normalize("NFC", password)
    if not plain or "\0" in plain or len(plain.encode()) > MAX_PASSWORD:
        raise BadPassword(f"a password has 1 to {MAX_PASSWORD} bytes and no NUL")
    return Prepared(None, hasher.hash(plain), verifiers(plain, scram, generated=False) if scram else ())


def add(
    tx: WriteTx,
    account: int,
    label: str,
    prepared: Prepared,
    now: int,
    *,
    replace: bool = False,
    hooks_only: bool = False,
) -> int:
    """Keep a password under a label; `replace` takes the label's old one away, `hooks_only` lets it send to mail hooks
    and do nothing else. Raises AlreadyExists, BadPassword.
    """
    label = " ".join(label.split())
    if not label or len(label) > MAX_LABEL or not label.isprintable():
        raise BadPassword(f"a label has 1 to {MAX_LABEL} printable characters")
    if replace:
        revoke(tx, account, label)
    elif tx.value("bridge.passwords.labelled", account=account, label=label) is not None:
        raise AlreadyExists(f'there is a password "{label}" already; revoke it first or choose another label')
    password = tx.insert(
        "bridge.passwords.add",
        account=account,
        label=label,
        selector=prepared.selector,
        hash=prepared.hash,
        hooks_only=int(hooks_only),
        now=now,
    )
    keep_verifiers(tx, password, prepared.verifiers)
    return password


def keep_verifiers(tx: WriteTx, password: int, found: Sequence[Verifier]) -> None:
    """Keep what SCRAM needs of a password, if it still stands."""
    for form, each in enumerate(found):
        tx.run(
            "bridge.scram.keep",
            password=password,
            form=form,
            iterations=each.iterations,
            stored_key=each.stored_key,
            server_key=each.server_key,
        )


def scram_candidates(tx: ReadTx, account: int, iterations: int) -> list[tuple[int, Verifier]]:
    """The passwords of an account that SCRAM can use, in each of their forms."""
    rows = tx.all("bridge.scram.of-account", account=account, iterations=iterations)
    return [(row["password"], Verifier(row["iterations"], row["stored_key"], row["server_key"])) for row in rows]


def has_verifiers(tx: ReadTx, password: int, iterations: int) -> bool:
    return tx.value("bridge.scram.has", password=password, iterations=iterations) is not None


def scram_salt(tx: ReadTx, name: str, iterations: int = ITERATIONS) -> Salt:
    """The salt of an account by its name, which need not exist: nobody can tell from a salt whether it does."""
    key: bytes = tx.value("bridge.scram.key")
    return Salt(hmac.digest(key, name.lower().encode(errors="surrogatepass"), "sha256")[:16], iterations)


def all_of(tx: ReadTx, account: int) -> list[Password]:
    """The account's passwords, oldest first."""
    rows = tx.all("bridge.passwords.all", account=account)
    return [
        Password(row["id"], row["label"], bool(row["made"]), row["created"], row["used"], bool(row["hooks_only"]))
        for row in rows
    ]


def revoke(tx: WriteTx, account: int, label: str) -> bool:
    """Take a password away; False when there is none of this label. It stops counting with the commit."""
    gone = tx.run("bridge.passwords.revoke", account=account, label=label) > 0
    tx.run("bridge.scram.forget")
    return gone


def revoke_all(tx: WriteTx, account: int) -> int:
    """Take all passwords of an account away; how many there were."""
    gone = tx.run("bridge.passwords.revoke-all", account=account)
    tx.run("bridge.scram.forget")
    return gone


def candidates(tx: ReadTx, account: int, password: str) -> list[Candidate]:
    """The rows that a typed password has to be checked against, the likeliest first."""
    rows = tx.all("bridge.passwords.candidates", account=account, selector=canonical(password)[:GROUP])
    return [Candidate(row["id"], row["label"], row["selector"] is not None, row["hash"]) for row in rows]


def match(found: Sequence[Candidate], password: str, hasher: Hasher, decoy: Callable[[], str]) -> Candidate | None:
    """The candidate that the password opens. With none to check it checks a decoy: an unknown user costs as much."""
    if not found:
        _opens(hasher, decoy(), password)
    return next((row for row in found if _opens(hasher, row.hash, plain_form(row, password))), None)


def plain_form(row: Candidate, typed: str) -> str:
    """A typed password as the row's hash was made of it."""
    return canonical(typed) if row.generated else unicodedata.normalize("NFC", typed)


def canonical(password: str) -> str:
    """A generated password as it is hashed: people type it with or without dashes, spaces and capitals."""
    return password.lower().replace("-", "").replace(" ", "")


def _opens(hasher: Hasher, hash: str, password: str) -> bool:
    from argon2.exceptions import InvalidHashError, VerificationError

    try:
        return hasher.verify(hash, password)
    except (VerificationError, InvalidHashError):
        return False
