"""The reference page says what the settings are."""

import ast
import re
import tomllib
from dataclasses import fields, is_dataclass

from config import settings
from config.build import did_you_mean
from config.describe import page
from config.load import setting_names
from config.settings import Settings
from tests.house.tree import PRODUCT, ROOT, sources


def test_the_page_is_as_the_settings_are() -> None:
    written = (ROOT / "docs" / "reference" / "settings.md").read_text()
    assert written == page(), "run: python -m config.describe > docs/reference/settings.md"


def test_every_setting_stands_on_the_page() -> None:
    text = page()
    assert [name for name in setting_names() if f"| `{name.rpartition('.')[2]}` |" not in text] == []
    assert "debug_" not in text


def test_every_setting_is_read_by_the_program() -> None:
    """A setting that only the checks of the settings look at would promise what nothing does."""
    program = [each for each in sources(*PRODUCT) if not each.path.startswith("config/")]
    program += [each for each in sources("config") if each.path == "config/settings.py"]
    read = {node.attr for each in program for node in ast.walk(each.tree) if isinstance(node, ast.Attribute)}
    tables = [each for each in vars(settings).values() if isinstance(each, type) and is_dataclass(each)]
    assert Settings in tables
    assert [f"{table.__name__}.{one.name}" for table in tables for one in fields(table) if one.name not in read] == []


def test_the_example_on_the_page_is_toml() -> None:
    example = re.search(r"```toml\n(.*?)```", page(), re.DOTALL)
    assert example is not None
    assert tomllib.loads(example[1])["agents"]["assistant"]["model"] == "haiku"


def test_an_unknown_name_without_a_near_one_lists_them_all() -> None:
    assert did_you_mean("zzz", ["beta", "alpha"]) == "known here: alpha, beta"
    assert did_you_mean("zzz", []) == "remove it"
