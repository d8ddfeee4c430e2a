"""A running service. Every asynchronous test of this folder runs on asyncio's loop and on uvloop."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path

import pytest
import uvloop

from tests.smtp.support import Running, running


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """The loops that pytest-asyncio runs each test on."""
    return {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Running]:
    """The service with the account alice."""
    async with running(tmp_path) as made:
        yield made
