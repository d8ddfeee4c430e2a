"""A real HTTP server on loopback whose pages misbehave in the ways of the web; it counts what it was asked.

A handler gets the connection and a future that is done when the other side has gone.
"""

import asyncio
import gzip
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

Gone = asyncio.Future[bytes]
Handler = Callable[[asyncio.StreamWriter, Gone], Awaitable[None]]
BOMB = 64 * 1024 * 1024


@dataclass
class Site:
    """`pages` are whole answers by path; `handlers` write theirs by hand; `asked` are the requests' heads, in order."""

    pages: dict[str, bytes] = field(default_factory=dict)
    handlers: dict[str, Handler] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    tasks: set["asyncio.Task[None]"] = field(default_factory=set)
    port: int = 0
    scheme: str = "http"

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"{self.scheme}://{host}:{self.port}{path}"

    def page(self, path: str, body: bytes, kind: str = "text/html", status: str = "200 OK", **fields: str) -> None:
        extra = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
        head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{extra}\r\n"
        self.pages[path] = head.encode() + body

    def redirect(self, path: str, location: str, status: str = "302 Found") -> None:
        self.page(path, b"", status=status, Location=location)

    def heads(self, path: str) -> list[str]:
        return [head for head in self.asked if head.split(" ")[1] == path]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.tasks.add(task)
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            self.asked.append(head)
            path = head.split(" ")[1]
            if path in self.handlers:
                gone = asyncio.ensure_future(reader.read())
                await self.handlers[path](writer, gone)
                gone.cancel()
            else:
                writer.write(self.pages.get(path, b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"))
                await writer.drain()
        writer.close()

    async def end(self) -> None:
        """Until every connection is done with; all of them were left by the other side."""
        async with asyncio.timeout(20):
            await asyncio.gather(*self.tasks, return_exceptions=True)


async def endless(writer: asyncio.StreamWriter, gone: Gone) -> None:
    """A body without an end, as fast as it is taken."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
    while not gone.done():
        writer.write(b"and on it goes\n" * 4096)
        await writer.drain()


async def silent(writer: asyncio.StreamWriter, gone: Gone) -> None:
    """Never an answer: until the other side is gone."""
    await asyncio.wait({gone})


async def bomb(writer: asyncio.StreamWriter, gone: Gone) -> None:
    """A small body that unpacks to 64 MiB."""
    body = gzip.compress(b"0" * BOMB)
    head = (
        f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    writer.write(head.encode() + body)
    await writer.drain()


@asynccontextmanager
async def site(secure: ssl.SSLContext | None = None) -> AsyncIterator[Site]:
    made = Site(scheme="https" if secure else "http")
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0, ssl=secure)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()
        await made.end()
