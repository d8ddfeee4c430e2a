"""Flags as words and as numbers: system flags are bits, a message's keywords one interned set.

The rule: keywords are compared in any case and shown as the account first spelled them (RFC 9051 2.3.2); a set of them
is stored once, under a small number, and 0 is the empty set.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from mailstore.errors import BadFlag, QuotaOver
from mailstore.model import DELETED, RECENT, SYSTEM_FLAGS, AccountId
from mailstore.transaction import ReadTx, WriteTx

MAX_KEYWORDS = 512  # in an account; each is told to every client at SELECT
_MAX_LENGTH = 128
_KEYWORD = re.compile(r"[!#$&'+,\-./0-9:;<=>?@A-Z^_`a-z|~\[}]+")  # an IMAP atom
_SYSTEM = {name.lower(): bit for name, bit in SYSTEM_FLAGS.items()}


@dataclass(frozen=True, slots=True)
class Flags:
    """Flags read from words: shared bits, whether \\Deleted was among them, and the keywords as written."""

    bits: int
    deleted: bool
    keywords: tuple[str, ...]


def read_flags(words: Iterable[str]) -> Flags:
    """Sort flag words. \\Recent is passed over (RFC 9051 7.2.6); an unknown \\Flag raises BadFlag."""
    bits = 0
    keywords: dict[str, str] = {}
    for word in words:
        if word.startswith("\\"):
            bit = _SYSTEM.get(word.lower())
            if bit is None and word.lower() != "\\recent":
                raise BadFlag(f"there is no flag {word}")
            bits |= bit or 0
        elif _KEYWORD.fullmatch(word) is None or len(word) > _MAX_LENGTH:
            raise BadFlag("a keyword is an atom of at most 128 characters")
        else:
            keywords.setdefault(word.casefold(), word)
    return Flags(bits & ~(DELETED | RECENT), bool(bits & DELETED), tuple(keywords.values()))


def names(tx: ReadTx, keyword_set: int) -> tuple[str, ...]:
    """The keywords of a set."""
    if keyword_set == 0:
        return ()
    return tuple(tx.value("mailstore.flags.keyword-set", id=keyword_set).split(" "))


def spell(tx: WriteTx, account: AccountId, keywords: Iterable[str]) -> list[str]:
    """The keywords as the account spells them; new ones are taken in. Raises QuotaOver."""
    return [_spell_one(tx, account, keyword) for keyword in keywords]


def _spell_one(tx: WriteTx, account: AccountId, keyword: str) -> str:
    folded = keyword.casefold()
    known: str | None = tx.value("mailstore.flags.keyword", account=account, folded=folded)
    if known is not None:
        return known
    if tx.value("mailstore.flags.count-keywords", account=account) >= MAX_KEYWORDS:
        raise QuotaOver(f"the account uses {MAX_KEYWORDS} keywords already")
    tx.run("mailstore.flags.add-keyword", account=account, folded=folded, name=keyword)
    return keyword


def intern(tx: WriteTx, account: AccountId, spelled: Collection[str]) -> int:
    """The number of the set of these keywords (spelled as the account does)."""
    if not spelled:
        return 0
    text = " ".join(sorted(set(spelled)))
    number: int | None = tx.value("mailstore.flags.find-keyword-set", account=account, names=text)
    if number is None:
        number = tx.insert("mailstore.flags.add-keyword-set", account=account, names=text)
    return number


def known(tx: ReadTx, account: AccountId) -> list[str]:
    """Every keyword the account has ever used, for the FLAGS answer of SELECT."""
    return [row["name"] for row in tx.all("mailstore.flags.known", account=account)]
