"""Reads an agent dialogue: a plain text file that shows a conversation between a person, a model, tools and Postroom.

The rule: a line that is not understood stops the reading with its file and number. What the lines mean is written in
README.md beside this file.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

LINE = re.compile(r"(?P<word>[a-z]+)(?: (?P<who>[^<>]+?))?(?P<way>[<>])(?: (?P<text>.*))?$")
ACTS = frozenset({"mail>", "reply>", "answer>", "drop>", "webhook>", "hook>", "elsewhere>", "postroom>", "do>"})
BEFORE = frozenset({"setup>", "file>", "zip>", "home>", "disk>", "page>"})
SEEN = frozenset({"model>", "model<", "tool>", "tool<", "ask>", "mail<", "refused<", "says<", "in<", "gone<", "sent<"})
NAMED = BEFORE - {"setup>"} | {"reply>", "drop>", "webhook>", "hook>", "in<", "gone<", "model>", "model<"}
"""Marks that may name a file, a mailbox or who answers."""


class BadDialogue(Exception):
    """A dialogue file cannot be read."""


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive lines with one mark. `mark` is such as "mail>", `who` the name in it, `line` the first line's."""

    mark: str
    who: str
    lines: tuple[str, ...]
    line: int

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


@dataclass(frozen=True, slots=True)
class Scene:
    """What a person does, and everything that comes of it."""

    act: Block
    seen: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A whole file: what is there before, then the scenes."""

    name: str
    before: tuple[Block, ...]
    scenes: tuple[Scene, ...]


def filled(dialogue: Dialogue, words: Mapping[str, str]) -> Dialogue:
    """The dialogue with each word in braces replaced by what it stands for."""

    def fill(block: Block) -> Block:
        return replace(block, lines=tuple(_fill(line, words) for line in block.lines))

    scenes = tuple(Scene(fill(scene.act), tuple(map(fill, scene.seen))) for scene in dialogue.scenes)
    return replace(dialogue, before=tuple(map(fill, dialogue.before)), scenes=scenes)


def _fill(line: str, words: Mapping[str, str]) -> str:
    for word, meant in words.items():
        line = line.replace(word, meant)
    return line


@dataclass(frozen=True, slots=True)
class CallLine:
    """A tool call as it is written: `read_mail ref="x"`. `raw` is set instead of `args` when it is no such list."""

    name: str
    args: dict[str, Any]
    raw: str = ""


def read(path: Path) -> Dialogue:
    """A dialogue file. Raises BadDialogue."""
    return parse(path.read_text("utf-8"), path.name)


def parse(text: str, name: str) -> Dialogue:
    """A dialogue from its text. Raises BadDialogue."""
    blocks = _blocks(text, name)
    first = next((at for at, block in enumerate(blocks) if block.mark in ACTS), len(blocks))
    if first == len(blocks):
        raise BadDialogue(f"{name}: nobody does anything in it")
    scenes: list[tuple[Block, list[Block]]] = []
    for block in blocks[first:]:
        if block.mark in ACTS:
            scenes.append((block, []))
        elif block.mark in BEFORE:
            raise BadDialogue(f"{name}:{block.line}: {block.mark} must stand before the first mail")
        else:
            scenes[-1][1].append(block)
    for block in blocks[:first]:
        if block.mark in SEEN:
            raise BadDialogue(f"{name}:{block.line}: {block.mark} stands before anybody did anything")
    return Dialogue(name, tuple(blocks[:first]), tuple(Scene(act, tuple(seen)) for act, seen in scenes))


def _blocks(text: str, name: str) -> list[Block]:
    """Lines of one mark that follow each other are one block; an empty line ends it."""
    found: list[Block] = []
    open_mark = ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#") or not line.strip():
            open_mark = ""
            continue
        fit = LINE.match(line)
        if fit is None:
            raise BadDialogue(f"{name}:{number}: not a line of a dialogue: {line!r}")
        mark, who = fit["word"] + fit["way"], (fit["who"] or "").strip()
        if mark not in ACTS | BEFORE | SEEN or (who and mark not in NAMED):
            raise BadDialogue(f"{name}:{number}: there is no mark {line[: fit.end('way')]!r}")
        said = fit["text"] or ""
        if open_mark == f"{mark} {who}":
            last = found[-1]
            found[-1] = Block(last.mark, last.who, (*last.lines, said), last.line)
        else:
            found.append(Block(mark, who, (said,), number))
        open_mark = f"{mark} {who}"
    return found


def read_call(line: str) -> CallLine:
    """`name key=json key=json`; what does not read so is kept as raw text behind the name (a model's broken call)."""
    name, _, rest = line.strip().partition(" ")
    args: dict[str, Any] = {}
    decoder = json.JSONDecoder()
    while rest := rest.strip():
        key = re.match(r"(\w+)=", rest)
        if key is None:
            return CallLine(name, {}, rest)
        try:
            value, end = decoder.raw_decode(rest, key.end())
        except json.JSONDecodeError:
            return CallLine(name, {}, rest)
        args[key[1]], rest = value, rest[end:]
    return CallLine(name, args)
