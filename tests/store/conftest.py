"""Fixtures of the store's tests. After each test the store must still be in order: `desk` checks every invariant."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mailstore import events
from mailstore.store import Store
from tests.store.helpers import Clock, Desk, make_desk, open_store


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def store(tmp_path: Path, clock: Clock) -> AsyncIterator[Store]:
    store = await open_store(tmp_path / "home", clock)
    yield store
    assert await store.check() == []
    await store.close()


@pytest.fixture
async def desk(store: Store, clock: Clock) -> Desk:
    desk = await make_desk(store, clock)
    for kind in (events.Arrived, events.Trashed, events.Gone, events.Restored):
        store.on(kind, lambda tx, event: desk.events.append(event))
    return desk
