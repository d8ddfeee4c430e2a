"""What the house tests look at: the project's own files and their syntax trees, read once a file."""

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
PRODUCT: Final = ("config", "mailstore", "agents", "bridge")
OTHER: Final = ("tests", "bench")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Source:
    """One Python file: its path from the root, its text and its tree."""

    path: str
    text: str
    tree: ast.Module

    def functions(self) -> Iterator[Function]:
        """Every function of the file, methods and inner ones too."""
        return (node for node in ast.walk(self.tree) if isinstance(node, Function))

    def line(self, number: int) -> str:
        """A line of the text, counted from 1."""
        return self.text.splitlines()[number - 1]


@cache
def sources(*folders: str) -> tuple[Source, ...]:
    """The Python files below the folders (all folders when none is named)."""
    found = []
    for folder in folders or (*PRODUCT, *OTHER):
        for path in sorted((ROOT / folder).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            found.append(Source(path.relative_to(ROOT).as_posix(), text, ast.parse(text)))
    return tuple(found)


@lru_cache(maxsize=1)
def tracked() -> tuple[Path, ...]:
    """Every file that belongs to the project: what git tracks, or without git all outside of dot folders."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        names = [name for name in listed.stdout.decode().split("\0") if name]
        return tuple(path for name in names if (path := ROOT / name).is_file())
    return tuple(path for path in ROOT.rglob("*") if path.is_file() and ".venv" not in path.parts)


def length(node: Function) -> int:
    """The lines of a function from `def` to its end, without its docstring and its decorators."""
    whole = (node.end_lineno or node.lineno) - node.lineno + 1
    first = node.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        whole -= (first.end_lineno or first.lineno) - first.lineno + 1
    return whole
