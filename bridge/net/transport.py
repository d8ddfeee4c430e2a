"""The pump between an asyncio transport and a sans-IO conversation: bytes in, work, bytes out, back-pressure, STARTTLS.

Rule: a conversation never sees a socket, and at most one task works for a connection, and only while there is something
to do: an idle connection has none. Runs on asyncio's loop and on uvloop alike.
"""

import asyncio
import contextlib
import logging
import ssl
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Protocol, cast

from bridge.net.limits import is_loopback

PIECE: Final = 64 * 1024  # one giant write is eight times slower than pieces of this size
JOINED: Final = 16 * 1024
WRITE_HIGH: Final = 128 * 1024
READ_HIGH: Final = 256 * 1024  # unread input of a conversation at which the peer has to wait
HANDSHAKE_SECONDS: Final = 30.0

Buffer = bytes | memoryview

_log = logging.getLogger(__name__)


def loads(data: Iterable[bytes]) -> Iterator[Sequence[Buffer]]:
    """What is to be written in loads of about PIECE: small pieces together, large ones cut, nothing copied."""
    load: list[Buffer] = []
    size = 0
    for each in data:
        length = len(each)
        size += length
        if size > PIECE:
            if load:
                yield load
            load, size = [], length
            if length > PIECE:
                view = memoryview(each)
                yield from ([view[start : start + PIECE]] for start in range(0, length, PIECE))
                size = 0
                continue
        if length:
            load.append(each)
    if load:
        yield load


class Wire(Protocol):
    """What a conversation may do with its connection."""

    @property
    def peer(self) -> str: ...
    @property
    def loopback(self) -> bool: ...
    @property
    def secure(self) -> bool: ...
    @property
    def writable(self) -> bool: ...
    def write(self, data: bytes) -> None: ...
    def write_all(self, pieces: Sequence[Buffer]) -> None: ...
    async def drain(self) -> None: ...
    def hold_reading(self) -> None: ...
    async def start_tls(self, context: ssl.SSLContext) -> None: ...
    def close(self) -> None: ...


class Conversation(Protocol):
    """What the pump drives. Every call comes from the loop; `work` is never run twice at once."""

    def opened(self, wire: Wire) -> None:
        """The connection stands (with TLS, if the port is a TLS port)."""

    def received(self, data: bytes) -> None:
        """Bytes came. Only keep them; what they ask for is done in `work`."""

    async def work(self) -> None:
        """Do everything that can be done with what was received."""

    def failed(self) -> None:
        """`work` raised something unforeseen (already logged): tell the peer so, in general words."""

    def writable_again(self) -> None:
        """The peer has read what was held up."""

    def lost(self) -> None:
        """The connection is gone; nothing can be said any more."""

    @property
    def unread(self) -> int:
        """Bytes received that no work has touched yet."""
        ...


class Pump(asyncio.Protocol):
    """One connection."""

    __slots__ = (
        "_conversation",
        "_drained",
        "_eof",
        "_held",
        "_loop",
        "_peer",
        "_secure",
        "_task",
        "_throttled",
        "_transport",
    )

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._task: asyncio.Task[None] | None = None
        self._drained: asyncio.Future[None] | None = None
        self._secure = False  # over TLS
        self._throttled = False  # the peer does not read
        self._held = False  # we do not read
        self._eof = False
        self._peer = ""

    # From the loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._adopt(cast(asyncio.Transport, transport))
        address = transport.get_extra_info("peername")
        self._peer = str(address[0]) if isinstance(address, tuple) and address else "local"
        self._conversation.opened(self)
        self._start_work()

    def data_received(self, data: bytes) -> None:
        self._conversation.received(data)
        if self._conversation.unread > READ_HIGH and not self._held:
            self.hold_reading()
        self._start_work()

    def eof_received(self) -> bool:
        """A peer that only stopped sending still gets its answers, where the transport can do that (not over TLS)."""
        self._eof = True
        return self._task is not None and not self.secure

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._throttled = False
        self._release()
        self._conversation.lost()

    def pause_writing(self) -> None:
        self._throttled = True

    def resume_writing(self) -> None:
        self._throttled = False
        self._release()
        self._conversation.writable_again()

    # For the conversation

    def rouse(self) -> None:
        """Have the conversation work although nothing came, unless it does already."""
        if self._transport is not None:
            self._start_work()

    @property
    def peer(self) -> str:
        return self._peer

    @property
    def loopback(self) -> bool:
        return is_loopback(self._peer)

    @property
    def secure(self) -> bool:
        return self._secure and self._transport is not None

    @property
    def writable(self) -> bool:
        return self._transport is not None and not self._throttled

    def write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)

    def write_all(self, pieces: Sequence[Buffer]) -> None:
        """Write some pieces, about PIECE in all, one after the other.

        In clear the system takes them from where they are, unless they are so small that copying them costs less. Over
        TLS each write would be a record of its own, and encrypting copies them anyway.
        """
        if self._transport is None:
            return
        if len(pieces) == 1:
            self._transport.write(pieces[0])
        elif self.secure or sum(map(len, pieces)) < JOINED:
            self._transport.write(b"".join(pieces))
        else:
            self._transport.writelines(pieces)

    async def drain(self) -> None:
        """Return when the peer has read enough. Raises ConnectionResetError when he is gone."""
        if self._throttled:
            if self._drained is None:
                self._drained = self._loop.create_future()
            await self._drained
        if self._transport is None:
            raise ConnectionResetError("the connection is gone")

    def hold_reading(self) -> None:
        """Read nothing more until the work at hand is done."""
        self._held = True
        if self._transport is not None and self._transport.is_reading():
            self._transport.pause_reading()

    async def start_tls(self, context: ssl.SSLContext) -> None:
        """Turn to TLS (DECISIONS 15): the caller has held reading since before it said so.

        asyncio may deliver the first decrypted bytes before `start_tls` returns; a gate keeps them until the pump has
        the new transport, so that no answer to them can leave in clear. Raises ConnectionError when it fails.
        """
        transport = self._transport
        if transport is None:
            raise ConnectionResetError("the connection is gone")
        gate = _Gate(self)
        try:
            upgraded = await self._loop.start_tls(
                transport, gate, context, server_side=True, ssl_handshake_timeout=HANDSHAKE_SECONDS
            )
        except (OSError, ssl.SSLError, TimeoutError) as error:
            transport.abort()
            raise ConnectionAbortedError("the TLS handshake failed") from error
        if upgraded is None or gate.lost:
            raise ConnectionResetError("the connection is gone")
        self._held = False
        self._adopt(upgraded)
        upgraded.set_protocol(self)
        for data in gate.open():
            self._conversation.received(data)

    def close(self) -> None:
        """Close once what was written has gone; at once if the peer does not read."""
        if self._throttled:
            self.abort()
        elif self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Close now; for peers who do not read."""
        if self._transport is not None:
            self._transport.abort()

    # Inside

    def _adopt(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._secure = transport.get_extra_info("ssl_object") is not None
        with contextlib.suppress(NotImplementedError):  # a transport without write buffer has no limits to set
            transport.set_write_buffer_limits(high=WRITE_HIGH)

    def _release(self) -> None:
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)
        self._drained = None

    def _start_work(self) -> None:
        if self._task is None:
            self._task = self._loop.create_task(self._work())

    async def _work(self) -> None:
        while True:
            try:
                await self._conversation.work()
            except ConnectionError:
                self.abort()
            except Exception:  # transport pump: an unforeseen fault ends one command, never the server
                _log.exception("a command of %s failed", self._peer)
                self._conversation.failed()
                continue
            break
        self._task = None
        self._resume_reading()
        if self._eof:
            self.close()

    def _resume_reading(self) -> None:
        if self._held and self._transport is not None and not self._transport.is_closing():
            self._held = False
            self._transport.resume_reading()


class _Gate(asyncio.Protocol):
    """Stands in for the pump during a handshake and keeps what arrives until the pump can answer over TLS."""

    def __init__(self, pump: Pump) -> None:
        self._pump = pump
        self._early: list[bytes] = []
        self.lost = False

    def data_received(self, data: bytes) -> None:
        self._early.append(data)

    def eof_received(self) -> None:
        return None

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = True
        self._pump.connection_lost(exc)

    def open(self) -> list[bytes]:
        early, self._early = self._early, []
        return early


Factory = Callable[[], asyncio.Protocol]
