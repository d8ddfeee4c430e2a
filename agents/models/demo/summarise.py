"""Extractive summaries: whole sentences of the text, chosen by a score of their words, in the order of the text.

Rule: nothing is invented. Every line of a summary of prose stands word for word in the text; a table is described
by figures that are counted from it.
"""

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from agents.models.demo.words import ABBREVIATIONS, STOP_WORDS

DEFAULT_SENTENCES = 4
MAX_UNITS = 4000
MIN_WORDS = 3
LONG_SENTENCE = 45
SAME = 0.6
TABLE_ROWS = 3

_BULLET = re.compile(r"^\s*(?:[-*+•–]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_HEADING = re.compile(r"^\s*#{1,6}\s+|^\s*={3,}\s*$|^\s*-{3,}\s*$")
_END = re.compile(r"(?<=[.!?…])[\"'”“»)\]]*\s+(?=[\"'“„«(\[]?[A-ZÄÖÜÀ-Þ0-9])|(?<=[。！？])")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_FIGURE = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Unit:
    """One sentence or list item, where it stands (0 is first), and whether it is the first of its paragraph."""

    text: str
    place: int
    leads: bool
    words: tuple[str, ...]


def words_of(text: str) -> tuple[str, ...]:
    """The words that carry meaning, folded for comparison."""
    found = (word.casefold() for word in _WORD.findall(text))
    return tuple(word for word in found if word not in STOP_WORDS and (len(word) > 2 or word.isdigit()))


def split_sentences(paragraph: str) -> list[str]:
    """Sentences of one paragraph; a full stop after a known abbreviation or a single letter does not end one."""
    pieces = [piece for piece in _END.split(" ".join(paragraph.split())) if piece]
    sentences: list[str] = []
    for piece in pieces:
        if sentences and _is_open(sentences[-1]):
            sentences[-1] = f"{sentences[-1]} {piece}"
        else:
            sentences.append(piece)
    return [sentence.strip() for sentence in sentences]


def _is_open(sentence: str) -> bool:
    if not sentence.endswith("."):
        return False
    last = sentence.rsplit(None, 1)[-1].rstrip(".").lstrip("(\"'").casefold()
    return last in ABBREVIATIONS or (len(last) == 1 and last.isalpha()) or (last.isdigit() and len(last) <= 2)


def paragraphs_of(text: str) -> list[str]:
    """Paragraphs, list items and headings of a text, each joined to one line; headings end with a line break."""
    out: list[str] = []
    joined: list[str] = []

    def flush() -> None:
        if joined:
            out.append(" ".join(joined))
            joined.clear()

    for line in text.splitlines():
        if not line.strip():
            flush()
        elif _HEADING.match(line):
            flush()
            out.append(_HEADING.sub("", line).strip() + "\n")
        elif _BULLET.match(line):
            flush()
            joined.append(_BULLET.sub("", line).strip())
        else:
            if joined and _ends_line(joined[-1]):
                flush()
            joined.append(line.strip())
    flush()
    return [paragraph for paragraph in out if paragraph.strip()]


def _ends_line(line: str) -> bool:
    """True for a short line that stands by itself, such as a title or a `name: value` line of notes."""
    return line.endswith(":") or (len(line) < 50 and not line.endswith((",", ";", "-")) and line[-1:] not in ".!?…")


def units_of(text: str) -> tuple[list[Unit], frozenset[str]]:
    """The sentences to choose from, and the words of titles, which make a sentence weigh more."""
    units: list[Unit] = []
    titles: set[str] = set()
    for number, paragraph in enumerate(paragraphs_of(text)):
        if _is_title(paragraph, number):
            titles.update(words_of(paragraph))
            continue
        for index, sentence in enumerate(split_sentences(paragraph)):
            words = words_of(sentence)
            if words and len(units) < MAX_UNITS:
                units.append(Unit(sentence, len(units), index == 0, words))
    return units, frozenset(titles)


def _is_title(paragraph: str, number: int) -> bool:
    if paragraph.endswith("\n") or paragraph.rstrip().endswith(":"):
        return True
    short = len(paragraph.split()) <= 8 and paragraph.rstrip()[-1:] not in ".!?…;"
    return number == 0 and short


def summarise(text: str, sentences: int = DEFAULT_SENTENCES, title: str = "", focus: str = "") -> list[str]:
    """At most `sentences` sentences of the text, most telling ones, in the order of the text; fewer if it is short.

    Sentences with words of the title weigh more, and those with words of `focus` (what the reader asked) much more.
    """
    table = describe_table(text)
    if table:
        return table[: max(2, sentences)]
    units, titles = units_of(text)
    if not units:
        return [line.strip() for line in text.splitlines() if line.strip()][:sentences]
    wanted = min(sentences, max(1, math.ceil(len(units) * 0.6)))
    chosen = _choose(units, _scores(units, titles | frozenset(words_of(title)), frozenset(words_of(focus))), wanted)
    return [unit.text for unit in sorted(chosen, key=lambda unit: unit.place)]


def _scores(units: Sequence[Unit], titles: frozenset[str], focus: frozenset[str]) -> list[float]:
    seen = Counter(word for unit in units for word in set(unit.words))
    most = max(seen.values())
    last = max(len(units) - 1, 1)
    return [_score(unit, seen, most, titles, last) + len(focus.intersection(unit.words)) for unit in units]


def _score(unit: Unit, seen: Counter[str], most: int, titles: frozenset[str], last: int) -> float:
    distinct = set(unit.words)
    weight = sum(seen[word] / most for word in distinct) / math.sqrt(len(distinct) + 2)
    weight += 0.35 * len(distinct & titles) / math.sqrt(len(distinct))
    weight += 0.25 if _FIGURE.search(unit.text) else 0.0
    weight += 0.3 if unit.place == 0 else 0.1 if unit.leads or unit.place == last else 0.0
    if len(unit.words) < MIN_WORDS or unit.text.endswith("?"):
        weight *= 0.4
    return weight * (LONG_SENTENCE / len(unit.words) if len(unit.words) > LONG_SENTENCE else 1.0)


def _choose(units: Sequence[Unit], scores: Sequence[float], wanted: int) -> list[Unit]:
    """The best ones, leaving out any that says nearly the same as one already chosen."""
    order = sorted(units, key=lambda unit: (-scores[unit.place], unit.place))
    chosen: list[Unit] = []
    for unit in order:
        if len(chosen) == wanted:
            break
        if all(_overlap(unit, other) < SAME for other in chosen):
            chosen.append(unit)
    return chosen


def _overlap(one: Unit, other: Unit) -> float:
    first, second = set(one.words), set(other.words)
    return len(first & second) / min(len(first), len(second))


def describe_table(text: str) -> list[str]:
    """Facts of a delimited table (rows, columns, sums, first rows), or an empty list when the text is not one."""
    rows = _rows(text)
    if not rows:
        return []
    head, body = rows[0], rows[1:]
    facts = [f"A table of {len(body)} rows with the columns {', '.join(head)}."]
    for column, name in enumerate(head):
        fact = _column_fact(name, [row[column] for row in body])
        if fact:
            facts.append(fact)
    facts += [", ".join(f"{key}: {value}" for key, value in zip(head, row, strict=True)) for row in body[:TABLE_ROWS]]
    return facts


def _rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.strip()]
    for mark in (",", ";", "\t", "|"):
        counts = [line.count(mark) for line in lines]
        if len(lines) < 3 or min(counts) < 1:
            continue
        rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO("\n".join(lines)), delimiter=mark)]
        if len(rows) >= 3 and all(len(one) == len(other) for one, other in pairwise(rows)) and _is_table(rows):
            return rows
    return []


def _is_table(rows: Sequence[Sequence[str]]) -> bool:
    cells = [cell for row in rows for cell in row]
    heads = all(len(cell.split()) <= 3 and cell[-1:] not in ".!?" for cell in rows[0] if cell)
    return heads and len(rows[0]) >= 2 and sum(len(cell.split()) for cell in cells) / len(cells) < 5


def _column_fact(name: str, cells: Sequence[str]) -> str:
    numbers = [_number(cell) for cell in cells if cell]
    if not numbers or any(number is None for number in numbers):
        return ""
    figures = [number for number in numbers if number is not None]
    return f"{name}: from {min(figures):g} to {max(figures):g}, sum {sum(figures):g}."


def _number(cell: str) -> float | None:
    try:
        value = float(cell.replace(" ", "").rstrip("%€$"))
    except ValueError:
        return None
    return value if math.isfinite(value) else None
