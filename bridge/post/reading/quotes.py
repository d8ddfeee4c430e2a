"""Which lines are quoted: by their marks, and by comparing with the mail that was sent.

One rule: behind a frame, or without quote marks, only what is in the sent mail is quote; anything else there was
written by the user and stays in the text.
"""

from collections.abc import Sequence

from bridge.post.reading.compare import SentText, words_of
from bridge.post.reading.frames import attribution, header_block, is_elision, is_separator, names_us
from bridge.post.reading.model import Context, Line, Mark
from bridge.post.reading.phrases import alarming, is_disclaimer, is_prose, plain

MIN_RUN_LINES = 3
MIN_RUN_WORDS = 12
MAX_RUNS_TRIED = 60
LONG_LINE = 4


def mark_lines(lines: Sequence[Line], context: Context) -> list[Mark]:
    """What each line is."""
    marks = [_first_mark(line) for line in lines]
    sent = SentText(context.sent.text) if context.sent is not None else None
    words = [
        words_of(line.text[:2000]) if mark is not Mark.BLANK else [] for line, mark in zip(lines, marks, strict=True)
    ]
    _mark_unmarked_quotes(lines, words, marks, context, sent)
    _mark_attributions(lines, marks, context)
    _mark_neighbours(lines, marks)
    if sent is not None:
        _mark_inserted(lines, words, marks, context, sent)
    return marks


def _first_mark(line: Line) -> Mark:
    if line.blank:
        return Mark.BLANK
    return Mark.QUOTE if line.depth else Mark.NEW


def _mark_unmarked_quotes(
    lines: Sequence[Line], words: list[list[str]], marks: list[Mark], context: Context, sent: SentText | None
) -> None:
    """Quotes without marks (Outlook, Yahoo, Samsung, QQ): behind a header block or attribution, or a run of lines that
    stand so in the sent mail."""
    inside, place, at, tries = False, 0, 0, 0
    while at < len(lines):
        if marks[at] is not Mark.NEW:
            at += 1
            continue
        end = _frame_end(lines, words, marks, at, context, sent)
        if end > at:
            marks[at:end] = [Mark.FRAME if mark is not Mark.BLANK else mark for mark in marks[at:end]]
            inside, place, at = True, 0, end
            continue
        if not inside and sent is not None and tries < MAX_RUNS_TRIED and words[at]:
            start = _run(words, marks, at, sent)
            tries += bool(sent.row_starts(words[at][0]))
            if start is not None:
                inside, place = True, start
        if inside:
            found = _quoted_place(lines, words, at, place, sent)
            if found is not None:
                marks[at], place = Mark.QUOTE, found
        at += 1


def _quoted_place(
    lines: Sequence[Line], words: list[list[str]], at: int, place: int, sent: SentText | None
) -> int | None:
    """The place in the sent mail behind line `at`, when the line belongs there."""
    if sent is None:  # a frame is all there is to go by
        return place
    if not words[at]:
        return place if _is_rule_within(lines, words, at, place, sent) else None
    found = sent.next(words[at], place)
    if found is None and len(words[at]) >= LONG_LINE:
        found = sent.later(words[at], place)
    return found


def _is_rule_within(lines: Sequence[Line], words: list[list[str]], at: int, place: int, sent: SentText) -> bool:
    """A line without words (dashes, stars) is quoted when the sent mail has it and goes on behind it as here."""
    if lines[at].text.strip() not in sent.rules:
        return False
    follows = next((row for row in words[at + 1 :] if row), None)
    return follows is not None and sent.next(follows, place) is not None


def _frame_end(
    lines: Sequence[Line], words: list[list[str]], marks: list[Mark], at: int, context: Context, sent: SentText | None
) -> int:
    """The index behind a header block, or an attribution of an unmarked quote, that begins at `at`; else `at`."""
    end = header_block(lines, at, context)
    if end > at:
        return end
    for last in range(at, min(at + 5, len(lines))):
        if lines[last].blank or lines[last].depth:
            return at
        if attribution(lines, last, context, quote_follows=False) == at:
            follows = next((n for n in range(last + 1, len(lines)) if marks[n] is not Mark.BLANK), None)
            if follows is None or (not lines[follows].depth and _is_start(words[follows], sent)):
                return last + 1
    return at


def _is_start(words: list[str], sent: SentText | None) -> bool:
    return bool(words) and (sent is None or any(sent.next(words, start) for start in sent.row_starts(words[0])))


def _run(words: list[list[str]], marks: list[Mark], at: int, sent: SentText) -> int | None:
    """The place in the sent mail where a run of lines from `at` begins that is long enough to be no chance."""
    for start in sent.row_starts(words[at][0]):
        place, count, rows = start, 0, 0
        for index in range(at, len(words)):
            if not words[index] or marks[index] is not Mark.NEW:
                continue
            found = sent.next(words[index], place)
            if found is None:
                break
            place, count, rows = found, count + len(words[index]), rows + 1
            if rows >= MIN_RUN_LINES and count >= MIN_RUN_WORDS:
                return start
    return None


def _mark_attributions(lines: Sequence[Line], marks: list[Mark], context: Context) -> None:
    """The lines just above a quote, and an attribution that lost its quote at the very end."""
    following: Mark | None = None
    at = len(lines) - 1
    while at >= 0:
        if marks[at] is Mark.NEW and following in (Mark.QUOTE, None):
            first = attribution(lines, at, context, quote_follows=following is Mark.QUOTE)
            if first <= at:
                marks[first : at + 1] = [Mark.FRAME] * (at + 1 - first)
                at = first
        if marks[at] is not Mark.BLANK:
            following = marks[at]
        at -= 1


def _mark_neighbours(lines: Sequence[Line], marks: list[Mark]) -> None:
    """Separators just above a frame or quote, and elisions beside quoted lines, belong to them."""
    following: Mark | None = None
    for at in range(len(lines) - 1, -1, -1):
        text = lines[at].text
        framed = marks[at] is Mark.NEW and following in (Mark.FRAME, Mark.QUOTE)
        if framed and (is_elision(text) or (is_separator(text) and _says_nothing(text, following))):
            marks[at] = Mark.FRAME
        if marks[at] is not Mark.BLANK:
            following = marks[at]
    before: Mark | None = None
    for at, line in enumerate(lines):
        if marks[at] is Mark.NEW and before is Mark.QUOTE and is_elision(line.text):
            marks[at] = Mark.FRAME
        if marks[at] is not Mark.BLANK:
            before = marks[at]


def _says_nothing(separator: str, following: Mark | None) -> bool:
    """`-----Original Message-----` may stand above a header block only; bare dashes above any quote."""
    said = words_of(separator)
    return not said or (following is Mark.FRAME and not alarming(separator) and not is_prose(separator))


def _mark_inserted(
    lines: Sequence[Line], words: list[list[str]], marks: list[Mark], context: Context, sent: SentText
) -> None:
    """Lines behind quote marks that are not in the sent mail: somebody wrote into the quote. Judged only where most of
    the quote is the sent mail, because other mail may be quoted too."""
    place, known, strange = 0, 0, []
    for at, line in enumerate(lines):
        if marks[at] is not Mark.QUOTE or not line.depth or not words[at]:
            continue
        found = _marked_place(words[at], place, sent)
        if found is not None:
            place, known = found, known + 1
        elif not _frames_quote(lines, at, context, known):
            strange.append(at)
    if known >= 2 and len(strange) <= known:
        for at in strange:
            marks[at] = Mark.INSERTED


def _marked_place(words: list[str], place: int, sent: SentText) -> int | None:
    found = sent.next(words, place)
    if found is None:
        found = sent.later(words, place)
    return found if found is not None or len(words) < LONG_LINE else sent.later(words, 0)


def _frames_quote(lines: Sequence[Line], at: int, context: Context, known: int) -> bool:
    """Attribution, header lines, separators and footers inside the marks."""
    text = lines[at].text
    if is_separator(text) or is_elision(text) or is_disclaimer(text) or names_us(plain(text), context):
        return True
    if known:
        return False
    near = range(max(0, at - 4), at + 1)
    if any(header_block(lines, start, context) > at for start in near):
        return True
    return any(
        attribution(lines, last, context, quote_follows=True) <= at for last in range(at, min(at + 5, len(lines)))
    )
