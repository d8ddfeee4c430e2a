"""Rules a linter has no word for: docstrings first, one door to the environment, no state in modules, no sleeps."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.house.tree import PRODUCT, ROOT, Source, sources, tracked

ENVIRONMENT_DOOR = "config/load.py"
MUTABLE_CALLS = frozenset({
    "Counter", "OrderedDict", "WeakKeyDictionary", "WeakSet", "WeakValueDictionary", "bytearray", "defaultdict",
    "deque", "dict", "list", "set",
})  # packed, to be seen at a glance  # fmt: skip
MUTABLE_NODES = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
MUTATORS = frozenset({
    "add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop", "popitem", "remove", "setdefault",
    "update",
})  # packed, to be seen at a glance  # fmt: skip


def test_every_module_says_first_what_it_is() -> None:
    silent = [source.path for source in sources() if source.text and not _starts_with_docstring(source)]
    assert silent == []


def _starts_with_docstring(source: Source) -> bool:
    start = re.sub(r"\A(#[^\n]*\n)+", "", source.text).lstrip()
    return ast.get_docstring(source.tree) is not None and start.startswith(('"""', 'r"""'))


def test_only_the_loader_touches_the_environment() -> None:
    names = {"environ", "environb", "getenv", "putenv", "unsetenv"}
    found = [
        f"{source.path}:{node.lineno}"
        for source in sources(*PRODUCT)
        if source.path != ENVIRONMENT_DOOR
        for node in ast.walk(source.tree)
        if (isinstance(node, ast.Attribute) and node.attr in names and _names(node.value, "os"))
        or (isinstance(node, ast.ImportFrom) and node.module == "os" and names & {each.name for each in node.names})
    ]
    assert found == []


def _names(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def test_nothing_sets_a_global() -> None:
    found = [
        f"{source.path}:{node.lineno}"
        for source in sources()
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Global)
    ]
    assert found == []


def test_no_module_holds_state() -> None:
    found = [finding for source in sources(*PRODUCT) for finding in module_state(source)]
    assert found == []


def module_state(source: Source) -> Iterator[str]:
    """Lower-case mutable values of a module, and constants that a function changes."""
    constants: set[str] = set()
    for statement in source.tree.body:
        for name, value in _assigned(statement):
            if not _is_mutable(value) or name.startswith("__"):
                continue
            if name.isupper():
                constants.add(name)
            else:
                yield f"{source.path}:{statement.lineno} {name} is mutable"
    for function in source.functions():
        for node in ast.walk(function):
            changed = _mutated(node)
            if changed in constants:
                yield f"{source.path}:{function.lineno} {function.name} changes {changed}"


def _assigned(statement: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(statement, ast.Assign):
        yield from ((target.id, statement.value) for target in statement.targets if isinstance(target, ast.Name))
    elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value:
        yield statement.target.id, statement.value


def _is_mutable(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        called = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
        return called in MUTABLE_CALLS
    return isinstance(value, MUTABLE_NODES)


def _mutated(node: ast.AST) -> str | None:
    """The name that a node changes in place, if it does."""
    target: ast.expr | None = None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS:
        target = node.func.value
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
        target = node.value
    return target.id if isinstance(target, ast.Name) else None


@pytest.mark.parametrize(
    ("text", "findings"),
    [
        ("seen = []", 1),
        ("seen: dict[str, int] = dict()", 1),
        ("import collections\nseen = collections.deque()", 1),
        ("TABLE = {1: 2}", 0),
        ("TABLE = {}\ndef f():\n    TABLE[1] = 2", 1),
        ("TABLE = []\ndef f():\n    TABLE.append(2)", 1),
        ("def f():\n    seen = []\n    seen.append(1)", 0),
        ("names = (1, 2)", 0),
    ],
)
def test_the_state_check_finds_state(text: str, findings: int) -> None:
    assert len(list(module_state(Source("x.py", text, ast.parse(text))))) == findings


def test_tests_wait_on_events_and_never_sleep() -> None:
    found = [
        f"{source.path}:{node.lineno}"
        for source in sources("tests")
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and _sleeps(node)
    ]
    assert found == []


def _sleeps(node: ast.Call) -> bool:
    """time.sleep(...), or asyncio.sleep of more than the bare turn of the loop that sleep(0) is."""
    called = node.func
    if not isinstance(called, ast.Attribute) or called.attr != "sleep":
        return False
    if _names(called.value, "time"):
        return True
    nothing = len(node.args) == 1 and isinstance(node.args[0], ast.Constant) and node.args[0].value == 0
    return _names(called.value, "asyncio") and not nothing


def test_nothing_is_left_unfinished_or_skipped() -> None:
    words = re.compile("|".join(["TO" + "DO", "FIX" + "ME", "raise Not" + "Implemented"]))
    skips = re.compile(r"pytest\.(mark\.)?(skip|xfail)" + r"|unittest\.skip|importor" + "skip")
    found = [
        f"{source.path}:{number}"
        for source in sources()
        for number, line in enumerate(source.text.splitlines(), 1)
        if words.search(line) or (skips.search(line) and not source.path.startswith(("tests/interop/", "tests/house/")))
    ]
    assert found == []


def test_every_silenced_check_says_why() -> None:
    silenced = re.compile(r"#\s*(?:type: ignore\[[^\]]+\]|noqa: [A-Z0-9, ]+)(?P<reason>.*)$")
    bare = re.compile(r"#\s*(type: ignore(?!\[)|noqa(?!:))")
    found = []
    for source in sources():
        for number, line in enumerate(source.text.splitlines(), 1):
            match = silenced.search(line)
            if (match and len(match["reason"].strip(" #-")) < 5) or (bare.search(line) and "re.compile" not in line):
                found.append(f"{source.path}:{number}")
    assert found == []


def test_no_file_names_a_package_registry_or_a_machine() -> None:
    hosts = ["pypi" + ".org", "python" + "hosted.org", "registry.npm" + "js.org", "crates" + ".io"]
    places = ["/wo" + "rk/", "/tmp/" + "build", "/ro" + "ot/", ".pyenv" + "/"]
    pattern = re.compile("|".join(map(re.escape, hosts + places)).encode())
    found = [str(path.relative_to(ROOT)) for path in tracked() if pattern.search(path.read_bytes())]
    assert found == []
