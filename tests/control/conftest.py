"""A whole App over a fresh data folder, without ports, and a control server in front of it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from bridge.app import App
from bridge.control.client import call
from bridge.control.server import ControlServer
from config.load import load
from config.paths import DataFolder, open_folder

Ask = Callable[..., Coroutine[Any, Any, dict[str, Any]]]


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    return open_folder(tmp_path / "home")


@pytest.fixture
async def app(folder: DataFolder) -> AsyncIterator[App]:
    made = await App.open(load(home=folder.root, environ={}), folder)
    yield made
    await made.close()


@pytest.fixture
async def server(app: App, folder: DataFolder) -> AsyncIterator[ControlServer]:
    made = ControlServer(app, folder, seconds=5.0)
    await made.start()
    yield made
    await made.close()


@pytest.fixture
def ask(server: ControlServer, folder: DataFolder) -> Ask:
    """Run a command through the socket, as the command line does it."""

    async def run(command: str, payload: bytes = b"", /, **args: Any) -> dict[str, Any]:
        return await asyncio.to_thread(call, folder.control_socket, command, args, payload, seconds=20.0)

    return run
