"""Which of the attached files a letter means: by name, by kind, by position, or all of them.

Rule: a name that is not attached is not guessed; the caller finds nothing and says so.
"""

import re
from collections.abc import Sequence
from types import MappingProxyType

from agents.models.demo.text import fold

_KINDS = MappingProxyType(
    {
        "pdf": (".pdf",),
        "csv": (".csv", ".tsv"),
        "spreadsheet": (".csv", ".tsv", ".xlsx", ".ods"),
        "table": (".csv", ".tsv"),
        "tabelle": (".csv", ".tsv", ".xlsx"),
        "html": (".html", ".htm"),
        "web page": (".html", ".htm"),
        "text file": (".txt", ".md"),
        "textdatei": (".txt", ".md"),
        "markdown": (".md",),
        "word": (".docx", ".doc"),
    }
)
_ORDINALS = MappingProxyType(
    {
        "first": 0,
        "second": 1,
        "third": 2,
        "last": -1,
        "erste": 0,
        "ersten": 0,
        "zweite": 1,
        "zweiten": 1,
        "letzte": -1,
        "letzten": -1,
    }
)
_ORDINAL = re.compile(
    r"\b(first|second|third|last|ersten?|zweiten?|letzten?)\s+(?:one|file|attachment|document|attached\s+\w+|datei|anhang|dokument)\b"
    r"|\b(?:of|from)\s+the\s+(first|second|third|last)(?=\s+(?:to|for)\b|\s*$)"
    r"|\b(?:der|des|vom|von\s+der)\s+(ersten?|zweiten?|letzten?)(?=\s+(?:an|für)\b|\s*$)"
)
_EXCEPT = re.compile(
    r"\b(?:except(?:\s+for)?|but\s+not|not|ignore|ignoring|skip|leave\s+out|without|außer|ohne|nicht)\s+(?:the\s+|den\s+|die\s+|das\s+)?$"
)
_FILE_NAME = re.compile(
    r"(?<![\w@./-])[\w-][\w.-]*\.(?:txt|md|pdf|csv|tsv|html?|docx?|xlsx?|odt|ods|rtf|log|json|xml|eml|pptx?|png|jpe?g)\b",
    re.IGNORECASE,
)


def meant_files(said: str, names: Sequence[str]) -> tuple[str, ...]:
    """The attached names that are meant; empty means all (or none is attached)."""
    folded = fold(said)
    places = [(name, _place(folded, fold(name))) for name in names]
    excluded = {name for name, place in places if place >= 0 and _EXCEPT.search(folded[:place])}
    named = [name for name, place in places if place >= 0 and name not in excluded]
    if named or excluded:
        return tuple(named or [name for name in names if name not in excluded])
    numbers = [_ORDINALS[next(filter(None, ordinal.groups()))] for ordinal in _ORDINAL.finditer(folded)]
    placed = {names[number]: None for number in numbers if -len(names) <= number < len(names)}
    return tuple(placed) or _by_kind(folded, names)


def missing_files(said: str, names: Sequence[str]) -> tuple[str, ...]:
    """File names in the text that are not attached."""
    have = {fold(name) for name in names}
    return tuple(dict.fromkeys(name for name in _FILE_NAME.findall(said) if fold(name) not in have))


def _place(folded: str, name: str) -> int:
    place = folded.find(name)
    if place >= 0 or "." not in name:
        return place
    stem = name.rpartition(".")[0]
    spaced = re.escape(stem).replace("_", r"[\s_-]").replace(r"\-", r"[\s_-]")
    found = re.search(rf"(?<![\w@.]){spaced}(?![\w@])", folded) if len(stem) >= 4 else None
    return found.start() if found else -1


def _by_kind(folded: str, names: Sequence[str]) -> tuple[str, ...]:
    """Files of a kind that is named ("the pdf"), when that leaves out some of them."""
    wanted = tuple(end for kind, ends in _KINDS.items() if re.search(rf"\b{kind}s?\b", folded) for end in ends)
    chosen = tuple(name for name in names if wanted and fold(name).endswith(wanted))
    return chosen if len(chosen) < len(names) else ()
