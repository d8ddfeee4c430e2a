"""The pages name only what exists: links lead somewhere, and paths in them are paths of the project."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.tree import OTHER, PRODUCT, ROOT, tracked

FOLDERS = (*PRODUCT, *OTHER, "docs", "requirements", "scripts")
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(#[^)]*)?\)")
PATH = re.compile(rf"`((?:{'|'.join(FOLDERS)})/[A-Za-z0-9_./-]*)`")


def pages() -> list[Path]:
    return [path for path in tracked() if path.suffix == ".md" and path.relative_to(ROOT).parts[0] != "tests"]


def dead(page: Path, text: str) -> Iterator[str]:
    """Links and paths of a page that lead nowhere."""
    for link in LINK.finditer(text):
        if "://" not in link[1] and not link[1].startswith("mailto:") and not (page.parent / link[1]).exists():
            yield link[1]
    for path in PATH.finditer(text):
        if not (ROOT / path[1]).exists():
            yield path[1]


def test_pages_lead_somewhere() -> None:
    found = {page.relative_to(ROOT).as_posix(): list(dead(page, page.read_text())) for page in pages()}
    assert {page: links for page, links in found.items() if links} == {}


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("[a](README.md) [b](docs/none.md) [c](https://example.org/x)", 1),
        ("`config/load.py` and `config/none.py`", 1),
    ],
)
def test_the_check_finds_dead_links(text: str, count: int) -> None:
    assert len(list(dead(ROOT / "README.md", text))) == count


def test_the_first_screen_of_the_readme_has_the_two_commands() -> None:
    first_screen = (ROOT / "README.md").read_text().splitlines()[:25]
    assert any(line.startswith("make demo") for line in first_screen)
    assert any(line.startswith("make test") for line in first_screen)


def test_records_are_numbered_once_and_say_their_status() -> None:
    records = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    numbers = [record.name[:4] for record in records]
    assert len(set(numbers)) == len(numbers)
    assert [
        record.name
        for record in records
        if not re.match(rf"# {record.name[:4]}\. .+\n\nStatus: (accepted|replaced)", record.read_text())
    ] == []
