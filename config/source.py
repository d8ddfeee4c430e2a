"""Where settings come from: a tree of values, each with its place of origin, so that a fault can name file and line.

Nothing is checked here but that the file is TOML; what a value means is decided in config/build.py.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from config.errors import Fault

Tree = dict[str, "Tree | Leaf"]
"""Names to values or to further names."""

BARE_OR_QUOTED: Final = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
DOTTED: Final = rf"{BARE_OR_QUOTED}(?:\s*\.\s*{BARE_OR_QUOTED})*"
TABLE_LINE: Final = re.compile(rf"\s*\[\[?\s*({DOTTED})\s*\]\]?")
KEY_LINE: Final = re.compile(rf"\s*({DOTTED})\s*=")
KEY_PART: Final = re.compile(BARE_OR_QUOTED)
STRING_OR_MARK: Final = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"""'
    r"|'''(?:[^']|'(?!''))*'''"
    r"""|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*|[\[\]{}\n]""",
    re.DOTALL,
)
SYNTAX_LINE: Final = re.compile(r" \(at line (\d+), column \d+\)")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value stands; `line` is known for files only."""

    file: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value as it was written. `text` values (environment, flags) are words that take their type from the setting."""

    value: object
    origin: Origin
    text: bool = False


def read_toml(path: Path) -> tuple[Tree, list[Fault]]:
    """The tree of a TOML file, or why it cannot be read."""
    try:
        raw = path.read_bytes()
        text = raw.decode()
        table = tomllib.loads(text)
    except OSError as error:
        return {}, [Fault(str(path), None, "", f"cannot be read ({error.strerror})", "check the path and its mode")]
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        return {}, [Fault(str(path), line, "", "is not UTF-8 text", "save it as UTF-8")]
    except tomllib.TOMLDecodeError as error:
        found = SYNTAX_LINE.search(str(error))
        line = int(found[1]) if found else len(text.splitlines())
        message = f"is not TOML: {SYNTAX_LINE.sub('', str(error))}"
        return {}, [Fault(str(path), line, "", message, "mend this line; strings stand in quotes")]
    return _tree(table, str(path), line_numbers(text), ()), []


def _tree(table: Mapping[str, object], file: str, lines: Mapping[tuple[str, ...], int], path: tuple[str, ...]) -> Tree:
    tree: Tree = {}
    for name, value in table.items():
        here = (*path, name)
        if isinstance(value, dict):
            tree[name] = _tree(value, file, lines, here)
        else:
            tree[name] = Leaf(value, Origin(file, nearest_line(lines, here)))
    return tree


def nearest_line(lines: Mapping[tuple[str, ...], int], path: tuple[str, ...]) -> int | None:
    """The line of a key, else of the nearest table around it (keys of inline tables have no line of their own)."""
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return None


def line_numbers(text: str) -> dict[tuple[str, ...], int]:
    """The line on which each table and key of a valid TOML text stands, counted from 1."""
    lines: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, line in _outer_lines(text):
        if match := TABLE_LINE.match(line):
            table = _parts(match[1])
            lines.setdefault(table, number)
        elif match := KEY_LINE.match(line):
            lines.setdefault((*table, *_parts(match[1])), number)
    return lines


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in KEY_PART.findall(dotted))


def _outer_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that begin outside of strings, arrays and inline tables, where a key or a table can stand."""
    start, number, depth, newlines = 0, 1, 0, 0
    for mark in STRING_OR_MARK.finditer(text):
        token = mark[0]
        if token == "\n":
            newlines += 1
            if depth == 0:
                yield number, text[start : mark.start()]
                start, number = mark.end(), newlines + 1
        elif token in "[{":
            depth += 1
        elif token in "]}":
            depth -= 1
        else:
            newlines += token.count("\n")
    yield number, text[start:]


def from_words(words: Mapping[str, object], origins: Mapping[str, Origin]) -> Tree:
    """A tree from dotted names and values, as flags and the environment give them; words stay words."""
    tree: Tree = {}
    for dotted, value in words.items():
        place = tree
        *tables, name = dotted.split(".")
        for table in tables:
            below = place.setdefault(table, {})
            if isinstance(below, Leaf):
                below = place[table] = {}
            place = below
        place[name] = Leaf(value, origins[dotted], text=isinstance(value, str))
    return tree


def merge(lower: Tree, upper: Tree) -> Tree:
    """Both trees in one; where they name the same value, the upper one holds."""
    merged = dict(lower)
    for name, node in upper.items():
        below = merged.get(name)
        if isinstance(node, dict) and isinstance(below, dict):
            merged[name] = merge(below, node)
        else:
            merged[name] = node
    return merged


def origins(tree: Tree, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Origin]]:
    """Every dotted name of the tree with the origin of its value, or of its first value if it is a table."""
    for name, node in tree.items():
        here = (*path, name)
        if isinstance(node, Leaf):
            yield ".".join(here), node.origin
        else:
            below = list(origins(node, here))
            if below:
                yield ".".join(here), below[0][1]
            yield from below
