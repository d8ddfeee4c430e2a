"""Cuts a letter's words into what can be read: greeting and closing off, paragraphs, sentences, clauses, addresses.

Rule: only cutting. The original letters are kept; nothing here decides what a clause means.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from agents.models.demo import words as w

_LEAD = re.compile(w.LEAD_VERBS)
_SENTENCE = re.compile(r"(?<=[.!?])[\"'”“)]*\s+(?=\S)")
_CLOSING_QUOTES = frozenset("\"'”“)")
_SHORT_FORMS = frozenset(
    {"mr.", "mrs.", "ms.", "dr.", "prof.", "st.", "e.g.", "i.e.", "z.b.", "d.h.", "bzw.", "ca.", "vs.", "hr.", "fr."}
)
_MONTH = re.compile(r"(?:jan|feb|mär|maerz|apr|mai|jun|jul|aug|sep|okt|nov|dez)\w*", re.IGNORECASE)
MAX_QUOTED = 2000
_BULLET = re.compile(r"^\s*(?:[-*•–]|\d{1,2}[.)])\s+")
_JOINT = re.compile(
    r"\s*[;]\s*|\s*,?\s*\b(?:and\s+then|and\s+also|and|then|but|und\s+dann|und\s+danach|und|dann|danach|anschließend"
    r"|aber|sowie|afterwards)\s+|\s*,\s+"
)
_SIGNATURE = re.compile(r"^-- ?$")
_AT = re.compile("@")
_LOCAL = re.compile(r"(?:mailto:)?[^\s<>()\[\],;:\"'“”„«»|@]+$")
_HOST = re.compile(r"[^\s<>()\[\],;:\"'“”„«»|!?@.][^\s<>()\[\],;:\"'“”„«»|!?@]*")
_GERMAN_LETTERS = re.compile(r"[äöüß]")


def fold(text: str) -> str:
    """The form that patterns are written for: composed, lower case, straight quotes and apostrophes. Same length not
    kept.
    """
    plain = unicodedata.normalize("NFC", text).translate(
        {0x2019: "'", 0x2018: "'", 0x201C: '"', 0x201D: '"', 0x201E: '"'}
    )
    return plain.lower()


def is_german(text: str) -> bool:
    """True when the letter's words look more German than English."""
    folded = fold(text[:5000])
    found = re.findall(r"[^\W\d_]+", folded)
    german = sum(word in w.GERMAN_MARKS for word in found) + len(_GERMAN_LETTERS.findall(folded)) / 2
    return german > sum(word in w.ENGLISH_MARKS for word in found)


def strip_letter(text: str) -> str:
    """The letter without its greeting line, its closing with the name below, and a signature after "-- "."""
    lines = text.replace("\r\n", "\n").split("\n")
    for number, line in enumerate(lines):
        if _SIGNATURE.match(line):
            lines = lines[:number]
            break
    while lines and not lines[0].strip():
        lines.pop(0)
    if lines and w.GREETING.fullmatch(fold(lines[0].strip())):
        lines.pop(0)
    return "\n".join(_strip_closing(lines)).strip()


def _strip_closing(lines: Sequence[str]) -> list[str]:
    """Without a closing formula near the end and the short lines (names) that follow it."""
    for number in range(len(lines) - 1, max(0, len(lines) - 6), -1):
        below = [line for line in lines[number + 1 :] if line.strip()]
        if w.CLOSING.fullmatch(fold(lines[number].strip())) and all(len(line) < 50 for line in below):
            return list(lines[:number])
    return list(lines)


def paragraphs(text: str) -> list[str]:
    """Paragraphs with their lines joined; every list item is one of its own."""
    out: list[str] = []
    open_ = False
    for line in text.split("\n"):
        if not line.strip():
            open_ = False
        elif open_ and not _BULLET.match(line):
            out[-1] += " " + line.strip()
        else:
            out.append(_BULLET.sub("", line).strip())
            open_ = True
    return out


def sentences(paragraph: str) -> list[str]:
    """Sentences of an instruction; a full stop inside an address, a file name, a quotation that goes on, an
    abbreviation or a German date ("am 2. Mai") does not end one.
    """
    out: list[str] = []
    start = 0
    for end in _SENTENCE.finditer(paragraph):
        if not _goes_on(paragraph[start : end.end()].rstrip(), paragraph[end.end() :]):
            out.append(paragraph[start : end.end()].strip())
            start = end.end()
    return [part for part in (*out, paragraph[start:].strip()) if part]


def _goes_on(said: str, rest: str) -> bool:
    """Whether a sentence goes on behind what looks like its end."""
    if said[-1] in _CLOSING_QUOTES:
        return rest[:1].islower()
    if said.count('"') % 2 and '"' in rest[:MAX_QUOTED]:
        return True
    if _open_quotes(said) and any(mark in rest[:MAX_QUOTED] for mark in "“”"):
        return True
    word = said.rsplit(None, 1)[-1]
    if word.rstrip(".").isdigit() and word.endswith(".") and len(word) <= 3:
        return bool(_MONTH.match(rest)) or rest[:1].islower()
    return fold(word).lstrip("(") in _SHORT_FORMS


def _open_quotes(said: str) -> bool:
    """Whether a typographic quotation stands open: „ and “ ... or “ ... ”."""
    if "„" in said:
        return said.count("„") > said.count("“") + said.count("”")
    return said.count("“") > said.count("”")


def clauses(sentence: str) -> list[str]:
    """A sentence cut before each further instruction ("..., and send ..."): only where a verb of asking follows."""
    out: list[str] = []
    start = 0
    for joint in _JOINT.finditer(sentence):
        if joint.start() > start and _LEAD.match(fold(sentence[joint.end() : joint.end() + 60])):
            out.append(sentence[start : joint.start()].strip())
            start = joint.end()
    out.append(sentence[start:].strip())
    return [clause for clause in out if clause]


def addresses(text: str) -> Iterator[tuple[int, int, str]]:
    """Every mail address in the text: where it starts, where it ends, and itself without trailing full stops."""
    past = 0
    for at in _AT.finditer(text):
        local = _LOCAL.search(text[max(past, at.start() - 64) : at.start()])
        host = _HOST.match(text[at.end() : at.end() + 255])
        if not local or not host or "." not in host.group().rstrip("."):
            continue
        start, past = at.start() - len(local.group()), at.end() + host.end()
        address = text[start : at.end()].removeprefix("mailto:") + host.group().rstrip(".'`*_~-")
        yield start, at.end() + len(host.group().rstrip(".'`*_~-")), address


_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»]{2,}?)[\"”“»]")


def quotations(text: str) -> Iterator[str]:
    """Every quoted part of a text."""
    return (found.group(1).strip() for found in _QUOTED.finditer(text))


def quoted(text: str) -> str:
    """The first quoted part of a text, or nothing."""
    return next(quotations(text), "")
