"""Parts a letter into the instruction and the text it carries, as "Summarise this:" and what follows.

Rule: patterns only ever see a bounded part of a letter, so a long one costs no more than a short one; what is beyond
the bound is material.
"""

import re

from agents.models.demo import words as w
from agents.models.demo.recipients import people
from agents.models.demo.text import addresses, fold, sentences

MIN_MATERIAL = 60
MAX_INSTRUCTION = 2500
MAX_LEAD = 400
MAX_COLONS = 20
_COLON = re.compile(r":(?=\s|$)")


def split_material(body: str, has_files: bool) -> tuple[str, str]:
    """The instruction, at most MAX_INSTRUCTION characters, and the text it is about when the letter carries it."""
    for number, colon in enumerate(_COLON.finditer(body[:MAX_INSTRUCTION])):
        if number == MAX_COLONS:
            break
        head, tail = body[: colon.start()], body[colon.end() :].strip()
        lead = sentences(head[-MAX_LEAD:].split("\n")[-1])[-1:] or [""]
        if len(tail) >= 2 and _introduces(lead[0], tail, has_files):
            return head, tail
    return _bounded(*_split_paragraphs(body, has_files), has_files)


def _introduces(lead: str, tail: str, has_files: bool) -> bool:
    """Whether "lead:" announces the text that follows it, as "Summarise this:" or "Write to ann@...:" do."""
    folded = fold(lead)
    if re.search(r"\b(?:subject|betreff|address|adresse)(?:\s+line)?$", folded) or w.REMIND.search(folded):
        return False
    if w.SUMMARISE.search(folded):
        return len(tail) >= MIN_MATERIAL and not (has_files and w.ATTACHED.search(folded))
    sends = w.SEND_VERB.search(folded) or w.DRAFT.search(folded)
    return bool(sends) and (any(addresses(lead)) or bool(people(lead)) or w.DRAFT.search(folded) is not None)


def _split_paragraphs(body: str, has_files: bool) -> tuple[str, str]:
    blocks = [block for block in re.split(r"\n[^\S\n]*\n", body) if block.strip()]
    if len(blocks) < 2 and not has_files:
        return _split_sentences(body)
    if len(blocks) < 2 or (has_files and not _says_which(blocks)):
        return body, ""
    wants = [wants_something(block) for block in blocks]
    if wants[0] and w.SELF_TEXT.search(fold(blocks[0][:MAX_LEAD])):
        cut = 1
    elif wants[-1] and not any(wants[:-1]):
        return blocks[-1], "\n\n".join(blocks[:-1])
    else:
        cut = next((number for number, want in enumerate(wants) if not want), len(blocks))
    material = "\n\n".join(blocks[cut:])
    if cut == 0 or len(material) < MIN_MATERIAL:
        return body, ""
    return "\n\n".join(blocks[:cut]), material


def _split_sentences(body: str) -> tuple[str, str]:
    """One paragraph with the wish and the text in a row: "Summarise this. The ferry ...", or the wish at its end."""
    parts = sentences(body[:MAX_INSTRUCTION])
    first = next((number for number, part in enumerate(parts) if not _instructs(part)), len(parts))
    last = len(parts)
    while last > first and _instructs(parts[last - 1]):
        last -= 1
    around = " ".join([*parts[:first], *parts[last:]])
    text = " ".join(parts[first:last]) + body[MAX_INSTRUCTION:]
    folded = fold(around)
    asked = w.SUMMARISE.search(folded) and not w.ATTACHED.search(folded)
    elsewhere = w.MAIL_NOUN.search(folded) and not w.SELF_TEXT.search(folded)
    if not asked or elsewhere or len(text) < MIN_MATERIAL:
        return body, ""
    return around, text


def _instructs(sentence: str) -> bool:
    """Whether a sentence is part of the wish: it asks for something, or says how the result is to be."""
    return wants_something(sentence) or bool(w.MANNER.match(fold(sentence)))


def _says_which(blocks: list[str]) -> bool:
    return any(w.SELF_TEXT.search(fold(block[:MAX_LEAD])) for block in (blocks[0], blocks[-1]))


def wants_something(text: str) -> bool:
    """Whether a paragraph asks for anything; its beginning tells."""
    folded = fold(text[:MAX_LEAD])
    asks = any(pattern.search(folded) for pattern in (w.SUMMARISE, w.SEND_VERB, w.DRAFT, w.REMIND))
    return asks or bool(w.SEARCH.search(folded) and w.MAIL_NOUN.search(folded))


def _bounded(instruction: str, material: str, has_files: bool) -> tuple[str, str]:
    """A long instruction is one with text in it: its beginning is read, or its end if the wish stands there."""
    if len(instruction) <= MAX_INSTRUCTION:
        return instruction, material
    head, tail = instruction[: MAX_INSTRUCTION // 2], instruction[-MAX_INSTRUCTION // 2 :]
    kept = head if wants_something(head) or not wants_something(tail[-MAX_LEAD:]) else tail
    return kept, material or ("" if has_files else instruction)
