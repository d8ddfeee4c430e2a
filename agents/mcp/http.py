"""A server as a web service (streamable HTTP): the SDK's transport, with a limit on what it reads.

The rule: an answer that is longer than the limit is cut off while it is read; an event stream has no end, so there the
limit holds for each event.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx2
from mcp.client.streamable_http import streamable_http_client

from agents.mcp.file import ServerConfig

STEP_SECONDS: Final = 30.0
SILENT_SECONDS: Final = 300.0
"""A stream may be silent for long; how long a call may take is limited where it is called."""


class TooLarge(httpx2.ReadError):
    """An answer is longer than the limit."""


class _Counted(httpx2.AsyncByteStream):
    """A response's bytes, up to a limit."""

    def __init__(self, stream: httpx2.AsyncByteStream, limit: int) -> None:
        self._stream = stream
        self._limit = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > self._limit:
                raise TooLarge(f"it gave an answer of more than {self._limit:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


class _Limited(httpx2.AsyncHTTPTransport):
    """Every response but an event stream is counted."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit = limit

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        events = response.headers.get("content-type", "").startswith("text/event-stream")
        if not events and isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _Counted(response.stream, self._limit)
        return response


@asynccontextmanager
async def service(config: ServerConfig, limit: int) -> AsyncIterator[Any]:
    """The streams of a service. `limit` is the longest answer or event in bytes."""
    timeout = httpx2.Timeout(STEP_SECONDS, read=SILENT_SECONDS)
    async with (
        httpx2.AsyncClient(headers=dict(config.headers), timeout=timeout, transport=_Limited(limit)) as client,
        streamable_http_client(config.url, http_client=client, max_sse_event_size=limit) as streams,
    ):
        yield streams
