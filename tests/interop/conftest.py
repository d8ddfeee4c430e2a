"""One `postroom serve` process for all tests of this folder (one a worker), and an observer for each test."""

from collections.abc import Generator, Iterator

import pytest

from tests.interop.support import Missing, Observer, Postroom, start


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Where nothing can be installed, a test of a program that is not there is left out, if that was asked for."""
    try:
        return (yield)
    except Missing as missing:
        if item.config.getoption("--leave-out-missing-programs"):
            pytest.skip(str(missing))
        raise


@pytest.fixture(scope="session")
def postroom(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postroom]:
    """A running server."""
    server = start(tmp_path_factory.mktemp("postroom"))
    yield server
    server.stop()


@pytest.fixture
def observer(postroom: Postroom) -> Iterator[Observer]:
    """The mailboxes as they are."""
    made = Observer(postroom)
    yield made
    made.close()
