"""The laws of the imports: the contracts hold, nothing imports in a circle, and heavy libraries wait until used."""

import ast
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import grimp
import pytest

from bridge import ahead
from tests.house.contracts import Apart, Never, Only
from tests.house.tree import PRODUCT, ROOT, sources

HEAVY = (
    "aioimaplib", "apscheduler", "boto3", "dkim", "httpx", "httpx2", "huggingface_hub", "imapclient", "keyring",
    "litellm", "mcp", "openai", "pydantic", "pypdf", "starlette", "tiktoken", "tokenizers", "uvicorn",
)  # packed, to be seen at a glance  # fmt: skip
"""Imported on first use: neither the command line nor an idle server needs them."""


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph(*PRODUCT, cache_dir=None)


def test_the_contracts_hold() -> None:
    program = Path(sys.executable).with_name("lint-imports")
    command = [str(program), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_nothing_imports_in_a_circle(graph: grimp.ImportGraph) -> None:
    reach = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert circles(reach) == []


def circles(reach: dict[str, set[str]]) -> list[list[str]]:
    """The groups of modules that import each other, by taking away what imports nothing or is imported by nothing."""
    left = {module: {each for each in imported if each != module} for module, imported in reach.items()}
    while True:
        imported_by_some = {each for imported in left.values() for each in imported}
        loose = {module for module, imported in left.items() if not imported or module not in imported_by_some}
        if not loose:
            return [sorted(left)] if left else []
        left = {module: imported - loose for module, imported in left.items() if module not in loose}


def test_the_circle_check_finds_circles() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": set()}) == []
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [["b", "c"]]


def made(links: Iterable[tuple[str, str]]) -> grimp.ImportGraph:
    graph = grimp.ImportGraph()
    for importer, imported in links:
        graph.add_module(importer)
        graph.add_module(imported)
        graph.add_import(importer=importer, imported=imported)
    return graph


@pytest.mark.parametrize(
    ("links", "kept"),
    [
        ([("w.a", "w.b")], True),
        ([("w.a", "x.b")], False),
        ([("x.b", "w.a")], True),
    ],
)
def test_only_finds_foreign_imports(links: list[tuple[str, str]], kept: bool) -> None:
    contract = Only(name="", session_options={}, contract_options={"source": "w", "allowed": ["w"]})
    assert contract.check(made(links), verbose=False).kept is kept


@pytest.mark.parametrize(
    ("links", "kept"),
    [
        ([("s", "x"), ("x", "y")], True),
        ([("s", "x"), ("x", "f.a")], False),
        ([("f.a", "s")], True),
    ],
)
def test_never_finds_detours(links: list[tuple[str, str]], kept: bool) -> None:
    contract = Never(name="", session_options={}, contract_options={"source": "s", "forbidden": ["f"]})
    assert contract.check(made(links), verbose=False).kept is kept


@pytest.mark.parametrize(
    ("links", "kept"),
    [
        ([("e.a", "x"), ("e", "e.a")], True),
        ([("e.a.inner", "e.a.other")], True),
        ([("e.a", "e._shared")], True),
        ([("e._shared", "e.a")], False),
        ([("e.a", "e.b")], False),
        ([("e.a.inner", "e.b")], False),
        ([("e.a", "e")], False),
    ],
)
def test_apart_finds_imports_between_siblings(links: list[tuple[str, str]], kept: bool) -> None:
    contract = Apart(name="", session_options={}, contract_options={"parent": "e"})
    assert contract.check(made(links), verbose=False).kept is kept


def test_heavy_libraries_are_not_imported_at_the_top_of_a_module() -> None:
    allowed = {
        ("bridge/web", "starlette"),
        ("bridge/demo", "imapclient"),
        ("agents/mcp", "mcp"),
        ("agents/mcp", "httpx2"),
    }
    found = [
        f"{source.path} imports {name}"
        for source in sources(*PRODUCT)
        for statement in source.tree.body
        for name in _imported(statement)
        if name in HEAVY and (source.path.rpartition("/")[0], name) not in allowed
    ]
    assert found == []


def _imported(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.Import):
        return [each.name.partition(".")[0] for each in statement.names]
    if isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
        return [statement.module.partition(".")[0]]
    return []


@pytest.mark.parametrize(
    "module", ["config.load", "config.redact", "mailstore", "agents", "bridge", "bridge.cli", "bridge.app"]
)
def test_importing_brings_in_no_heavy_library(module: str) -> None:
    """A module that does not exist yet brings in nothing; one that exists and fails to import fails here."""
    script = (
        "import importlib, importlib.util, sys\n"
        f"if importlib.util.find_spec({module!r}) is not None:\n"
        f"    importlib.import_module({module!r})\n"
        f"print(*sorted(set({HEAVY!r}) & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


LATER = (
    "aiosmtpd",
    "aiosmtplib",
    "agents.extract",
    "agents.plain",
    "bridge.post.answers",
    "bridge.post.outward",
    "bridge.relay",
    *ahead.MODULES,
)
"""What a start leaves out."""


def test_a_start_leaves_out_what_the_first_mail_needs_and_reads_it_ahead() -> None:
    script = (
        "import sys\n"
        "import bridge.app, bridge.cli.program\n"
        f"print(*[name for name in {LATER!r} if name in sys.modules])\n"
        "bridge.app.read_ahead()\n"
        f"print(*[name for name in {ahead.MODULES!r} if name not in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
