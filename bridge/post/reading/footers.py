"""Legal, ecological and company footers under a text.

One rule: each sentence of a footer must be one of a footer by itself. What names somebody of the request, a day or
something to do stays in the text, however much it looks like a footer.
"""

import re
from collections.abc import Collection

from bridge.post.reading.phrases import alarming, is_closing, is_prose, phrases, plain, words

MAX_FOOTER = 6000
_SENTENCES = re.compile(r"(?<=[.!?;])\s|(?<=[。！？])")
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
    return wide >= 40 and like and all(_of_a_footer(sentence, named) for sentence in _sentences(text))


def is_company_line(paragraph: str, named: Collection[str] = ()) -> bool:
    """What a firm must print on its letters: register, seat, directors, tax numbers."""
    text = plain(paragraph)
    marks = sum(mark in text for mark in phrases().company_marks)
    if marks < 2 or alarming(paragraph) or is_prose(paragraph, ("no", "is", "are")):
        return False
    return not is_errand(paragraph, named)


def is_errand(text: str, named: Collection[str] = ()) -> bool:
    """Whether a line names somebody of the request, a day or something to do."""
    return any(word in named or word in phrases().errand_words for word in (said.strip(".'") for said in words(text)))


def _stripped(text: str, limit: int) -> str:
    return plain(text, limit).lstrip("*_-=#>| ")


def _sentences(text: str) -> list[str]:
    """The sentences of a text; a piece that ends in `Ltd.` or `e.g.` goes on."""
    found: list[str] = []
    for piece in filter(None, _SENTENCES.split(text)):
        if found and found[-1].rsplit(" ", 1)[-1].lstrip("(") in _SHORT_FOR:
            found[-1] += " " + piece
        else:
            found.append(piece)
    return found


def _of_a_footer(sentence: str, named: Collection[str]) -> bool:
    """Whether a (folded) sentence is one that footers hold, and says nothing else."""
    known, said = phrases(), words(sentence)
    if not said or is_closing(sentence):
        return True
    if "?" in sentence or is_errand(sentence, named):
        return False
    legal = any(mark in sentence for mark in (*known.disclaimer_marks, *known.company_marks, *known.footer_words))
    if legal or any(line in sentence for line in known.product_lines):
        strangers = any(phrase in sentence for phrase in known.to_strangers)
        return not alarming(sentence, known.footer_alarms | _TO_STRANGERS if strangers else known.footer_alarms)
    return any(opener in sentence for opener in known.disclaimer_openers) and not alarming(sentence, _STILL_NO_ALARM)
