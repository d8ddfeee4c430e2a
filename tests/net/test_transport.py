"""The pump over real sockets, on both loops: back-pressure, half-open peers, and STARTTLS as DECISIONS 15 wants it."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvloop

from bridge.net.tls import Certificates, ensure_certificates
from bridge.net.transport import PIECE, Pump, Wire, loads

BOUND = 20.0
PIECES = [b"small\n", b"", b"l" * (3 * PIECE + 7), b"\n", *[b"%d\n" % n for n in range(20_000)], b"m" * PIECE, b"end\n"]

Runner = Callable[[Coroutine[Any, Any, None]], None]


@pytest.fixture(params=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Iterator[Runner]:
    """Runs a coroutine on one of the two loops."""
    factory = uvloop.new_event_loop if request.param == "uvloop" else asyncio.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        yield lambda coroutine: runner.run(asyncio.wait_for(coroutine, BOUND))


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return ensure_certificates(tmp_path_factory.mktemp("tls"))


class Echo:
    """A conversation of lines: STARTTLS turns to TLS, BIG answers a megabyte, FAIL raises, anything else is echoed."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self.context = context
        self.buffer = bytearray()
        self.log: list[str] = []
        self.over = asyncio.Event()
        self.wire: Wire

    def opened(self, wire: Wire) -> None:
        self.wire = wire
        wire.write(b"hello\n")

    def received(self, data: bytes) -> None:
        self.buffer += data

    @property
    def unread(self) -> int:
        return len(self.buffer)

    async def work(self) -> None:
        while (end := self.buffer.find(b"\n")) >= 0:
            line = bytes(self.buffer[:end]).strip()
            del self.buffer[: end + 1]
            await self._answer(line)

    async def _answer(self, line: bytes) -> None:
        if line == b"STARTTLS":
            self.wire.hold_reading()
            if self.buffer:
                self.log.append("cut off")
                self.wire.close()
                self.buffer.clear()
                return
            self.wire.write(b"go\n")
            await self.wire.start_tls(self.context)
        elif line == b"BIG":
            for _ in range(64):
                self.wire.write(b"x" * 16384)
                await self.wire.drain()
            self.wire.write(b"\n")
            self.log.append("big sent")
        elif line == b"PIECES":
            for load in loads(PIECES):
                self.wire.write_all(load)
                await self.wire.drain()
        elif line == b"FAIL":
            raise ValueError("unforeseen")
        else:
            self.log.append(line.decode())
            self.wire.write(line + (b" secure\n" if self.wire.secure else b" clear\n"))

    def failed(self) -> None:
        self.wire.write(b"failed\n")

    def writable_again(self) -> None:
        self.log.append("writable")

    def lost(self) -> None:
        self.over.set()


@asynccontextmanager
async def serving(context: ssl.SSLContext, implicit: bool = False) -> AsyncIterator[tuple[int, list[Echo]]]:
    made: list[Echo] = []

    def factory() -> Pump:
        made.append(Echo(context))
        return Pump(made[-1])

    server = await asyncio.get_running_loop().create_server(factory, "127.0.0.1", 0, ssl=context if implicit else None)
    try:
        yield server.sockets[0].getsockname()[1], made
    finally:
        server.close()
        for echo in made:
            await echo.over.wait()


def client_context(certificates: Certificates) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(certificates.ca_file))


class TlsPeer:
    """A client's TLS over a plain socket by hand, so that a test decides what goes into which segment."""

    def __init__(self, port: int, certificates: Certificates) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=BOUND)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = client_context(certificates).wrap_bio(self._in, self._out, server_hostname="127.0.0.1")

    def clear_line(self) -> bytes:
        line = b""
        while not line.endswith(b"\n"):
            got = self.socket.recv(1)
            if not got:
                return line
            line += got
        return line

    def handshake(self, then: bytes = b"") -> None:
        """Finish the handshake; `then` is encrypted and leaves in the same segment as the client's last message."""
        while True:
            try:
                self.tls.do_handshake()
            except ssl.SSLWantReadError:
                self._flush()
                self._in.write(self.socket.recv(65536))
            else:
                break
        self.tls.write(then) if then else None
        self._flush()

    def _flush(self) -> None:
        data = self._out.read()
        if data:
            self.socket.sendall(data)

    def line(self) -> bytes:
        line = b""
        while not line.endswith(b"\n"):
            try:
                line += self.tls.read(1)
            except ssl.SSLWantReadError:
                got = self.socket.recv(65536)
                if not got:
                    return line
                self._in.write(got)
        return line

    def say(self, data: bytes) -> None:
        self.tls.write(data)
        self._flush()

    def close(self) -> None:
        self.socket.close()


def test_starttls_with_a_command_in_the_segment_of_the_last_handshake_message(
    run: Runner, certificates: Certificates
) -> None:
    """asyncio may deliver it before start_tls returns; its answer must leave over TLS all the same."""

    def client(port: int) -> list[bytes]:
        peer = TlsPeer(port, certificates)
        assert peer.clear_line() == b"hello\n"
        peer.socket.sendall(b"STARTTLS\n")
        assert peer.clear_line() == b"go\n"
        peer.handshake(b"early\n")
        said = [peer.line()]
        peer.say(b"late\n")
        said.append(peer.line())
        peer.close()
        return said

    async def scenario() -> None:
        async with serving(certificates.context) as (port, made):
            said = await asyncio.to_thread(client, port)
            assert said == [b"early secure\n", b"late secure\n"]
            assert made[0].log[:2] == ["early", "late"]

    run(scenario())


@pytest.mark.parametrize("more", [b"injected\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"\r"])
def test_anything_behind_starttls_in_its_segment_closes_the_connection(
    run: Runner, certificates: Certificates, more: bytes
) -> None:
    # req 6.2.1-discard
    """tls-01 and tls-02: neither an injected command nor an impatient ClientHello is ever read."""
    # req rfc9051/6.2.1-injection

    def client(port: int) -> bytes:
        with socket.create_connection(("127.0.0.1", port), timeout=BOUND) as peer:
            peer.sendall(b"STARTTLS\n" + more)
            said = b""
            while got := peer.recv(100):
                said += got
            return said

    async def scenario() -> None:
        async with serving(certificates.context) as (port, made):
            assert await asyncio.to_thread(client, port) == b"hello\n"
            await made[0].over.wait()
            assert made[0].log == ["cut off"]

    run(scenario())


def test_a_command_in_clear_after_starttls_breaks_the_handshake(run: Runner, certificates: Certificates) -> None:
    """In a segment of its own it reaches the TLS layer, which is no conversation."""

    def client(port: int) -> None:
        with socket.create_connection(("127.0.0.1", port), timeout=BOUND) as peer:
            assert peer.recv(100) == b"hello\n"
            peer.sendall(b"STARTTLS\n")
            assert peer.recv(100) == b"go\n"
            peer.sendall(b"injected\n" * 50)
            try:
                while peer.recv(1000):
                    pass
            except ConnectionError:
                pass

    async def scenario() -> None:
        async with serving(certificates.context) as (port, made):
            await asyncio.to_thread(client, port)
            await made[0].over.wait()
            assert made[0].log == []

    run(scenario())


def test_a_peer_that_leaves_during_the_handshake(run: Runner, certificates: Certificates) -> None:
    def client(port: int) -> None:
        with socket.create_connection(("127.0.0.1", port), timeout=BOUND) as peer:
            peer.recv(100)
            peer.sendall(b"STARTTLS\n")
            peer.recv(100)

    async def scenario() -> None:
        async with serving(certificates.context) as (port, made):
            await asyncio.to_thread(client, port)
            await made[0].over.wait()

    run(scenario())


def test_implicit_tls_is_secure_from_the_greeting(run: Runner, certificates: Certificates) -> None:
    async def scenario() -> None:
        async with serving(certificates.context, implicit=True) as (port, _):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=client_context(certificates))
            assert await reader.readline() == b"hello\n"
            writer.write(b"one\ntwo\n")
            assert await reader.readline() + await reader.readline() == b"one secure\ntwo secure\n"
            writer.close()
            await writer.wait_closed()

    run(scenario())


def test_a_slow_reader_holds_up_the_work_and_not_the_memory(run: Runner, certificates: Certificates) -> None:
    # req 5.3-flow
    async def scenario() -> None:
        async with serving(certificates.context) as (port, made):
            loop = asyncio.get_running_loop()
            with socket.socket() as peer:
                peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
                peer.setblocking(False)
                await loop.sock_connect(peer, ("127.0.0.1", port))
                await loop.sock_sendall(peer, b"BIG\nBIG\nBIG\nBIG\nBIG\nBIG\nBIG\nBIG\nlast\n")
                got = bytearray(await loop.sock_recv(peer, 100))
                for _ in range(100):
                    await asyncio.sleep(0)
                assert len(made[0].log) < 8  # nobody reads: most of the eight megabytes wait unmade
                while not got.endswith(b"last clear\n"):
                    got += await loop.sock_recv(peer, 1 << 20)
            assert got.count(b"x") == 8 * 64 * 16384
            assert "writable" in made[0].log

    run(scenario())


def test_an_unforeseen_fault_ends_one_command_and_not_the_connection(
    run: Runner, certificates: Certificates, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        async with serving(certificates.context) as (port, _):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"FAIL\nstill here\n")
            assert [await reader.readline() for _ in range(3)] == [b"hello\n", b"failed\n", b"still here clear\n"]
            writer.close()
            await writer.wait_closed()

    run(scenario())
    assert "unforeseen" in caplog.text


def test_a_peer_that_only_stops_sending_gets_its_answers(run: Runner, certificates: Certificates) -> None:
    async def scenario() -> None:
        async with serving(certificates.context) as (port, _):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"one\ntwo\n")
            writer.write_eof()
            assert (await reader.read()).splitlines() == [b"hello", b"one clear", b"two clear"]
            writer.close()
            await writer.wait_closed()

    run(scenario())


def test_loads_are_of_a_bounded_size_and_copy_nothing_large() -> None:
    made = list(loads(PIECES))
    assert b"".join(piece for load in made for piece in load) == b"".join(PIECES)
    assert max(sum(map(len, load)) for load in made) <= PIECE
    assert len(made) <= sum(map(len, PIECES)) / PIECE * 2 + 2
    assert any(piece is PIECES[-2] for load in made for piece in load)
    assert list(loads([])) == list(loads([b"", b""])) == []


@pytest.mark.parametrize("over_tls", [False, True])
def test_pieces_arrive_in_their_order(run: Runner, certificates: Certificates, *, over_tls: bool) -> None:
    async def scenario() -> None:
        async with serving(certificates.context, implicit=over_tls) as (port, _):
            context = client_context(certificates) if over_tls else None
            reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
            writer.write(b"PIECES\n")
            wanted = b"hello\n" + b"".join(PIECES)
            assert await reader.readexactly(len(wanted)) == wanted
            writer.close()

    run(scenario())
