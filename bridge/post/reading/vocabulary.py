"""The decision words and the form in which a line is compared with them.

One rule: a line is a decision only when the whole of it is exactly one entry; look-alike letters are not folded, and
what makes a line a question or a hesitation is looked for before anything is stripped.
"""

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any, Literal, cast

from bridge.post.reading.model import Languages

Decision = Literal["approve", "reject", "edit"]

OBJECT = "\ufffc"
"""Stands for a picture among the words."""
MAX_LINE = 400  # a longer line is no decision; nothing below looks further
INVISIBLE = dict.fromkeys(
    [
        0x00AD, 0x034F, 0x061C, 0x180E, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2065),
        *range(0x2066, 0x206A), 0xFEFF, *range(0xFE00, 0xFE10), *range(0x1F3FB, 0x1F400),
    ]
)  # packed, to be seen at a glance  # fmt: skip
"""Zero-width and direction marks, variation selectors, skin tones."""
_APOSTROPHES = dict.fromkeys(map(ord, "’ʼ′‘`´＇"), "'")
_EDGES = " .!,:\"'“”„«»‹›‚「」『』《》〈〉【】〔〕()[]{}<>*_。、،¡"
_QUESTION = re.compile(r"[?;؟⸮՞፧⁇⁈⁉‽¿꘏⳺⳻᥅¿]")
_OVERRIDE = re.compile("[\u202d\u202e]")
_HESITATION = re.compile(
    r"[.。][\s!,:\"')\]*_]{0,20}[.。]|…|‥|~|〜|～|[\[(]\s*[\])]|[☐☑☒□■▢]|\w[\s!,.:*_]{0,20}[(\[{]\s*\Z|\A\s*[)\]}]"
)
_EMOTICON = re.compile(
    r"[:=][\s'’,_*-]{0,6}[()\[\]{}<>|]|[*.]_+[*.]|"
    r"(?:^|\s|\w)(?:[:=8xX;][-'^o]?[)(\]\[dDpP/\\|3*@$sSoO0]|[)(]-?[:=;]|\^_?\^|<3|-_-|o_o|xd)(?=$|[\s.!,])"
)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words that count for one user."""

    words: Mapping[str, frozenset[Decision]]
    """Folded word to what it means; more than one meaning: it decides nothing."""
    weak: frozenset[str]
    every: Mapping[str, frozenset[Decision]]
    """All words of all languages, for finding near misses and for templates that must not hold any."""
    item_heads: Mapping[str, Decision]
    always: frozenset[str]

    def meaning(self, folded: str) -> Decision | None:
        """The one decision that the folded line means."""
        found = self.words.get(folded, frozenset())
        return next(iter(found)) if len(found) == 1 else None


@lru_cache(maxsize=64)
def _vocabulary(languages: frozenset[str] | None) -> Vocabulary:
    """`languages` None: every unmistakable word of every language, and the weak ones of English."""
    data = _words()
    weak = frozenset(fold(word) for word in data["weak"])
    chosen: dict[str, set[Decision]] = {}
    every: dict[str, set[Decision]] = {}
    for decision in ("approve", "reject", "edit"):
        for language, words in data[decision].items():
            on = language in ("any", "en") or (languages is not None and ("all" in languages or language in languages))
            for word in map(fold, words):
                every.setdefault(word, set()).add(decision)
                if on or (languages is None and word not in weak):
                    chosen.setdefault(word, set()).add(decision)
    heads = {fold(w): cast(Decision, d) for d, words in data["item_heads"].items() for w in words}
    return Vocabulary(
        {w: frozenset(d) for w, d in chosen.items()}, weak, {w: frozenset(d) for w, d in every.items()}, heads,
        frozenset(map(fold, data["always"])),
    )  # packed, to be seen at a glance  # fmt: skip


def vocabulary(languages: Languages = None) -> Vocabulary:
    """The words for a user with these languages on ("de", "fr" ...), English always among them; "all": every one."""
    if languages is None:
        return _vocabulary(None)
    return _vocabulary(frozenset(["all"] if languages == "all" else languages))


def known_languages() -> frozenset[str]:
    """The codes of the languages that have words."""
    return frozenset(_words()["approve"]) - {"any"}


def _words() -> dict[str, Any]:
    text = resources.files("bridge.post.reading").joinpath("vocabulary.json").read_text("utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


def fold(line: str) -> str:
    """The form in which lines are compared: NFKC, invisible marks gone, case folded, dotless i as i, blanks to one,
    quotes, brackets and light punctuation at both ends gone."""
    if line.isascii():
        text = line.lower().replace("`", "'")
    else:
        text = unicodedata.normalize("NFKC", line).translate(INVISIBLE).translate(_APOSTROPHES)
        text = unicodedata.normalize("NFKC", text.casefold()).replace("ı", "i").replace("i\u0307", "i")
    return " ".join(" ".join(text.split()).strip(_EDGES).split())


def spoiler(line: str) -> str | None:
    """What keeps a line from being a decision, whatever its words: "question", "override", "hesitation"; else None."""
    if _OVERRIDE.search(line):
        return "override"
    text = unicodedata.normalize("NFKC", line)
    if _QUESTION.search(line) or _QUESTION.search(text):
        return "question"
    if _HESITATION.search(line) or _HESITATION.search(text) or _EMOTICON.search(text.translate(INVISIBLE)):
        return "hesitation"
    return None


def decides(line: str, words: Vocabulary) -> Decision | None:
    """The decision of a line that is exactly one entry and nothing spoils."""
    if len(line) > MAX_LINE or spoiler(line):
        return None
    return words.meaning(fold(line))
