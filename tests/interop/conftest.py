"""One `postroom serve` process for all tests of this folder (one a worker), and an observer for each test."""

from collections.abc import Iterator

import pytest

from tests.interop.support import Observer, Postroom, start


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
