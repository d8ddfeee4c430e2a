"""Who a mail is for: groups of addresses in a clause, names without an address, and how to greet them.

Rule: an address counts only where the user names it as a destination; one after "from", or after a "not to", does
not.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

from agents.models.demo import words as w
from agents.models.demo.text import addresses, fold

_BETWEEN = re.compile(
    r"[\s,;&<>()]*(?:\b(?:and|und|also|auch|to|an|cc|bcc|as|well|plus|both|sowie|mit|with|copy|a|mr|mrs|ms|dr|herr|frau|herrn)\b[\s,;&<>():.]*)*",
    re.IGNORECASE,
)
_SOURCE = re.compile(
    r"\b(?:from|by|von|of)\s*(?:(?!to\b|an\b|for\b|and\b|und\b)[^\W\d_][\w'-]*\s*){0,2}[<(]?\s*$", re.IGNORECASE
)
_NOT = re.compile(
    r"\b(?:not|never|instead\s+of|rather\s+than|nicht|statt)\s+(?:to\s+|an\s+|send\s+(?:it\s+)?to\s+)?(?:[^\W\d_][\w'-]*\s*){0,2}[<(]?\s*$",
    re.IGNORECASE,
)
_NAME = re.compile(
    r"(?:\b(?:Frau|Herrn?|Mr|Mrs|Ms|Dr)\.?\s+)?([A-ZÄÖÜ][\w'’-]+)(?:\s+[A-ZÄÖÜ][\w'’-]+)?\s*[<(,:]?\s*(?:at\s+|unter\s+|via\s+)?$"
)
_PERSON = re.compile(
    r"\b(?:[Tt]o|[Ff]or|[Aa]n|[Ff]ür|[Tt]ell|[Ii]nform|[Nn]otify|[Ll]et|[Aa]sk|[Tt]hank|[Ii]nvite|[Ww]ith|[Ss]end|[Mm]ail|[Ee]mail)\s+"
    r"(?:(?:[Mm]r|[Mm]rs|[Mm]s|[Dd]r|[Hh]errn?|[Ff]rau)\.?\s+)?([A-ZÄÖÜ][\w'’-]+)"
)
_TITLES = MappingProxyType(
    {"frau": "Frau", "herr": "Herr", "mr": "Mr", "mrs": "Mrs", "ms": "Ms", "dr": "Dr", "prof": "Prof"}
)
_ROLE = re.compile(
    r"\b(?:to|for|an|für|tell|inform|ask)\s+((?:my|our|the|meine[nmr]?|unsere[nmr]?|den|die)\s+(?!attach|inbox|draft|archive|folder|trash|list\b|file|summary|user|point|next|last|following|same|angeh|anh|datei|zusammen)[^\W\d_]+)"
)
_PRONOUN = re.compile(r"\b(?:to|an)\s+(him|her|them|ihn|ihr|sie|ihnen)\b|\b(?:send|tell|mail)\s+(him|her|them)\b")


@dataclass(frozen=True, slots=True)
class Group:
    """Addresses that get one mail, the text before them in the clause, and the names that stand with them."""

    to: tuple[str, ...]
    names: tuple[str, ...]
    before: str


def groups(clause: str) -> list[Group]:
    """The destinations of a clause; addresses joined by "and", "cc" or commas form one group."""
    out: list[Group] = []
    last = 0
    for start, end, address in addresses(clause):
        before = clause[last:start]
        if _SOURCE.search(before) or _NOT.search(before):
            last = end
            continue
        name = _name_before(before)
        bare = before.replace(name.split()[-1], "", 1) if name else before
        if out and _BETWEEN.fullmatch(bare):
            out[-1] = Group((*out[-1].to, address), (*out[-1].names, name), out[-1].before)
        else:
            out.append(Group((address,), (name,), before))
        last = end
    return out


def dropped(clause: str) -> tuple[str, ...]:
    """Addresses that the user rules out ("not to ...")."""
    return tuple(address for start, _, address in addresses(clause) if _NOT.search(clause[:start]))


def _name_before(before: str) -> str:
    found = _NAME.search(before)
    if (
        not found
        or fold(found.group(1)) in w.NO_NAMES
        or (w.LEAD_VERBS and re.match(w.LEAD_VERBS, fold(found.group(1)) + " "))
    ):
        return ""
    titled = re.search(r"\b(Frau|Herrn?|Mr|Mrs|Ms|Dr)\.?\s*$", before[: found.start(1)])
    return f"{titled.group(1).removesuffix('n')} {found.group(1)}" if titled else found.group(1)


def people(clause: str) -> tuple[str, ...]:
    """Recipients named without an address: names, roles ("my accountant") and pronouns."""
    names = [found for found in _PERSON.findall(clause) if fold(found) not in w.NO_NAMES and "@" not in found]
    folded = fold(clause)
    roles = _ROLE.findall(folded)
    pronouns = [one or other for one, other in _PRONOUN.findall(folded)]
    return tuple(dict.fromkeys([*names, *roles, *pronouns]))


def greeting_names(to: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """First names to greet with, given or read from addresses like first.last@; empty when one of them has none."""
    found = [name or _from_address(address) for address, name in zip(to, names, strict=True)]
    return tuple(found) if all(found) and len(found) <= 3 else ()


def _from_address(address: str) -> str:
    local = fold(address.partition("@")[0])
    first, *others = re.split(r"[._+-]", local)
    title = _TITLES.get(first)
    if title and others and others[0].isalpha() and len(others[0]) > 1:
        return f"{title} {others[0].capitalize()}"
    if not first.isalpha() or len(first) < 3 or first in w.GENERIC_BOXES:
        return ""
    return first.capitalize()
