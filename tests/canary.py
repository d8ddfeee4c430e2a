"""Secrets that must appear nowhere: every run of the tests has them, and at its end looks for them in all it made.

The rule: the value is in the environment and, by reference, in the settings of the tests' houses (a model's key, the
password of an outside mailbox); whatever a test wrote below its own folders, logged, printed or raised may not hold it.
A file that may hold it does not exist.
"""

import base64
import mmap
import os
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

NAME = "CANARY_SECRET"
LEAKS = pytest.StashKey[list[str]]()


def value() -> str:
    """The secret of this run."""
    return os.environ[NAME]


def shapes(secret: str) -> tuple[bytes, ...]:
    """The forms in which it would still be itself."""
    raw = secret.encode()
    return raw, base64.b64encode(raw), raw.hex().encode()


def in_files(folder: Path, secret: str) -> Iterator[Path]:
    """The files below a folder that hold the secret."""
    wanted = shapes(secret)
    for file in folder.rglob("*"):
        if file.is_file() and not file.is_symlink() and file.stat().st_size and _holds(file, wanted):
            yield file


def _holds(file: Path, wanted: Iterable[bytes]) -> bool:
    try:
        with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return any(data.find(shape) >= 0 for shape in wanted)
    except (OSError, ValueError):  # it went away, or nobody may read it
        return False


def pytest_configure(config: pytest.Config) -> None:
    """Set the secret before anything of the product is made; processes of the run inherit it."""
    os.environ.setdefault(NAME, f"canary-{secrets.token_hex(16)}")
    config.stash[LEAKS] = []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Name where the secret was found, never the secret."""
    for leak in config.stash[LEAKS]:
        terminalreporter.write_line(f"A SECRET WAS FOUND in {leak}", red=True)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Look through everything that this run wrote and said; a secret in it fails the run."""
    if hasattr(session.config, "workerinput"):
        return  # the run's own process looks through the folders of all
    found = session.config.stash[LEAKS]
    factory = getattr(session.config, "_tmp_path_factory", None)
    base: Path | None = getattr(factory, "_basetemp", None)
    if base is not None and base.is_dir():
        found += [str(file.relative_to(base)) for file in in_files(base, value())]
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    for reports in getattr(reporter, "stats", {}).values():
        found += [f"what {report.nodeid} said" for report in reports if _said(report)]
    if found:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _said(report: object) -> bool:
    """Whether the captured output, log or error of a report holds the secret."""
    parts = [text for _, text in getattr(report, "sections", ())] + [getattr(report, "longreprtext", "")]
    return any(value() in part for part in parts)
