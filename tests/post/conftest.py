"""What post's tests share: a house and its first person."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.post.desk import Desk, Person, desk


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[Desk]:
    async with desk(tmp_path / "home") as made:
        yield made


@pytest.fixture
async def ada(house: Desk) -> Person:
    return await house.person("ada")
