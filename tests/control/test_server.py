"""The control socket over a real socket: the owner alone, limits, hostile input, and one broken request harms none."""

import asyncio
import json
import os
import socket
import stat
from pathlib import Path
from typing import Any

import pytest

from bridge.app import App
from bridge.control import place, protocol, status
from bridge.control.client import NoServer, call
from bridge.control.protocol import ControlError
from bridge.control.server import CONNECTIONS, ControlServer
from config.load import load
from config.paths import DataFolder, open_folder
from tests.control.conftest import Ask


async def spoken(folder: DataFolder, data: bytes, *, end: bool = True) -> dict[str, Any]:
    """Send raw bytes to the socket; the reply line, parsed."""
    reader, writer = await asyncio.open_unix_connection(str(folder.control_socket))
    writer.write(data)
    if end:
        writer.write_eof()
    line = await asyncio.wait_for(reader.readline(), 20)
    writer.close()
    reply: dict[str, Any] = json.loads(line)
    return reply


def kind(reply: dict[str, Any]) -> str:
    assert reply["ok"] is False
    return str(reply["error"]["kind"])


async def test_a_command_is_answered(ask: Ask) -> None:
    told = await ask("status")
    assert told["pid"] == os.getpid()
    assert told["running"] is False
    assert told["accounts"] == []


async def test_the_socket_is_the_owners_alone(server: ControlServer, folder: DataFolder) -> None:
    info = folder.control_socket.stat()
    assert stat.S_ISSOCK(info.st_mode)
    assert stat.S_IMODE(info.st_mode) == 0o600


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\n", protocol.BAD_REQUEST),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", protocol.BAD_REQUEST),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n", protocol.BAD_REQUEST),
        (b"[" * 60_000 + b"\n", protocol.BAD_REQUEST),
        (b"", protocol.BAD_REQUEST),
        (b'{"command": "status"', protocol.BAD_REQUEST),
        (b'{"command": "launch"}\n', protocol.UNKNOWN_COMMAND),
        (b'{"command": "__class__"}\n', protocol.UNKNOWN_COMMAND),
        (b'{"command": "status", "args": {"x": 1}}\n', protocol.BAD_REQUEST),
        (b'{"command": "status", "bytes": 3}\nabc', protocol.BAD_REQUEST),
        (b'{"command": "send", "args": {"to": ["assistant"]}, "bytes": 10}\nabc', protocol.BAD_REQUEST),
        (b'{"command": "send", "bytes": 999999999}\n', protocol.TOO_LARGE),
        (b"x" * (protocol.MAX_LINE + 10), protocol.TOO_LARGE),
    ],
)
async def test_hostile_requests_are_refused_with_a_kind(
    server: ControlServer, folder: DataFolder, ask: Ask, data: bytes, expected: str
) -> None:
    assert kind(await spoken(folder, data)) == expected
    assert "pid" in await ask("status")


async def test_a_request_that_never_ends_is_given_up(app: App, folder: DataFolder) -> None:
    server = ControlServer(app, folder, seconds=0.2)
    await server.start()
    reply = await spoken(folder, b'{"command": "status"', end=False)
    assert kind(reply) == protocol.BAD_REQUEST
    await server.close()


async def test_more_connections_than_fit_are_told_to_wait(app: App, folder: DataFolder) -> None:
    server = ControlServer(app, folder, seconds=30.0)
    await server.start()
    opened = [await asyncio.open_unix_connection(str(folder.control_socket)) for _ in range(CONNECTIONS)]
    assert kind(await spoken(folder, b'{"command": "status"}\n')) == protocol.BUSY
    for reader, writer in opened:
        writer.write_eof()
        assert await asyncio.wait_for(reader.read(), 20)
        writer.close()
    assert (await spoken(folder, b'{"command": "status"}\n'))["ok"] is True
    await server.close()


async def test_a_client_that_goes_away_harms_nobody(server: ControlServer, folder: DataFolder, ask: Ask) -> None:
    for data in (b"", b'{"command": "status"}\n', b'{"command": "send", "bytes": 100}\nab'):
        _, writer = await asyncio.open_unix_connection(str(folder.control_socket))
        writer.write(data)
        writer.transport.abort()
    assert "pid" in await ask("status")


async def test_a_fault_of_ours_is_no_answer_and_ends_nothing(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object) -> dict[str, Any]:
        raise ZeroDivisionError("a secret text")

    with monkeypatch.context() as patch:
        patch.setattr(status, "status", broken)
        with pytest.raises(ControlError) as caught:
            await ask("status")
        assert caught.value.kind == protocol.INTERNAL
        assert "secret" not in caught.value.message
    assert "pid" in await ask("status")


async def test_another_user_is_not_answered(
    server: ControlServer, folder: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file's mode keeps others out; who gets past it is told apart by the user number of the connection."""
    monkeypatch.setattr("bridge.control.server.is_owner", lambda uid: uid == os.getuid() + 1)
    assert kind(await spoken(folder, b'{"command": "status"}\n')) == protocol.FORBIDDEN


async def test_a_client_does_not_speak_to_another_users_server(
    server: ControlServer, folder: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bridge.control.client.is_owner", lambda uid: False)
    with pytest.raises(ControlError) as caught:
        await asyncio.to_thread(call, folder.control_socket, "status", {})
    assert caught.value.kind == protocol.FORBIDDEN


def test_the_system_says_who_is_at_the_other_end() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    with ours, theirs:
        assert place.peer_uid(ours) == os.getuid()
    with socket.socket(socket.AF_INET) as other:
        assert not place.is_owner(place.peer_uid(other))


@pytest.mark.parametrize(("uid", "owner"), [(os.getuid(), True), (0, True), (os.getuid() + 1, False), (None, False)])
def test_who_counts_as_the_owner(uid: int | None, owner: bool) -> None:
    assert place.is_owner(uid) is owner


async def test_the_socket_of_a_killed_server_is_replaced(app: App, folder: DataFolder) -> None:
    with socket.socket(socket.AF_UNIX) as old:
        old.bind(str(folder.control_socket))
    server = ControlServer(app, folder)
    await server.start()
    assert (await spoken(folder, b'{"command": "status"}\n'))["ok"] is True
    await server.close()
    assert not folder.control_socket.exists()


async def test_a_data_folder_with_a_long_name_works_too(tmp_path: Path) -> None:
    folder = open_folder(tmp_path / "/".join(["a-folder-with-a-rather-long-name"] * 5))
    assert len(str(folder.control_socket)) > 120
    app = await App.open(load(home=folder.root, environ={}), folder)
    server = ControlServer(app, folder)
    here = Path.cwd()
    await server.start()
    told = await asyncio.to_thread(call, folder.control_socket, "status", {})
    await server.close()
    await app.close()
    assert (told["pid"], Path.cwd()) == (os.getpid(), here)


async def test_commands_under_way_end_before_the_server_does(
    server: ControlServer, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def slow(*_: object) -> dict[str, Any]:
        begun.set()
        await go_on.wait()
        return {"done": True}

    monkeypatch.setattr(status, "status", slow)
    asked = asyncio.create_task(ask("status"))
    await asyncio.wait_for(begun.wait(), 20)
    closing = asyncio.create_task(server.close())
    await asyncio.sleep(0)
    go_on.set()
    assert await asked == {"done": True}
    await closing


def test_without_a_server_the_client_says_so(tmp_path: Path) -> None:
    with pytest.raises(NoServer):
        call(tmp_path / "postroom.sock", "status", {})
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(tmp_path / "dead.sock"))
        with pytest.raises(NoServer):
            call(tmp_path / "dead.sock", "status", {})


def test_a_server_that_says_nothing_is_given_up(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as mute:
        mute.bind(str(tmp_path / "mute.sock"))
        mute.listen()
        with pytest.raises(NoServer, match="did not answer"):
            call(tmp_path / "mute.sock", "status", {}, seconds=0.1)
