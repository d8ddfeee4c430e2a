"""What every test shares: property tests without a stopwatch, and larger counts at night.

`POSTROOM_TEST_NIGHTLY=1` (make nightly) is the one switch; a test asks for its count by the fixture `count`.
"""

import logging
import os
from collections.abc import Callable, Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.canary import pytest_configure, pytest_sessionfinish, pytest_terminal_summary

__all__ = ["pytest_configure", "pytest_sessionfinish", "pytest_terminal_summary"]

NIGHTLY = os.environ.get("POSTROOM_TEST_NIGHTLY") == "1"

# A shared machine is slow at times; a slow example is no fault of the code.
settings.register_profile("ci", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.register_profile("nightly", settings.get_profile("ci"), max_examples=2000)
settings.load_profile("nightly" if NIGHTLY else "ci")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--leave-out-missing-programs", action="store_true", help="interop: skip where one is missing")
    parser.addoption("--fuzz-seconds", type=float, default=5.0, help="how long each fuzz test runs (CI: 60)")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests marked nightly are left out by day."""
    left_out = [] if NIGHTLY else [item for item in items if item.get_closest_marker("nightly")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def count() -> Callable[[int, int], int]:
    """The number of repetitions: `count(by_day, by_night)`."""
    return lambda by_day, by_night: by_night if NIGHTLY else by_day


@pytest.fixture(autouse=True)
def _log_level() -> Iterator[None]:
    """A command run inside a test sets the level of the process's log; the next test must find it as it was."""
    root = logging.getLogger()
    level = root.level
    yield
    root.setLevel(level)
