"""Broad excepts stand only where a task must outlive what it runs, each with its reason beside it."""

import ast
from collections.abc import Iterator
from fnmatch import fnmatch

import pytest

from tests.house.tree import PRODUCT, Source, sources

BROAD = frozenset({"Exception", "BaseException"})
ALLOWED = {
    "mailstore/sqlite*.py": "the writer rolls back whatever a transaction function raises",
    "mailstore/writer.py": "the writer rolls back whatever a transaction function raises",
    "agents/mcp/*.py": "the owner of an MCP server outlives anything the SDK raises",
    "agents/models/litellm*.py": "LiteLLM raises what it likes; it becomes a ModelError",
    "agents/trigger*.py": "one broken trigger must not stop the tick",
    "agents/triggers/*.py": "one broken trigger must not stop the tick",
    "agents/worker.py": "a run that breaks is recorded as failed and the worker goes on",
    "agents/runner.py": "a tool that breaks becomes a result the model is told",
    "bridge/net/transport.py": "the pump answers one generic text and closes",
    "bridge/post/answers.py": "one answer from outside that breaks must not end the watch: it is an intake too",
    "bridge/watched.py": "one mail of a watched mailbox that breaks must not end the watch: it is an intake too",
    "bridge/post/courier.py": "one letter that breaks must not hold the others",
    "bridge/post/intake.py": "one message that breaks must not hold the others",
}
"""Files that may catch everything, and why."""


def broad_handlers(source: Source) -> Iterator[ast.ExceptHandler]:
    """The handlers that catch everything."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ExceptHandler) and (node.type is None or _is_broad(node.type)):
            yield node


def _is_broad(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple):
        return any(_is_broad(each) for each in node.elts)
    return isinstance(node, ast.Name) and node.id in BROAD


def test_broad_excepts_stand_where_they_may() -> None:
    found = [
        f"{source.path}:{handler.lineno}"
        for source in sources(*PRODUCT)
        for handler in broad_handlers(source)
        if not any(fnmatch(source.path, pattern) for pattern in ALLOWED)
    ]
    assert found == []


def test_every_broad_except_gives_its_reason() -> None:
    found = [
        f"{source.path}:{handler.lineno}"
        for source in sources(*PRODUCT)
        for handler in broad_handlers(source)
        if not any("#" in source.line(number) for number in range(handler.lineno - 1, handler.body[0].lineno + 1))
    ]
    assert found == []


def test_nothing_suppresses_everything() -> None:
    found = [
        f"{source.path}:{node.lineno}"
        for source in sources(*PRODUCT)
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call)
        and getattr(node.func, "attr", getattr(node.func, "id", "")) == "suppress"
        and any(_is_broad(each) for each in node.args)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("clause", "broad"),
    [("except:", 1), ("except Exception:", 1), ("except (OSError, BaseException) as e:", 1), ("except OSError:", 0)],
)
def test_the_check_finds_broad_excepts(clause: str, broad: int) -> None:
    text = f"try:\n    pass\n{clause}\n    pass\n"
    assert len(list(broad_handlers(Source("x.py", text, ast.parse(text))))) == broad
