"""The lock and what it installs: hashed, free of known-bad versions, of GPL in the product, of strange .pth files."""

import re
import site
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from tests.house.tree import ROOT

LOCKS = ("run", "dev", "build")
DEV_ONLY_GPL = frozenset({"aioimaplib"})
PTH_FILES = {
    "_postroom.pth": "our own editable install",
    "distutils-precedence.pth": "setuptools",
    "_virtualenv.pth": "uv and virtualenv",
}
FREE = re.compile(
    r"apache|\bmit\b|bsd|isc|mpl|mozilla|psf|python software foundation|zlib|cc0|unlicense|public domain|lgpl"
    r"|lesser general public|hpnd|\b0bsd\b",
    re.IGNORECASE,
)
COPYLEFT = re.compile(r"\bA?GPL|(?<!lesser )(?<!library or lesser )(?:affero )?general public", re.IGNORECASE)
BAD_LITELLM = frozenset({"1.82.7", "1.82.8"})
"""These two carried a credential stealer."""


def pins(lock: str) -> dict[str, str]:
    """Names and versions of a lock."""
    text = (ROOT / "requirements" / f"{lock}.txt").read_text()
    return {match[1]: match[2] for match in re.finditer(r"^([a-z0-9-]+)==([^ ;\\]+)", text, re.MULTILINE)}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_has_a_hash_and_no_address(lock: str) -> None:
    text = (ROOT / "requirements" / f"{lock}.txt").read_text()
    entries = re.split(r"\n(?=\S)", text.strip())
    assert entries
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []
    assert "//" not in text
    assert "--index" not in text


def test_the_locks_agree_and_hold_what_we_ask_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    run, dev, build = (pins(lock) for lock in LOCKS)
    asked = {normal(re.split(r"[<>=!; \[]", wanted)[0]) for wanted in project["project"]["dependencies"]}
    assert asked - set(run) == set()
    assert {name: version for name, version in run.items() if dev.get(name) != version} == {}
    assert {name: version for name, version in build.items() if dev.get(name) != version} == {}
    assert "hatchling" in build


def test_the_bad_versions_of_litellm_are_refused_and_absent() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    assert all(f"!={version}" in project for version in BAD_LITELLM)
    assert pins("run")["litellm"] not in BAD_LITELLM


def test_what_is_installed_is_what_the_lock_says() -> None:
    dev = pins("dev")
    installed = {normal(each.metadata["Name"]): each.version for each in metadata.distributions()}
    assert {name: version for name, version in dev.items() if name in installed and installed[name] != version} == {}
    assert set(installed) - set(dev) - {"postroom", "pip"} == set()


def licence(name: str) -> str:
    """What a package says about its licence: in its metadata, else in the first words of its licence files."""
    package = metadata.distribution(name)
    fields = package.metadata
    said = [text[:200] for key in ("License-Expression", "License") for text in fields.get_all(key) or []]
    said += [each for each in fields.get_all("Classifier") or [] if each.startswith("License")]
    return " | ".join(each for each in said if each) or _licence_file(package)


def _licence_file(package: metadata.Distribution) -> str:
    files = [each for each in package.files or [] if each.name.upper().startswith(("COPYING", "LICENSE", "LICENCE"))]
    text = " ".join(" ".join(each.read_text().split()) for each in files)
    return "BSD, from its file" if "Redistribution and use in source and binary forms" in text else text[:200]


def test_every_package_of_the_product_is_under_a_free_licence_without_gpl() -> None:
    installed = {normal(each.metadata["Name"]) for each in metadata.distributions()}
    said = {name: licence(name) for name in pins("run") if name in installed}
    assert {name: text for name, text in said.items() if not FREE.search(text) or COPYLEFT.search(text)} == {}


def test_gpl_packages_are_known_and_serve_tests_only() -> None:
    installed = {normal(each.metadata["Name"]) for each in metadata.distributions()}
    found = {name for name in pins("dev") if name in installed and COPYLEFT.search(licence(name))}
    assert found == DEV_ONLY_GPL
    assert found & set(pins("run")) == set()


def test_no_strange_pth_file_runs_code_at_every_start() -> None:
    folders = {Path(path) for path in [*site.getsitepackages(), *sys.path] if "site-packages" in path}
    found = sorted(file.name for folder in folders if folder.is_dir() for file in folder.glob("*.pth"))
    assert [name for name in found if name not in PTH_FILES] == []


def test_the_licence_is_apache_2() -> None:
    text = (ROOT / "LICENSE").read_text()
    assert "Apache License" in text
    assert "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text


def test_the_changelog_is_kept() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    assert "## [Unreleased]" in text
