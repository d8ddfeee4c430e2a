"""What mail programs and people put around their words, in many languages: data, and the tests over it.

One rule: a phrase takes a line out of the text only when the whole line is of that kind and short; a line that also
says something else stays.
"""

import json
import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

from bridge.post.reading.vocabulary import INVISIBLE, OBJECT, fold

_FILE = resources.files("bridge.post.reading").joinpath("phrases.json")
_WORDS = re.compile(r"[\w'’.]*\w")
_ADDRESS = re.compile(r"[^\s<>]{1,80}@[^\s<>]{1,80}|https?://\S{1,200}|www\.\S{1,200}")
_LINK = re.compile(r"<[^<>]*>|\([^()]*://[^()]*\)|https?://\S+")
_SETS = (
    "closings", "attribution_openers", "alarm_words", "prose_words", "header_labels", "weekdays", "months",
    "when_words", "errand_words", "footer_alarms", "footer_starts", "contact_labels", "product_glue",
    "footer_common", "title_words", "reference_words",
)  # packed, to be seen at a glance  # fmt: skip
_PS = re.compile(r"p\.?\s?s\.?\b|n\.?b\.?\b|p\.?s\.?\s?:")
_UNLIKE_PRODUCT = re.compile("[?؟？\u037e՞፧⁇‽…~]|\\.\\s?\\.|[:;=][-'^]?[()/\\\\|]")
_MODEL = re.compile(r"\b(?:windows (?:8|10|11)|blackberry 10)\b")
"""Numbers that the programs themselves write; another one may be meant."""
_NUMBERED = re.compile(r"[a-z]{1,2}-?\d{1,4}[a-z]?")
_GETTING = ("get ", "hol ", "holen ", "download ")
_DRAWN = frozenset("©®™°●■▪○◆►🌳🌲🌱🌿🍃🌍🌎🌏♻☎☏📞📱📧✉📠🏢🌐" + OBJECT)
_GOT = ("outlook", "mail", "app")
"""What such a line offers: `Get nine` is no advertisement."""
_SAD = re.compile(r"[:=;]\s?['’,_*-]?[(\[{</\\|]")
_BESIDE = re.compile(r"\s[/|]\s")
MAX_PRODUCT_LINE = 160
MAX_LOOKED_AT = 600


@dataclass(frozen=True, slots=True)
class Phrases:
    """The data of phrases.json."""

    automatic_subjects: tuple[str, ...]
    reactions: tuple[str, ...]
    forward_marks: tuple[str, ...]
    forward_subjects: tuple[str, ...]
    sent_words: tuple[str, ...]
    products: tuple[str, ...]
    product_lines: tuple[str, ...]
    disclaimer_openers: tuple[str, ...]
    disclaimer_marks: tuple[str, ...]
    company_marks: tuple[str, ...]
    closings: frozenset[str]
    greetings: tuple[str, ...]
    attribution_openers: frozenset[str]
    attribution_verbs: tuple[str, ...]
    alarm_words: frozenset[str]
    alarm_marks: tuple[str, ...]
    """Of scripts without blanks between words: pieces of text, none of ASCII."""
    prose_words: frozenset[str]
    header_labels: frozenset[str]
    weekdays: frozenset[str]
    months: frozenset[str]
    when_words: frozenset[str]
    """What an attribution says beside the date and the name."""
    errand_words: frozenset[str]
    """What no footer says: it is about a day, a person or something to do."""
    footer_alarms: frozenset[str]
    """Alarm words that every footer holds."""
    footer_starts: frozenset[str]
    """Words with which sentences of footers begin; with a capital they begin one also where no full stop is."""
    footer_common: frozenset[str]
    """Words of footers that requests may hold too."""
    footer_words: tuple[str, ...]
    to_strangers: tuple[str, ...]
    """How footers begin what they say to whoever got the mail by mistake."""
    legal_forms: tuple[str, ...]
    posts: tuple[str, ...]
    not_in_posts: tuple[str, ...]
    original_marks: tuple[str, ...]
    contact_labels: frozenset[str]
    title_words: frozenset[str]
    reference_words: frozenset[str]
    """What a number may be of that is neither dialled nor a postcode."""
    product_glue: frozenset[str]
    sending: tuple[str, ...]
    """Products, sending words and whole lines, the longest first."""


@lru_cache(maxsize=1)
def phrases() -> Phrases:
    """Loaded once."""
    data: dict[str, Any] = json.loads(_FILE.read_text("utf-8"))
    whole: dict[str, Any] = {name: frozenset(map(fold, data.pop(name))) for name in _SETS}
    parts: dict[str, Any] = {name: tuple(map(plain, listed)) for name, listed in data.items()}
    sending = {*parts["products"], *parts["product_lines"], *parts["sent_words"]}
    return Phrases(**whole, **parts, sending=tuple(sorted(sending, key=len, reverse=True)))


def plain(text: str, limit: int = MAX_LOOKED_AT) -> str:
    """`text` for searching phrases: NFKC, invisible marks gone, case folded (without the dot that Turkish leaves on an
    i), blanks to one."""
    text = text[:limit]
    if text.isascii():
        return " ".join(text.lower().split())
    text = unicodedata.normalize("NFKC", text).translate(INVISIBLE).casefold().replace("’", "'")
    return " ".join(text.replace("i\u0307", "i").split())


def words(text: str) -> list[str]:
    return _WORDS.findall(plain(text))


def said(folded: str) -> list[str]:
    """The words of a folded text, as the lists have them: without dots and apostrophes before them."""
    return [word.strip(".'") for word in _WORDS.findall(folded)]


def without_addresses(text: str) -> str:
    """A text without the mail and web addresses in it."""
    return _ADDRESS.sub(" ", text)


def bears_sign(text: str) -> bool:
    """Whether a thumb, a cross or a face is in it: an answer too. Trees, telephones and bullets are none."""
    return not text.isascii() and any(unicodedata.category(char) == "So" and char not in _DRAWN for char in text)


def alarming(line: str, ignore: Collection[str] = ()) -> bool:
    """Whether a line that looks like signature could still be meant: a condition, a negation, an afterthought, a
    decision word, a question."""
    if len(line) > MAX_LOOKED_AT:
        return True
    text = plain(without_addresses(line))
    if "?" in text or _PS.match(text):
        return True
    if not text.isascii() and any(mark in text for mark in phrases().alarm_marks if mark not in ignore):
        return True
    return any(word in phrases().alarm_words and word not in ignore for word in said(text))


def is_prose(line: str, ignore: Collection[str] = ()) -> bool:
    """Whether a line under a name talks, where a signature would name a post, a firm or a number."""
    found = said(plain(without_addresses(line)))
    return any(word in phrases().prose_words and word not in ignore for word in found)


def is_closing(line: str) -> bool:
    """`Best regards,` and the like, alone on its line."""
    return (
        len(line) < 80
        and not _SAD.search(line)
        and all(fold(piece) in phrases().closings for piece in _BESIDE.split(line))
    )


def is_greeting(line: str) -> bool:
    """`Hi,` `Dear Post Desk Agent,` and the like."""
    text = fold(line[:100])
    if len(line) > 80 or len(text) > 60:
        return False
    return any(text == word or text.startswith((word + " ", word + ",")) for word in phrases().greetings)


def is_product_line(line: str) -> bool:
    """`Sent from my iPhone`, `Get Outlook for iOS` and the like: a sending word and a product, and beside them nothing
    but the words that such lines are made of."""
    if len(line) > MAX_PRODUCT_LINE or _UNLIKE_PRODUCT.search(_LINK.sub(" ", line)):
        return False
    text = plain(_LINK.sub(" ", line.replace("[", " ").replace("](", " (")))
    known = phrases()
    bare = without_addresses(text)
    rest = _MODEL.sub(" ", bare)
    for phrase in known.sending:
        rest = rest.replace(phrase, " ")
    if any(word not in known.product_glue and not _NUMBERED.fullmatch(word) for word in said(rest)):
        return False
    if bears_sign(line):
        return False
    if bare.startswith(_GETTING) and not any(name in bare for name in _GOT):
        return False
    if any(phrase in text for phrase in known.product_lines):
        return True
    return any(name in text for name in known.products) and any(word in text for word in known.sent_words)


def is_forward_mark(line: str) -> bool:
    """`---------- Forwarded message ---------`, `Begin forwarded message:` and the like."""
    if len(line) > 120:
        return False
    text = plain(line).strip("-_=*:> .")
    return text.startswith(phrases().forward_marks) and any(
        text == mark or (text.startswith(mark) and len(text) < len(mark) + 12) for mark in phrases().forward_marks
    )


def is_automatic_subject(subject: str) -> bool:
    """A subject that BEGINS as programs begin it."""
    text = plain(subject).lstrip("[(* ")
    for known in phrases().automatic_subjects:
        if text.startswith(known):
            rest = text[len(known) : len(known) + 1]
            if known.endswith(":") or not rest or not rest.isalpha():
                return True
    return False


def is_forward_subject(subject: str) -> bool:
    return plain(subject).startswith(phrases().forward_subjects)


def is_reaction(line: str) -> bool:
    """The sentence that Outlook and Gmail write for a one-tap reaction."""
    text = plain(line)
    return len(text) < 160 and any(known in text for known in phrases().reactions)
