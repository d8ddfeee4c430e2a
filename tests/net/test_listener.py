"""Listening on real sockets, on asyncio's loop and on uvloop."""

import asyncio
import socket
from collections.abc import Callable, Coroutine
from typing import Any, cast

import pytest
import uvloop

from bridge.net import listener as module
from bridge.net.listener import Listener, ListenError, bind

LOOPS = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


class Hello(asyncio.Protocol):
    """Says hello and closes."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        writing = cast(asyncio.Transport, transport)
        writing.write(b"hello\r\n")
        writing.close()


async def greeting(host: str, port: int) -> bytes:
    reader, writer = await asyncio.open_connection(host, port)
    data = await reader.read()
    writer.close()
    return data


def run(loop: str, main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(30):
            await main()

    with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
        runner.run(bounded())


@pytest.mark.parametrize("loop", LOOPS)
def test_tls_04_one_free_port_on_both_families(loop: str) -> None:
    async def main() -> None:
        listener = Listener()
        port = await listener.start(["127.0.0.1", "::1"], 0, Hello)
        assert port > 0
        assert await greeting("127.0.0.1", port) == b"hello\r\n"
        if has_ipv6():
            assert await greeting("::1", port) == b"hello\r\n"
        await listener.close()
        with pytest.raises(OSError, match=r"."):
            await greeting("127.0.0.1", port)

    run(loop, main)


@pytest.mark.parametrize("loop", LOOPS)
def test_a_taken_port_is_refused_with_what_to_do(loop: str) -> None:
    async def main() -> None:
        first, second = Listener(), Listener()
        port = await first.start(["127.0.0.1"], 0, Hello)
        with pytest.raises(ListenError) as refused:
            await second.start(["127.0.0.1"], port, Hello, setting="listen.imap")
        text = str(refused.value)
        assert str(port) in text
        assert "127.0.0.1" in text
        assert "listen.imap" in text
        assert f"lsof -nP -iTCP:{port}" in text
        await first.close()
        # A port just given up is free at once.
        assert await second.start(["127.0.0.1"], port, Hello) == port
        await second.close()

    run(loop, main)


def test_an_address_that_is_not_here_is_named() -> None:
    with pytest.raises(ListenError, match=r"203\.0\.113\.7.*listen\.hosts"):
        bind(["203.0.113.7"], 0, "listen.imap")


def test_a_machine_without_ipv6_listens_on_ipv4(monkeypatch: pytest.MonkeyPatch) -> None:
    real = module._bind_one

    def without_ipv6(family: socket.AddressFamily, address: str, port: int) -> socket.socket:
        if family == socket.AF_INET6:
            raise OSError(97, "Address family not supported by protocol")
        return real(family, address, port)

    monkeypatch.setattr(module, "_bind_one", without_ipv6)
    sockets = bind(["127.0.0.1", "::1"], 0, "listen.imap")
    assert [made.family for made in sockets] == [socket.AF_INET]
    sockets[0].close()
    with pytest.raises(ListenError, match=r"none of the addresses"):
        bind(["::1"], 0, "listen.imap")


def test_a_number_taken_on_the_second_address_only_makes_it_choose_another(monkeypatch: pytest.MonkeyPatch) -> None:
    real = module._bind_one
    refused: list[int] = []

    def taken_once(family: socket.AddressFamily, address: str, port: int) -> socket.socket:
        if address == "127.0.0.2" and not refused:
            refused.append(port)
            raise OSError(98, "Address already in use")
        return real(family, address, port)

    monkeypatch.setattr(module, "_bind_one", taken_once)
    sockets = bind(["127.0.0.1", "127.0.0.2"], 0, "listen.imap")
    assert len({made.getsockname()[1] for made in sockets}) == 1
    assert sockets[0].getsockname()[1] != refused[0]
    for made in sockets:
        made.close()


def test_the_backlog_holds_a_burst() -> None:
    async def main() -> None:
        listener = Listener()
        port = await listener.start(["127.0.0.1"], 0, Hello)
        answers = await asyncio.gather(*(greeting("127.0.0.1", port) for _ in range(300)))
        assert answers == [b"hello\r\n"] * 300
        await listener.close()

    run("uvloop", main)
