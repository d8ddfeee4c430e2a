"""Legal, ecological and company footers under a text.

One rule: each sentence of a footer must be one of a footer by itself. What names somebody of the request, a day or
something to do stays in the text, however much it looks like a footer.
"""

import re
from collections.abc import Collection

from bridge.post.reading.phrases import (
    alarming,
    bears_sign,
    is_closing,
    is_prose,
    phrases,
    plain,
    said,
    without_addresses,
    words,
)

MAX_FOOTER = 6000
_QUESTION = re.compile("[?؟？\u037e՞፧⁇⁈⁉‽⸮]")
_SENTENCES = re.compile(r"(?<=[.!?;])\s|(?<=[。！？])")
_DOUBT = re.compile(r"[~…‥]|\.\s?\.")
_SHORT_FOR = frozenset(
    "ltd. inc. co. corp. no. nr. tel. e.g. i.e. z.b. bzw. ggf. evtl. dr. str. p.l.c. plc. reg. art. n. s.a.".split()
)
_TO_STRANGERS = frozenset({"approve", "approved", "stop"})
_STILL_NO_ALARM = ("please", "bitte", "not", "if", "only")


def opens_disclaimer(line: str) -> bool:
    return _stripped(line, 600).startswith(phrases().disclaimer_openers)


def is_disclaimer(paragraph: str, named: Collection[str] = ()) -> bool:
    """A legal or ecological footer: begins like one, or holds several of its marks and is long; and nothing else is
    said in it. `named`: the words by which the request names people, none of which a footer holds."""
    if len(paragraph) > MAX_FOOTER:
        return False
    if is_company_line(paragraph, named):
        return True
    text = _stripped(paragraph, MAX_FOOTER)
    marks = sum(mark in text for mark in phrases().disclaimer_marks)
    wide = sum(2 if ord(char) > 0x2E80 else 1 for char in text)
    opens = text.startswith(phrases().disclaimer_openers)
    like = (opens and marks >= 2) or (opens and marks >= 1 and wide >= 60) or (marks >= 3 and wide >= 140)
    return wide >= 40 and like and _says_nothing_else(paragraph, named)


def is_company_line(paragraph: str, named: Collection[str] = ()) -> bool:
    """What a firm must print on its letters: register, seat, directors, tax numbers."""
    text = plain(paragraph)
    marks = sum(mark in text for mark in phrases().company_marks)
    if marks < 2 or alarming(paragraph) or is_prose(paragraph, ("no", "is", "are")):
        return False
    return _says_nothing_else(paragraph, named)


def _says_nothing_else(paragraph: str, named: Collection[str]) -> bool:
    """Whether every sentence is one of a footer; no question, no sign, no word of another script among them."""
    bare = without_addresses(paragraph)
    if _QUESTION.search(bare) or _DOUBT.search(bare) or bears_sign(bare):
        return False
    parts = _sentences(paragraph)
    return not _is_mixed(bare) and all(_begins_whole(part) and _of_a_footer(plain(part), named) for part in parts)


def _begins_whole(sentence: str) -> bool:
    """Whether a sentence begins with a capital: `and the budget Example Ltd is registered ...` has words before it."""
    first = next((char for char in sentence if char.isalnum()), "")
    return not first.islower() or _stripped(sentence, 600).startswith(phrases().disclaimer_openers)


def _is_mixed(text: str) -> bool:
    """Whether words of two scripts stand in one footer. Names of firms in Latin letters are no such words."""
    letters = [char for char in text if char.isalpha()]
    latin = sum(char < "\u0250" for char in letters)
    if latin in (0, len(letters)):
        return False
    in_latin = "".join(char if char < "\u0250" else " " for char in text)
    return 2 * latin > len(letters) or alarming(in_latin) or is_prose(in_latin)


def is_errand(text: str, named: Collection[str] = ()) -> bool:
    """Whether a line names somebody of the request, a day or something to do."""
    return any(word in named or word in phrases().errand_words for word in said(plain(text)))


def _stripped(text: str, limit: int) -> str:
    return plain(text, limit).lstrip("*_-=#>| 🌳🌲🌱🌿🍃🌍🌎🌏♻")


def _sentences(paragraph: str) -> list[str]:
    """The sentences of a paragraph; a piece ending in `Ltd.` goes on, and `see below If you have received` is two."""
    found: list[str] = []
    for piece in filter(None, _SENTENCES.split(paragraph)):
        if found and _goes_on(found[-1]):
            found[-1] += " " + piece
        else:
            found.append(piece)
    return [part for sentence in found for part in _at_starts(sentence)]


def _goes_on(piece: str) -> bool:
    last = piece.rsplit(None, 1)[-1].lstrip("(").lower() if piece.strip() else ""
    return last in _SHORT_FOR or last.endswith(("str.", "nr."))


def _at_starts(sentence: str) -> list[str]:
    """A sentence cut before each word with a capital by which sentences of footers begin."""
    found = sentence.split()
    starts = [0]
    starts += [
        at for at, word in enumerate(found) if at and word[0].isupper() and word.lower() in phrases().footer_starts
    ]
    return [" ".join(found[start:end]) for start, end in zip(starts, [*starts[1:], len(found)], strict=True)]


def _of_a_footer(sentence: str, named: Collection[str]) -> bool:
    """Whether a (folded) sentence is one that footers hold, and says nothing else."""
    known = phrases()
    if not words(sentence) or is_closing(sentence):
        return True
    if is_errand(sentence, named):
        return False
    legal = any(mark in sentence for mark in (*known.disclaimer_marks, *known.company_marks, *known.footer_words))
    if legal or any(line in sentence for line in known.product_lines):
        strangers = any(phrase in sentence for phrase in known.to_strangers)
        return not alarming(sentence, known.footer_alarms | _TO_STRANGERS if strangers else known.footer_alarms)
    return any(opener in sentence for opener in known.disclaimer_openers) and not alarming(sentence, _STILL_NO_ALARM)
