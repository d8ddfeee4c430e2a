"""The query language of the tool search_mail, read into the store's query tree.

The rule: every query means something: a word that is no condition is a word to look for, and so is a condition that
cannot be read. Words must all occur, in any case, also inside words.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType

from mailstore.query import Address, And, Before, HasFlag, Header, Not, Query, Since, Text

_TERM = re.compile(r'([a-z]+):(?:"([^"]*)"|(\S+))|"([^"]*)"|(\S+)', re.IGNORECASE)
OPEN = "open"


@dataclass(frozen=True, slots=True)
class Search:
    """What to look for, and where: a mailbox by name, the open requests, or (neither) everywhere."""

    query: Query
    mailbox: str | None = None
    open_only: bool = False


def parse(text: str) -> Search:
    """A query as the tool documents it: from: to: subject: in: is:unread is:open has:attachment after: before:."""
    terms: list[Query] = []
    mailbox: str | None = None
    open_only = False
    for found in _TERM.finditer(text):
        key, value = (found.group(1) or "").lower(), found.group(2) or found.group(3) or ""
        if key == "in" and value:
            mailbox = value
        elif key == "is" and value.lower() == OPEN:
            open_only = True
        else:
            terms.append(_condition(key, value) or Text(found.group(4) or found.group(5) or found.group(0)))
    return Search(And(tuple(terms)), mailbox, open_only)


def _condition(key: str, value: str) -> Query | None:
    if not value:
        return None
    if key in ("after", "before"):
        return _day(key, value)
    fixed = _FIXED.get((key, value.lower()))
    if fixed is not None:
        return fixed
    maker = _MAKERS.get(key)
    return maker(value) if maker is not None else None


def _day(key: str, value: str) -> Query | None:
    try:
        day = date.fromisoformat(value)
    except ValueError:
        return None
    return Since(day) if key == "after" else Before(day)


_FIXED: Mapping[tuple[str, str], Query] = MappingProxyType(
    {
        ("is", "unread"): Not(HasFlag("\\Seen")),
        ("is", "read"): HasFlag("\\Seen"),
        ("is", "flagged"): HasFlag("\\Flagged"),
        ("has", "attachment"): Header("content-type", "multipart/mixed"),
    }
)
_MAKERS: Mapping[str, Callable[[str], Query]] = MappingProxyType(
    {
        "from": lambda value: Address("from", value),
        "to": lambda value: Address("to", value),
        "cc": lambda value: Address("cc", value),
        "subject": lambda value: Header("subject", value),
    }
)
