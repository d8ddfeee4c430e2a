"""Which lines are quoted: by their marks, and by comparing with the mail that was sent.

One rule: behind a frame, behind quote marks or without them, only what is in the sent mail is quote; anything else
there was written by the user.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from bridge.post.reading.compare import SentText, without_links, words_of
from bridge.post.reading.footers import is_disclaimer
from bridge.post.reading.frames import (
    MAX_ATTRIBUTION,
    MAX_BLOCK,
    attribution,
    attribution_ends,
    header_block,
    is_about_us,
    is_block_title,
    is_elision,
    is_original_mark,
    is_separator,
)
from bridge.post.reading.model import Context, Line, Mark

MIN_RUN_LINES = 3
MIN_RUN_WORDS = 12
MAX_RUNS_TRIED = 60
_RULES = frozenset(" \t|-–—─_=*~.…·•>#\ufffc")
LONG_LINE = 4
LONGEST_LINE = 4000
NO_WORD = "\0"
"""Stands for a line that is too long to be in the sent mail: nothing equals it."""


@dataclass(frozen=True, slots=True)
class _Text:
    """The lines of a part with what is known of each; `marks` is filled step by step."""

    lines: Sequence[Line]
    words: list[list[str]]
    marks: list[Mark]
    following: list[int]
    """The next line that is not blank, or the number of lines."""
    ends: frozenset[int]
    context: Context
    sent: SentText | None
    attributions: dict[tuple[int, bool], int]
    """What `attribution` found, by last line and whether a quote follows."""
    about_us: list[bool]
    """Which lines could be the one of a header block that names us."""


def mark_lines(lines: Sequence[Line], context: Context) -> list[Mark]:
    """What each line is."""
    text = _text(lines, context)
    _mark_unmarked_quotes(text)
    _mark_attributions(text)
    _mark_neighbours(text)
    if text.sent is not None:
        _mark_inserted(text, text.sent)
    return text.marks


def _text(lines: Sequence[Line], context: Context) -> _Text:
    marks = [_first_mark(line) for line in lines]
    longest = max(LONGEST_LINE, 2 * len(context.sent.text)) if context.sent is not None else LONGEST_LINE
    words = [[] if line.blank else words_of(line.text) if len(line.text) <= longest else [NO_WORD] for line in lines]
    following = [len(lines)] * len(lines)
    for at in range(len(lines) - 2, -1, -1):
        following[at] = following[at + 1] if marks[at + 1] is Mark.BLANK else at + 1
    sent = SentText("\n".join([context.sent.text, *context.sent.also])) if context.sent is not None else None
    about_us = [is_about_us(line.text, context) for line in lines]
    return _Text(lines, words, marks, following, attribution_ends(lines), context, sent, {}, about_us)


def _first_mark(line: Line) -> Mark:
    if line.blank:
        return Mark.BLANK
    return Mark.QUOTE if line.depth else Mark.NEW


def _mark_unmarked_quotes(text: _Text) -> None:
    """Quotes without marks (Outlook, Yahoo, Samsung, QQ): behind a header block or attribution, or a run of lines that
    stand so in the sent mail."""
    inside, place, at, tries = False, 0, 0, 0
    while at < len(text.lines):
        if text.marks[at] is not Mark.NEW:
            at += 1
            continue
        end = _frame_end(text, at)
        if end > at:
            text.marks[at:end] = [Mark.FRAME if mark is not Mark.BLANK else mark for mark in text.marks[at:end]]
            inside, place, at = True, 0, end
            continue
        if not inside and tries < MAX_RUNS_TRIED:
            start, tried = _run(text, at)
            tries += tried
            inside, place = start is not None, start or 0
            behind = _behind_attribution(text, at, marked=False) if len(text.words[at]) > LONG_LINE else None
            if behind is not None:
                text.marks[at], inside, place = Mark.QUOTE, True, behind
                at += 1
                continue
        found = _quoted_place(text, at, place) if inside else None
        if found is not None:
            text.marks[at], place = Mark.QUOTE, found
        at += 1


def _frame_end(text: _Text, at: int) -> int:
    """The index behind a header block, or an attribution of an unmarked quote, that begins at `at`; else `at`."""
    end = _header_block(text, at)
    if end > at:
        return end
    for last in range(at, min(at + 5, len(text.lines))):
        if text.lines[last].blank or text.lines[last].depth:
            return at
        if last in text.ends and _attribution(text, last, quote_follows=False) == at:
            follows = text.following[last]
            if follows == len(text.lines) or (not text.lines[follows].depth and _is_start(text, follows)):
                return last + 1
    return at


def _header_block(text: _Text, at: int) -> int:
    return header_block(text.lines, at, text.context) if any(text.about_us[at : at + MAX_BLOCK]) else at


def _attribution(text: _Text, last: int, *, quote_follows: bool) -> int:
    known = text.attributions.get((last, quote_follows))
    if known is None:
        known = attribution(text.lines, last, text.context, quote_follows=quote_follows)
        text.attributions[last, quote_follows] = known
    return known


def _is_start(text: _Text, at: int) -> bool:
    """Whether a row of the sent mail begins with the words of this line."""
    words, sent = text.words[at], text.sent
    return bool(words) and (sent is None or any(sent.next(words, start) for start in sent.row_starts(words[0])))


def _run(text: _Text, at: int) -> tuple[int | None, int]:
    """(the place in the sent mail where a run of lines from `at` begins that is too long to be chance, tries made)."""
    if text.sent is None or not text.words[at]:
        return None, 0
    starts = text.sent.row_starts(text.words[at][0])
    for start in starts:
        if _runs_on(text, text.sent, at, start):
            return start, 1
    return None, bool(starts)


def _runs_on(text: _Text, sent: SentText, at: int, place: int) -> bool:
    count = rows = 0
    while at < len(text.lines) and text.marks[at] is Mark.NEW:
        if text.words[at]:
            found = sent.next(text.words[at], place)
            if found is None:
                return False
            place, count, rows = found, count + len(text.words[at]), rows + 1
        if rows >= MIN_RUN_LINES and count >= MIN_RUN_WORDS:
            return True
        at = text.following[at]
    return False


def _quoted_place(text: _Text, at: int, place: int) -> int | None:
    """The place in the sent mail behind line `at`, when the line belongs there."""
    if text.sent is None:  # a frame is all there is to go by
        return place
    words = text.words[at]
    if not words:
        linked = text.sent.has_links(text.lines[at].text[:LONGEST_LINE])
        return place if linked or _is_rule_within(text, text.sent, at, place) else None
    found = text.sent.next(words, place)
    if found is None and len(words) >= LONG_LINE:
        found = text.sent.later(words, place)
    return None if found is None or text.sent.lacks_marks(text.lines[at].text[:LONGEST_LINE]) else found


def _is_rule_within(text: _Text, sent: SentText, at: int, place: int) -> bool:
    """A line without words (dashes, stars) is quoted when the sent mail has it and goes on behind it as here."""
    follows = at
    while follows < len(text.lines) and not text.words[follows]:
        if text.lines[follows].text.strip() not in sent.rules:
            return False
        follows = text.following[follows]
    if follows == len(text.lines):
        return False
    return bool(text.words[follows]) and sent.next(text.words[follows], place) is not None


def _mark_attributions(text: _Text) -> None:
    """The lines just above a quote, and an attribution that lost its quote at the very end."""
    following: Mark | None = None
    at = len(text.lines) - 1
    while at >= 0:
        if at in text.ends and text.marks[at] is Mark.NEW and following in (Mark.QUOTE, None):
            first = _attribution(text, at, quote_follows=following is Mark.QUOTE)
            if first <= at:
                text.marks[first : at + 1] = [Mark.FRAME] * (at + 1 - first)
                at = first
        if text.marks[at] is not Mark.BLANK:
            following = text.marks[at]
        at -= 1


def _mark_neighbours(text: _Text) -> None:
    """Separators just above a frame or quote, and elisions beside quoted lines, belong to them."""
    following: Mark | None = None
    for at in range(len(text.lines) - 1, -1, -1):
        row = text.lines[at].text
        framed = text.marks[at] is Mark.NEW and following in (Mark.FRAME, Mark.QUOTE)
        if framed and (is_elision(row) or (is_separator(row) and _says_nothing(row, following, text.context))):
            text.marks[at] = Mark.FRAME
        if text.marks[at] is not Mark.BLANK:
            following = text.marks[at]
    before: Mark | None = None
    for at, line in enumerate(text.lines):
        if text.marks[at] is Mark.NEW and before is Mark.QUOTE and is_elision(line.text):
            text.marks[at] = Mark.FRAME
        if text.marks[at] is not Mark.BLANK:
            before = text.marks[at]


def _says_nothing(separator: str, following: Mark | None, context: Context) -> bool:
    """`-----Original Message-----` may stand above a header block only; bare dashes above any quote."""
    return not words_of(separator) or (following is Mark.FRAME and is_original_mark(separator, context))


def _mark_inserted(text: _Text, sent: SentText) -> None:
    """Lines behind quote marks that are not in the sent mail: somebody wrote into the quote."""
    place, known = 0, False
    for at, line in enumerate(text.lines):
        if known and _is_remainder(text, at, place, sent):
            rest = sent.next(text.words[at], place) if text.words[at] else None
            text.marks[at], place = Mark.QUOTE, rest or place
            continue
        if text.marks[at] is not Mark.QUOTE or not line.depth:
            continue
        words = text.words[at]
        if not words:
            if _says_without_words(without_links(line.text)) and line.text.strip() not in sent.rules:
                text.marks[at] = Mark.INSERTED
            continue
        found = _marked_place(words, place, sent)
        if found is None and not known:
            found = _behind_attribution(text, at)
        if found is not None and sent.lacks_marks(line.text[:LONGEST_LINE]):
            text.marks[at], place, known = Mark.INSERTED, found, True
        elif found is not None:
            place, known = found, True
        elif not _frames_quote(text, at, known):
            text.marks[at] = Mark.INSERTED


def _is_remainder(text: _Text, at: int, place: int, sent: SentText) -> bool:
    """The rest of a quoted row that a client broke without marking the new line: it goes on in the middle of a row."""
    if text.marks[at] is not Mark.NEW or at == 0 or text.marks[at - 1] is not Mark.QUOTE:
        return False
    if not text.words[at]:
        return sent.has_links(text.lines[at].text[:LONGEST_LINE])
    return sent.within_row(place) and sent.next(text.words[at], place) is not None


def _behind_attribution(text: _Text, at: int, *, marked: bool = True) -> int | None:
    """The place behind a line that holds attribution and quoted text in one, as HTML without breaks and Yahoo's app
    give. Without quote marks the attribution must be whole, and what follows it no few words."""
    sent, row = text.sent, text.lines[at].text
    if sent is None or text.words[at] == [NO_WORD]:
        return None
    cut = row.find(":", 0, MAX_ATTRIBUTION)
    for _ in range(8):
        if cut < 0:
            return None
        head = Line(row[: cut + 1])
        if attribution([head], 0, text.context, quote_follows=marked) == 0:
            words = words_of(row[cut + 1 :])
            if len(words) >= LONG_LINE:
                return None if sent.lacks_marks(row[cut + 1 :]) else _marked_place(words, 0, sent)
            return _row_place(words, sent) if words and marked else None
        cut = row.find(":", cut + 1, MAX_ATTRIBUTION)
    return None


def _row_place(words: list[str], sent: SentText, place: int = 0) -> int | None:
    """The place behind a few words with which a row begins, from `place` on."""
    found = (sent.next(words, start) for start in sent.row_starts(words[0]) if start >= place)
    return next((place for place in found if place is not None), None)


def _says_without_words(text: str) -> bool:
    """A thumb, an arrow or a question mark is an answer too; rules and bars are not."""
    return not is_elision(text) and any(
        char not in _RULES and unicodedata.category(char) not in ("Cf", "Zs", "Mn") for char in text[:200]
    )


def _marked_place(words: list[str], place: int, sent: SentText) -> int | None:
    found = sent.next(words, place)
    if found is None and len(words) < LONG_LINE:
        found = _row_place(words, sent, place)  # a few words in the middle of a row are there by chance
        return found if found is not None else sent.without_blanks(words, place)
    if found is None:
        found = sent.later(words, place)
    if found is None:
        found = sent.later(words, 0)
    return found if found is not None else sent.without_blanks(words, place)


def _frames_quote(text: _Text, at: int, known: bool) -> bool:
    """Attribution and header lines above the quoted text, elisions and footers in it: all inside the marks."""
    row = text.lines[at].text
    if is_elision(row) or is_disclaimer(row, text.context.about):
        return True
    if known:
        return False
    if is_separator(row) and (not text.words[at] or is_original_mark(row, text.context)):
        return True
    if is_block_title(row) and at + 1 < len(text.lines) and _header_block(text, at + 1) > at + 1:
        return True
    if any(_header_block(text, start) > at for start in range(max(0, at - 6), at + 1)):
        return True
    ends = [last for last in range(at, min(at + 5, len(text.lines))) if last in text.ends]
    return any(_attribution(text, last, quote_follows=True) <= at for last in ends)
