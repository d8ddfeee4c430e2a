"""The server's side of the control socket: reads a request, runs its command, writes the answer, closes.

The rule: nobody but the owner is answered, nothing is read beyond the limits, and one broken request harms no other.
"""

import asyncio
import logging
import os
import socket
from contextlib import suppress
from typing import Final

from bridge.control.commands import run
from bridge.control.place import SUPPORTED, bind_in, is_owner, peer_uid
from bridge.control.ports import Desk
from bridge.control.protocol import (
    BAD_REQUEST,
    BUSY,
    FORBIDDEN,
    MAX_LINE,
    TOO_LARGE,
    ControlError,
    Json,
    read_request,
    write_reply,
)
from config.paths import DataFolder

CONNECTIONS: Final = 32
REQUEST_SECONDS: Final = 30.0
CLOSE_SECONDS: Final = 5.0
SPARE_BYTES: Final = 1024 * 1024
"""A payload is a mail; this much may stand around what `smtp.max_size` allows."""

log = logging.getLogger(__name__)


class ControlServer:
    """Made by bridge.app once all ports listen; closed before anything else is."""

    def __init__(self, desk: Desk, folder: DataFolder, *, seconds: float = REQUEST_SECONDS) -> None:
        self._desk = desk
        self._path = folder.control_socket
        self._seconds = seconds
        self._server: asyncio.AbstractServer | None = None
        self._open: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Listen. On a system without Unix sockets only the log says that commands need the server stopped."""
        if not SUPPORTED:
            log.warning("no control socket on this system: commands need the server stopped")
            return
        bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            bind_in(self._path, bound)
            bound.setblocking(False)
            self._server = await asyncio.start_unix_server(self._serve, sock=bound, limit=MAX_LINE)
        except OSError as error:
            bound.close()
            log.warning("no control socket: commands need the server stopped", extra={"why": str(error)})

    async def close(self) -> None:
        """Stop listening, let commands under way end, and take the socket away."""
        if self._server is None:
            return
        self._server.close()
        self._server = None
        if self._open:
            _, late = await asyncio.wait(self._open, timeout=CLOSE_SECONDS)
            for task in late:
                task.cancel()
        self._path.unlink(missing_ok=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        busy = len(self._open) >= CONNECTIONS
        self._open.add(task)
        try:
            outcome = await self._outcome(reader, writer, busy)
            writer.write(write_reply(outcome))
            async with asyncio.timeout(self._seconds):
                await writer.drain()
        except (ConnectionError, TimeoutError):
            log.debug("a command's client went away")
        finally:
            self._open.discard(task)
            writer.close()

    async def _outcome(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, busy: bool
    ) -> Json | ControlError:
        """The result, or why there is none. What is no ControlError is a fault of ours: asyncio logs it."""
        try:
            if not is_owner(_uid_behind(writer)):
                log.warning("a command of another user was refused")
                raise ControlError(FORBIDDEN, "this server belongs to another user", "run this as the server's user")
            if busy:
                raise ControlError(BUSY, "too many commands at once", "try again in a moment")
            return await self._run(reader)
        except ControlError as error:
            return error

    async def _run(self, reader: asyncio.StreamReader) -> Json:
        try:
            async with asyncio.timeout(self._seconds):
                request = read_request(await _line(reader))
                if request.payload > self._desk.settings.smtp.max_size + SPARE_BYTES:
                    raise ControlError(TOO_LARGE, f"{request.payload} bytes are more than this server takes")
                payload = await reader.readexactly(request.payload)
        except TimeoutError:
            raise ControlError(BAD_REQUEST, "the request did not come in time") from None
        except asyncio.IncompleteReadError:
            raise ControlError(BAD_REQUEST, "the request ended too early") from None
        return await run(self._desk, request.command, request.args, payload)


async def _line(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\n")
    except asyncio.LimitOverrunError:
        raise ControlError(TOO_LARGE, f"a request line has at most {MAX_LINE} bytes") from None


def _uid_behind(writer: asyncio.StreamWriter) -> int | None:
    """Who is at the other end. The transport's own socket object is a proxy; a duplicate is a plain one."""
    with suppress(OSError), socket.socket(fileno=os.dup(writer.get_extra_info("socket").fileno())) as plain:
        return peer_uid(plain)
    return None
