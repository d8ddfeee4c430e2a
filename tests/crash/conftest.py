"""What the tests with server processes share: one town a test run."""

from collections.abc import Iterator

import pytest

from tests.crash.histories import Town
from tests.crash.histories import town as open_town


@pytest.fixture(scope="session")
def town() -> Iterator[Town]:
    with open_town() as made:
        yield made
