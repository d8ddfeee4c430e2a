"""A server as a child process that speaks JSON-RPC in lines: the transport that the SDK's client runs on.

The rule: what a process writes is bounded before it is read as anything: a line that is longer than the limit, or too
many lines that are no message, end it at once, and its process group with it. The SDK's own transport has no limit,
takes time that grows with the square of a line, and logs every bad line with a traceback.
"""

import asyncio
import os
import shutil
import signal
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import anyio
import mcp_types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage

from agents.mcp.file import ServerConfig

CHUNK: Final = 256 * 1024
MOST_GARBAGE: Final = 1000
GRACE: Final = 2.0
SETTLE: Final = 0.5
KEPT_LINES: Final = 50
LINE_CHARACTERS: Final = 300

Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]


@dataclass(slots=True)
class Heard:
    """What a server wrote beside its messages: its last lines on standard error, cleaned, and how many bad lines."""

    clean: Callable[[str], str]
    errors: deque[str] = field(default_factory=lambda: deque(maxlen=KEPT_LINES))
    garbage: int = 0

    def note(self, line: bytes) -> None:
        """Keep a line of standard error."""
        text = self.clean(line.decode("utf-8", "replace").strip())
        if text:
            self.errors.append(text[:LINE_CHARACTERS])


class TooMuch(Exception):
    """A process wrote more than it may."""


async def start(config: ServerConfig) -> asyncio.subprocess.Process:
    """Start the server's program in a process group of its own. Raises OSError; the environment is the SDK's short
    list and what the file gives.
    """
    environment = get_default_environment() | dict(config.env)
    program = shutil.which(config.command, path=environment.get("PATH"))
    if program is None:
        raise FileNotFoundError(config.command)
    return await asyncio.create_subprocess_exec(
        program,
        *config.args,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment,
        cwd=config.cwd or None,
        limit=CHUNK,
        start_new_session=sys.platform != "win32",
    )


@asynccontextmanager
async def child(config: ServerConfig, limit: int, heard: Heard, ended: Callable[[str], None]) -> AsyncIterator[Streams]:
    """A running server and its streams. `limit` is the longest line in bytes; `ended` is told once why it is over."""
    process = await start(config)
    made = _Child(process, limit, heard, ended)
    try:
        yield made.streams
    finally:
        await made.close()


class _Child:
    """One process with the tasks that move its lines."""

    def __init__(
        self, process: asyncio.subprocess.Process, limit: int, heard: Heard, ended: Callable[[str], None]
    ) -> None:
        self._process = process
        self._limit = limit
        self._heard = heard
        self._ended = ended
        self._inward, inward = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outward, self._outward = anyio.create_memory_object_stream[SessionMessage](0)
        self.streams: Streams = (inward, outward)
        self._gone = asyncio.create_task(process.wait())
        work = (self._read(), self._write(), self._listen())
        self._tasks = [asyncio.create_task(each, name=f"mcp {process.pid}") for each in work]

    async def _read(self) -> None:
        """Lines of standard output become messages; the end of them is the end of the connection."""
        why = ""
        try:
            async with self._inward:
                async for line in self._lines():
                    await self._take(line)
        except TooMuch as fault:
            why = str(fault)
            self._signal(kill=True)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError):
            why = "the connection was closed"
        self._ended(why or await self._how_it_ended())

    async def _lines(self) -> AsyncIterator[bytes]:
        assert self._process.stdout is not None
        pending = bytearray()
        while chunk := await self._process.stdout.read(CHUNK):
            looked_at = len(pending)
            pending += chunk
            while (end := pending.find(b"\n", looked_at)) >= 0:
                yield bytes(pending[:end])
                del pending[: end + 1]
                looked_at = 0
            if len(pending) > self._limit:
                raise TooMuch(f"it wrote a line of more than {self._limit:,} bytes")

    async def _take(self, line: bytes) -> None:
        if len(line) > self._limit:
            raise TooMuch(f"it wrote a line of more than {self._limit:,} bytes")
        try:
            message = mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            self._heard.garbage += bool(line.strip())
            if self._heard.garbage > MOST_GARBAGE:
                raise TooMuch("it wrote too many lines that are no message to its standard output") from None
            return
        await self._inward.send(SessionMessage(message))

    async def _how_it_ended(self) -> str:
        done, _ = await asyncio.wait({self._gone}, timeout=GRACE)
        code = self._process.returncode
        if not done or code is None:
            return "it closed its standard output"
        return f"it was ended by signal {-code}" if code < 0 else f"it ended with exit code {code}"

    async def _write(self) -> None:
        assert self._process.stdin is not None
        async with self._outward:
            async for item in self._outward:
                text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                self._process.stdin.write(text.encode() + b"\n")
                try:
                    await self._process.stdin.drain()
                except ConnectionError:
                    return

    async def _listen(self) -> None:
        """Keep the last lines of standard error; a line without an end is cut into pieces."""
        assert self._process.stderr is not None
        pending = b""
        while chunk := await self._process.stderr.read(CHUNK):
            *lines, pending = (pending + chunk).split(b"\n")
            for line in [*lines[-KEPT_LINES:], *([pending] if len(pending) > CHUNK else [])]:
                self._heard.note(line)
            pending = b"" if len(pending) > CHUNK else pending
        self._heard.note(pending)

    async def close(self) -> None:
        """End the process: its input is closed, then it is asked, then it is killed, with all that it started."""
        try:
            if self._process.stdin is not None:
                self._process.stdin.close()
            for kill in (False, True):
                if await self._left():
                    # The reader finds the end of the output and says how the process ended.
                    await asyncio.wait(self._tasks[:1], timeout=SETTLE)
                    break
                self._signal(kill=kill)
            else:
                await self._left()
        finally:
            # What it left behind in its group has no input any more and nobody to answer.
            self._signal(kill=True)
            self._gone.cancel()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, self._gone, return_exceptions=True)
            for stream in (*self.streams, self._inward, self._outward):
                stream.close()
            self._release()

    async def _left(self) -> bool:
        done, _ = await asyncio.wait({self._gone}, timeout=GRACE)
        return bool(done)

    def _signal(self, *, kill: bool) -> None:
        try:
            if sys.platform != "win32":
                os.killpg(self._process.pid, signal.SIGKILL if kill else signal.SIGTERM)
            elif kill:
                self._process.kill()
            else:
                self._process.terminate()
        except (ProcessLookupError, PermissionError):
            return

    def _release(self) -> None:
        """Close the pipes even if somebody outside of the group still holds their other ends."""
        transport = getattr(self._process, "_transport", None)  # asyncio gives no public way to it
        if transport is not None:
            transport.close()
