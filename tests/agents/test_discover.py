"""Finding tools and models: a file in the folder is enough, and what does not keep the rule is refused by name."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from agents import discover
from agents.discover import DiscoveryError
from agents.offer import Offer
from config import settings

TOOL = """
from agents.llm import ToolSpec
from agents.tool import BaseTool
def make(offer):
    return BaseTool(ToolSpec({name!r}, "d", {{"type": "object", "properties": {{}}}})) if {wanted} else None
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, ModuleType]]:
    folder = tmp_path / "some_tools"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield folder, importlib.import_module("some_tools")
    for name in [name for name in sys.modules if name.startswith("some_tools")]:
        del sys.modules[name]


def test_a_new_file_is_a_new_tool(package: tuple[Path, ModuleType]) -> None:
    folder, module = package
    (folder / "b.py").write_text(TOOL.format(name="beta", wanted=True))
    (folder / "a.py").write_text(TOOL.format(name="alpha", wanted="offer.relay"))
    (folder / "_shared.py").write_text("raise RuntimeError('private files are not looked at')")
    assert [tool.spec.name for tool in discover.tools(Offer(), module)] == ["beta"]
    assert [tool.spec.name for tool in discover.tools(Offer(relay=True), module)] == ["alpha", "beta"]


def test_two_files_of_one_name_and_a_file_without_make(package: tuple[Path, ModuleType]) -> None:
    folder, module = package
    (folder / "a.py").write_text(TOOL.format(name="same", wanted=True))
    (folder / "b.py").write_text(TOOL.format(name="same", wanted=True))
    with pytest.raises(DiscoveryError, match="'same' is taken"):
        discover.tools(Offer(), module)
    (folder / "b.py").unlink()
    (folder / "c.py").write_text("x = 1")
    with pytest.raises(DiscoveryError, match=r"some_tools.c has no function make"):
        discover.tools(Offer(), module)


def test_the_providers_and_their_models() -> None:
    assert set(discover.providers()) == {"demo", "litellm"}
    configs = {"demo": settings.Model("demo", provider="demo"), "big": settings.Model("big", model="openai/x")}
    made = discover.models(configs)
    assert made["demo"].demo
    assert made["big"].label == "openai/x"


def test_an_unknown_provider_is_named(package: tuple[Path, ModuleType]) -> None:
    with pytest.raises(DiscoveryError, match="unknown model provider demo"):
        discover.models({"demo": settings.Model("demo", provider="demo")}, package=package[1])
