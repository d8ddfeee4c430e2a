"""New text to a decision: the words, item lists, reasons and changes.

One rule: only the first line decides, only when it is a decision and nothing else, and an approval only when it stands
alone.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from bridge.post.reading.model import DecisionWord, NewText, SentMail
from bridge.post.reading.phrases import is_greeting
from bridge.post.reading.vocabulary import MAX_LINE, Vocabulary, decides, fold, spoiler

_ITEMS = re.compile(r"(\D{1,40}) ((?:\d{1,3})(?: ?[,+&] ?\d{1,3}){0,50})\Z")
_COLON = re.compile(r"[:：]")
_COLON_OR_DASH = re.compile(r"[:：]|\s[-–—]|[-–—]\s")
_CLAUSE = re.compile(r"[.,;:!?()\-–—。、，！？\n]+")
_WORD = re.compile(r"[\w']+")
_APPROVING = re.compile(r"\b(?:approve|proceed|go ahead|lgtm)\b")
_NEGATION = re.compile(r"\b(?:not|n't|never|cannot|no|without|won't|can't|don't|wouldn't|couldn't|shouldn't)\b|n't\b")
MAX_REASON = 20_000
MAX_SIGN_OFF = 20
"""Lines."""
MAX_GREETED = 5
"""Words of a line below which a greeting without a comma may still end in a word of decision."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one text says."""

    decision: DecisionWord
    rule: str
    near_miss: str | None = None
    items: tuple[int, ...] = ()
    grant: bool = False
    reason: str = ""
    edits: str = ""
    line: str = ""
    word: str = ""


def respond(rule: str, near_miss: str | None = None, line: str = "") -> Verdict:
    """Feedback; with `near_miss` it stays pending and the rule carries the name."""
    return Verdict("respond", f"near-miss:{near_miss}" if near_miss else rule, near_miss, line=line)


@dataclass(frozen=True, slots=True)
class Rules:
    """What a text is judged by."""

    words: Vocabulary
    weak_ok: bool
    sent: SentMail | None
    is_sign_off: Callable[[str], bool]


def judge(text: NewText, rules: Rules) -> Verdict:
    """The decision of a new text; near misses named."""
    lines = [line.strip() for line in text.lines if line.strip()]
    if not lines:
        return Verdict("none", "empty")
    if text.inserted:
        return respond("", "inside-quote", lines[0])
    if text.sandwiched:
        return replace(respond("between-quotes"), line=lines[0])
    verdict = _judge_lines(lines, rules)
    if text.too_long and verdict.decision in ("approve", "edit"):
        return respond("", "too-long", lines[0])
    if text.trailing and verdict.decision == "approve":
        return respond("", "trailing", lines[0])
    if text.unproven and verdict.decision in ("approve", "edit"):
        return respond("", "unknown-mail", lines[0])
    return verdict


def _judge_lines(lines: list[str], rules: Rules) -> Verdict:
    first, rest = lines[0], lines[1:]
    head = _read_head(first, rules)
    if head is None:
        return _near_miss(first, rest, rules)
    if head.near_miss:
        return head
    if head.word in rules.words.weak and not rules.weak_ok:
        return respond("", "weak-word", first)
    if head.decision == "approve":
        return _approve(head, rest, rules)
    if head.decision == "reject":
        return _reject(head, rest, rules)
    return _edit(head, rest)


def _approve(head: Verdict, rest: list[str], rules: Rules) -> Verdict:
    if len(rest) <= MAX_SIGN_OFF and all(rules.is_sign_off(line) for line in rest):
        return head
    return respond("", "went-on", head.line)


def _reject(head: Verdict, rest: list[str], rules: Rules) -> Verdict:
    reason = "\n".join([head.reason, *rest] if head.reason else rest)[:MAX_REASON]
    if _approves_too(reason, rules.words):
        return respond("", "both-words", head.line)
    return replace(head, reason=reason)


def _edit(head: Verdict, rest: list[str]) -> Verdict:
    edits = "\n".join([head.edits, *rest] if head.edits else rest)
    if not edits.strip():
        return respond("", "edit-alone", head.line)
    return replace(head, edits=edits)


def _read_head(line: str, rules: Rules) -> Verdict | None:
    """The first line as a word, `approve 1,3`, `reject 2: reason`, `always approve` or `edit: changes`; else None."""
    word = fold(line[:MAX_LINE])
    found = decides(line, rules.words)
    if found is not None:
        return Verdict(found, "word", line=line, word=word)
    if len(line) <= MAX_LINE and not spoiler(line):
        if word in rules.words.always:
            return _always(line, word, rules)
        if verdict := _with_items(line, word, rules, ""):
            return verdict
    return _with_tail(line, rules)


def _always(line: str, word: str, rules: Rules) -> Verdict:
    if rules.sent is None or not rules.sent.grant:
        return respond("", "no-grant", line)
    return Verdict("approve", "always", grant=True, line=line, word=word)


def _with_items(line: str, folded: str, rules: Rules, reason: str) -> Verdict | None:
    match = _ITEMS.match(folded)
    decision = rules.words.item_heads.get(match[1]) if match else None
    if match is None or decision is None:
        return None
    items = tuple(dict.fromkeys(int(number) for number in re.findall(r"\d+", match[2])))
    shown = rules.sent.items if rules.sent is not None else None
    if not set(items) <= set(shown or ()):
        return respond("", "unknown-item", line)
    return Verdict(decision, "items", items=items, reason=reason, line=line, word=match[1])


def _with_tail(line: str, rules: Rules) -> Verdict | None:
    """`reject: reason` and `edit: changes`: the head must be a decision by itself; the tail may hold anything."""
    head, tail = _cut(line, _COLON)
    if tail:
        if rules.words.meaning(head) == "reject":
            return Verdict("reject", "reason", reason=tail, line=line, word=head)
        verdict = _with_items(line, head, rules, tail)
        if verdict is not None and (verdict.decision == "reject" or verdict.near_miss):
            return verdict
    head, tail = _cut(line, _COLON_OR_DASH)
    if tail and rules.words.meaning(head) == "edit":
        return Verdict("edit", "edit", edits=tail, line=line, word=head)
    return None


def _cut(line: str, mark: re.Pattern[str]) -> tuple[str, str]:
    """(the folded words before the mark, what stands behind it); the second is empty when there is no clean head."""
    found = mark.search(line[:MAX_LINE])
    if found is None or spoiler(line[: found.start()]):
        return "", ""
    return fold(line[: found.start()]), line[found.end() :].strip()


def _near_miss(first: str, rest: list[str], rules: Rules) -> Verdict:
    """Not a decision; whether it came near one."""
    word = fold(first[:MAX_LINE])
    words = rules.words
    spoiled = spoiler(first[:MAX_LINE])
    if spoiled == "override":
        return respond("", spoiled, first)
    if (
        spoiled
        and word.strip("?;؟~… ")
        and (word.strip("?;؟~… )(:=-") in words.every or _only_marks_beside(word, words))
    ):
        return respond("", spoiled, first)
    if is_greeting(first) and (any(decides(line, words) for line in rest[:6]) or _ends_in_word(first, words)):
        return respond("", "greeting", first)
    if sum(piece in words.every for piece in _pieces(word)) >= 2:
        return respond("", "several-words", first)
    heads = [w for w in _starts(word) if "approve" in words.every.get(w, ()) and (w not in words.weak or "," in first)]
    if heads and len(word) < 160:
        return respond("", "went-on", first)
    return replace(respond("feedback"), line=first)


def _ends_in_word(line: str, words: Vocabulary) -> bool:
    """`Hi, approve` and `Dear Assistant, approve?`: a greeting and the word on one line."""
    said = [piece.strip() for piece in re.split(r"[,!?.:;…]", fold(line[:MAX_LINE])) if piece.strip()]
    if len(said) > 1:
        return said[-1] in words.every
    tail = said[0].split() if said else []
    return 1 < len(tail) < MAX_GREETED and tail[-1] in words.every


def _only_marks_beside(word: str, words: Vocabulary) -> bool:
    return " ".join(_WORD.findall(word)) in words.every


def _pieces(word: str) -> list[str]:
    return [piece.strip() for piece in re.split(r"[/|,;]| or | oder | ou | o ", word) if piece.strip()]


def _starts(word: str) -> list[str]:
    found = _WORD.findall(word[:200])
    return [" ".join(found[:count]) for count in (1, 2, 3) if len(found) > count - 1]


def _approves_too(reason: str, words: Vocabulary) -> bool:
    """An approval in the reason of a refusal: as a clause of its own in any language, or as an English imperative."""
    for clause in _CLAUSE.split(reason):
        folded = fold(clause[:MAX_LINE])
        if "approve" in words.every.get(folded, ()) and folded not in words.weak:
            return True
    for line in reason.split("\n"):
        text = " ".join(line.casefold().replace("’", "'").split())
        if "approve" in words.every.get(fold(line[:MAX_LINE]), ()):
            return True
        for match in _APPROVING.finditer(text):
            if not _NEGATION.search(text[max(0, match.start() - 40) : match.start()]):
                return True
    return False
