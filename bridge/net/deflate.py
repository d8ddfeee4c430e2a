"""A connection whose bytes are compressed both ways (RFC 4978): raw deflate, each answer flushed whole.

Rule: what a peer sends may grow only so far at once; who sends more than that in one piece is sent away.
"""

import ssl
import zlib
from collections.abc import Sequence
from typing import Final

from bridge.net.transport import Buffer, Wire

RAW: Final = -15  # no header, the largest window
MOST: Final = 16 * 1024 * 1024  # bytes that one piece from the socket may become
LEVEL: Final = 3


class DeflateError(Exception):
    """What came is no deflate stream, or too much of it."""


class Inflater:
    """Turns what comes into what was meant."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(RAW)

    def __call__(self, data: bytes) -> bytes:
        """Raises DeflateError."""
        try:
            plain = self._stream.decompress(data, MOST)
        except zlib.error:
            raise DeflateError("This is not compressed") from None
        if len(plain) == MOST:
            raise DeflateError("Too much at once")
        if self._stream.eof:
            raise DeflateError("The stream has ended")
        return plain


class DeflatedWire:
    """A wire around another, compressing what is written."""

    def __init__(self, inner: Wire) -> None:
        self._inner = inner
        self._stream = zlib.compressobj(LEVEL, zlib.DEFLATED, RAW)

    def write(self, data: bytes) -> None:
        if data:
            self._inner.write(self._stream.compress(data) + self._stream.flush(zlib.Z_SYNC_FLUSH))

    def write_all(self, pieces: Sequence[Buffer]) -> None:
        self.write(b"".join(pieces))

    @property
    def peer(self) -> str:
        return self._inner.peer

    @property
    def loopback(self) -> bool:
        return self._inner.loopback

    @property
    def secure(self) -> bool:
        return self._inner.secure

    @property
    def writable(self) -> bool:
        return self._inner.writable

    async def drain(self) -> None:
        await self._inner.drain()

    def hold_reading(self) -> None:
        self._inner.hold_reading()

    async def start_tls(self, context: ssl.SSLContext) -> None:
        await self._inner.start_tls(context)

    def close(self) -> None:
        self._inner.close()
