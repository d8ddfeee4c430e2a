"""The user's own words in one part of a reply.

One rule: where the words stand matters as much as what they are; text between quoted lines answers something in
particular.
"""

import re
from collections.abc import Sequence

from bridge.post.reading.model import Context, Line, Mark, NewText
from bridge.post.reading.phrases import is_forward_mark
from bridge.post.reading.quotes import mark_lines
from bridge.post.reading.signature import is_signature, strip_signature

_EDGES = " \t\n\u00a0\ufeff\u200b\u200e\u200f"
_QUESTION_END = re.compile(r"[?؟？;;՞፧⁇‽][\s\"'”)»*_]{0,6}\Z")


def join_texts(texts: Sequence[NewText]) -> NewText:
    """The texts of all parts as one; words in more than one of them stand in several places."""
    if len(texts) == 1:
        return texts[0]
    segments = tuple(segment for text in texts for segment in text.segments)
    return NewText(
        text="\n\n".join(text.text for text in texts if text.text),
        segments=segments,
        sandwiched=len(segments) > 1 or any(text.sandwiched for text in texts),
        inserted=any(text.inserted for text in texts),
        forwarded=any(text.forwarded for text in texts),
        too_long=any(text.too_long for text in texts),
        unproven=any(text.unproven for text in texts),
        trailing=any(text.trailing for text in texts),
        quoted="\n".join(text.quoted for text in texts if text.quoted),
    )


def find_new_text(lines: Sequence[Line], context: Context, *, too_long: bool = False) -> NewText:
    """The new text of a part: without quote, frames, signature, footers."""
    marks = mark_lines(lines, context)
    forward = _forward_mark(lines, marks)
    if forward is not None:
        lines, marks = lines[:forward], marks[:forward]
    segments: list[tuple[str, ...]] = []
    sandwiched = trailing = False
    for start, end in _segments(marks):
        whole = [lines[at] for at in range(start, end)]
        kept = strip_signature(whole, context)
        trailing = trailing or not is_signature(whole[len(kept) :], context)
        text = tuple(_trimmed([line.text.rstrip() for line in kept]))
        if text:
            segments.append(text)
            sandwiched = sandwiched or _sandwiched(lines, marks, start, end)
    inserted = [at for at, mark in enumerate(marks) if mark is Mark.INSERTED]
    if not segments and inserted:
        segments = [tuple(lines[at].text.strip() for at in inserted)]
    return NewText(
        text="\n\n".join("\n".join(segment) for segment in segments).strip(_EDGES),
        segments=tuple(segments),
        sandwiched=sandwiched or len(segments) > 1,
        inserted=bool(inserted),
        forwarded=forward is not None,
        too_long=too_long,
        trailing=trailing,
        unproven=context.sent is None
        and any(m is Mark.QUOTE and not n.depth for m, n in zip(marks, lines, strict=True)),
        quoted="\n".join(line.text for line, mark in zip(lines, marks, strict=True) if mark is Mark.QUOTE),
    )


def _forward_mark(lines: Sequence[Line], marks: Sequence[Mark]) -> int | None:
    """Where a forwarded mail begins; a mark inside a quote says nothing about this mail."""
    for at, line in enumerate(lines):
        if marks[at] in (Mark.NEW, Mark.FRAME) and not line.depth and is_forward_mark(line.text):
            return at
    return None


def _segments(marks: Sequence[Mark]) -> list[tuple[int, int]]:
    """Runs of new lines; blank lines join, anything of a quote parts."""
    found: list[tuple[int, int]] = []
    start: int | None = None
    last = 0
    for at, mark in enumerate(marks):
        if mark is Mark.NEW:
            start = at if start is None else start
            last = at
        elif mark is not Mark.BLANK and start is not None:
            found.append((start, last + 1))
            start = None
    if start is not None:
        found.append((start, last + 1))
    return found


def _sandwiched(lines: Sequence[Line], marks: Sequence[Mark], start: int, end: int) -> bool:
    quoted = (Mark.QUOTE, Mark.INSERTED)
    above = next((at for at in range(start - 1, -1, -1) if marks[at] in quoted), None)
    below = any(mark in quoted for mark in marks[end:])
    if above is None:
        return False
    return below or bool(_QUESTION_END.search(lines[above].text[-200:]))


def _trimmed(rows: list[str]) -> list[str]:
    """Without blank rows at both ends."""
    start, end = 0, len(rows)
    while start < end and not rows[start].strip():
        start += 1
    while end > start and not rows[end - 1].strip():
        end -= 1
    return [row.strip(" \t\u00a0") if not row.strip() else row for row in rows[start:end]]
