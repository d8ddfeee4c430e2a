"""Comparing lines with the mail that was sent: a sequence of words and a place in it.

One rule: lines are compared as words in order, so wrapping, marks, link decorations and blanks do not matter, and a
short line counts as quoted only where it is the very next thing in the mail.
"""

import re
import unicodedata
from bisect import bisect_left

from bridge.post.reading.vocabulary import INVISIBLE

MAX_MISSES = 400
TIGHT = 8
"""Letters below which a row without its blanks is not looked for."""
_DECORATION = re.compile(
    r"<(?:mailto|https?|tel|cid):[^<>]*>|\[(?:mailto|https?|tel|cid|image)(?::|\s)[^\[\]]*\]|(?:https?|mailto):\S+",
    re.IGNORECASE,
)
_ASKED = re.compile(r"(\w{0,30})[^\w?]{0,4}\?")
_BULLETS = frozenset("■□▪▫●○◦◆◇►▶★☆©®™°\ufffd")
_WORD = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]|[^\W_]+"
)


def words_of(text: str) -> list[str]:
    """The words of a line for comparing; scripts without blanks between words give single characters."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(INVISIBLE)
    if ":" in text or "[" in text:
        text = _DECORATION.sub(" ", text)
    return _WORD.findall(text.casefold())


def without_links(text: str) -> str:
    """A row without the links that clients write into it."""
    return _DECORATION.sub(" ", text) if ":" in text or "[" in text else text


def _links(text: str) -> frozenset[str]:
    return frozenset(found.strip("<>[]() ") for found in _DECORATION.findall(text))


def _symbols(text: str) -> frozenset[str]:
    return frozenset(char for char in text if not char.isascii() and unicodedata.category(char) == "So") - _BULLETS


def _asked(text: str) -> frozenset[str]:
    """The words that a question mark stands behind; links hold such marks too and do not count."""
    text = unicodedata.normalize("NFKC", text)
    if "?" not in text and "؟" not in text:
        return frozenset()
    return frozenset(_ASKED.findall(_DECORATION.sub(" ", text).casefold().replace("؟", "?")))


class SentText:
    """The words of a sent mail. A place is the position of the blank before its next word."""

    __slots__ = (
        "_asked", "_bag", "_joined", "_links", "_misses", "_places", "_row_places", "_starts", "_symbols", "_tight",
        "_words", "rules",
    )  # packed, to be seen at a glance  # fmt: skip

    def __init__(self, text: str) -> None:
        rows = [words for row in text.splitlines() if (words := words_of(row))]
        self._joined = " " + "".join(" ".join(row) + " " for row in rows)
        self._bag = frozenset(word for row in rows for word in row)
        self._starts: dict[str, list[int]] = {}
        at = 0
        for row in rows:
            self._starts.setdefault(row[0], []).append(at)
            at += len(" ".join(row)) + 1
        self._misses = 0
        self._tight = ""
        self._words: list[int] = []
        self._places: dict[int, int] = {}
        self._row_places = frozenset(place for places in self._starts.values() for place in places)
        self._asked, self._symbols, self._links = _asked(text), _symbols(text), _links(text)
        self.rules = frozenset(row.strip() for row in text.splitlines() if row.strip() and not words_of(row))
        """Its lines without words."""

    def next(self, words: list[str], place: int) -> int | None:
        """The place behind `words` when they come next."""
        wanted = f" {' '.join(words)} "
        return place + len(wanted) - 1 if self._joined.startswith(wanted, place) else None

    def later(self, words: list[str], place: int) -> int | None:
        """The place behind `words` when they come anywhere from `place` on."""
        if not self._bag.issuperset(words) or self._misses > MAX_MISSES:
            return None
        wanted = f" {' '.join(words)} "
        found = self._joined.find(wanted, place)
        if found < 0:
            self._misses += 1
            return None
        return found + len(wanted) - 1

    def without_blanks(self, words: list[str], place: int) -> int | None:
        """The place behind a row whose blanks a client lost (Thunderbird before a link): the same letters from the
        start of a word to the end of one, next or later in the mail."""
        wanted = "".join(words)
        if len(wanted) < TIGHT or self._misses > MAX_MISSES:
            return None
        if not self._tight:
            self._tight = self._joined.replace(" ", "")
            self._words = [at for at, char in enumerate(self._joined) if char == " "]
            self._places = dict(zip((at - count for count, at in enumerate(self._words)), self._words, strict=True))
        at = self._tight.find(wanted, place - bisect_left(self._words, place))
        if at in self._places and at + len(wanted) in self._places:
            return self._places[at + len(wanted)]
        self._misses += 1
        return None

    def has_links(self, row: str) -> bool:
        """Whether a row without words is nothing but links of the mail: clients wrap them onto rows of their own."""
        found = _links(row)
        return bool(found) and found <= self._links

    def lacks_marks(self, row: str) -> bool:
        """Whether a quoted row bears a mark that the mail does not: a cross, a thumb, a question mark. Words alone do
        not show it."""
        return not _symbols(row) <= self._symbols or not _asked(row) <= self._asked

    def within_row(self, place: int) -> bool:
        """Whether a place is inside a row of the mail, not between two."""
        return place not in self._row_places

    def row_starts(self, word: str) -> list[int]:
        """The places of the rows that begin with `word`."""
        return self._starts.get(word, [])[:20]
