"""A connection over TCP, with or without COMPRESS=DEFLATE: bytes out, whole responses in."""

import asyncio
import re
import zlib
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

BOUND: Final = 60.0  # seconds within which the server says something; a busy machine is slow, a stuck server silent
LITERAL: Final = re.compile(rb"\{(\d+)\}\r\n\Z")


class Ended(ConnectionError):
    """The server has closed the connection."""


class Link:
    """One connection. `compress` changes over to deflate; call it when the OK has been read."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._buffer = bytearray()
        self._squeeze: tuple[Any, Any] | None = None  # a compressor and a decompressor

    @classmethod
    async def dial(cls, port: int) -> "Link":
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    def compress(self) -> None:
        self._squeeze = zlib.compressobj(6, zlib.DEFLATED, -15), zlib.decompressobj(-15)

    async def say(self, data: bytes) -> None:
        if self._squeeze is not None:
            deflate = self._squeeze[0]
            data = deflate.compress(data) + deflate.flush(zlib.Z_SYNC_FLUSH)
        self._writer.write(data)
        await self._writer.drain()

    async def response(self) -> bytes:
        """The next response, literals included, without the last CRLF."""
        whole = await self._line()
        while (match := LITERAL.search(whole)) is not None:
            size = int(match[1])
            while len(self._buffer) < size:
                await self._more()
            whole += self._buffer[:size]
            del self._buffer[:size]
            whole += await self._line()
        return whole[:-2]

    async def _line(self) -> bytes:
        while (end := self._buffer.find(b"\r\n")) < 0:
            await self._more()
        line = bytes(self._buffer[: end + 2])
        del self._buffer[: end + 2]
        return line

    async def _more(self) -> None:
        async with asyncio.timeout(BOUND):
            data = await self._reader.read(1 << 16)
        if not data:
            raise Ended
        self._buffer += data if self._squeeze is None else self._squeeze[1].decompress(data)

    async def heard_within(self, seconds: float) -> bool:
        """Whether something is to be read by then."""
        if not self._buffer:
            try:
                async with asyncio.timeout(seconds):
                    data = await self._reader.read(1 << 16)
            except TimeoutError:
                return False
            if not data:
                raise Ended
            self._buffer += data if self._squeeze is None else self._squeeze[1].decompress(data)
        return True

    def abort(self) -> None:
        """The connection is reset; what was not sent or read is lost."""
        self._writer.transport.abort()

    async def close(self) -> None:
        self._writer.close()
        with suppress(ConnectionError):
            await self._writer.wait_closed()


def numbers(raw: bytes) -> list[int]:
    """A set of numbers written as `1:3,5`."""
    found: list[int] = []
    for part in raw.decode().split(","):
        low, _, high = part.partition(":")
        found.extend(range(int(low), int(high or low) + 1))
    return found


def results(line: bytes) -> list[int]:
    """The numbers of a SEARCH, a SORT, or the ALL of an ESEARCH."""
    if line.startswith(b"ESEARCH"):
        _, found, after = line.partition(b" ALL ")
        return numbers(after.split(b" ")[0]) if found else []
    return [int(word) for word in line.split()[1:] if word.isdigit()]


def spelled(values: Sequence[int]) -> str:
    """Numbers as a set."""
    return ",".join(map(str, values))
