"""IMAP over real sockets: the cases of area tls and auth that need TLS, on both ports."""

import asyncio
import imaplib
import socket
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from tests.imap.harness import BOUND, PASSWORD
from tests.imap.serving import Serving, serve_house

T = TypeVar("T")

PLAIN = b"AGFkYQBjb3JyZWN0IGhvcnNl"


async def in_thread(fn: Callable[[], T]) -> T:
    return await asyncio.wait_for(asyncio.to_thread(fn), BOUND * 2)


def everything(port: int, said: bytes) -> bytes:
    """What the server says to a client that says this at once, until the server closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=BOUND) as peer:
        peer.sendall(said)
        heard = b""
        while got := peer.recv(4096):
            heard += got
        return heard


def secure_socket(serving: Serving, host: str = "127.0.0.1", name: str = "localhost") -> ssl.SSLSocket:
    raw = socket.create_connection((host, serving.imaps), timeout=BOUND)
    return serving.client_context.wrap_socket(raw, server_hostname=name)


async def test_starttls_then_login(tmp_path: Path) -> None:
    # req rfc9051/6.2.1-starttls
    # req 6.2.1-capabilities
    # req rfc9051/11.2-starttls
    async with serve_house(tmp_path) as serving:

        def client() -> None:
            with imaplib.IMAP4("127.0.0.1", serving.imap, timeout=BOUND) as imap:
                assert {"STARTTLS", "LOGINDISABLED"} <= set(imap.capabilities)
                assert not [name for name in imap.capabilities if name.startswith("AUTH=")]
                imap.starttls(serving.client_context)
                assert {"AUTH=PLAIN", "AUTH=LOGIN", "SASL-IR"} <= set(imap.capabilities)
                assert not {"STARTTLS", "LOGINDISABLED"} & set(imap.capabilities)
                assert imap.login("ada", PASSWORD)[0] == "OK"

        await in_thread(client)


@pytest.mark.parametrize("injected", [b"b LOGIN ada pw\r\n", b"\x16\x03\x01\x00\xf4", b"\r\n", b"b"])
async def test_case_tls_01_and_tls_02_nothing_behind_starttls_is_read(tmp_path: Path, injected: bytes) -> None:
    async with serve_house(tmp_path) as serving:
        heard = await in_thread(lambda: everything(serving.imap, b"a STARTTLS\r\n" + injected))
        assert b"a OK" not in heard
        assert b"* BYE Nothing may follow STARTTLS" in heard
        assert b"\r\nb " not in heard


async def test_what_was_said_in_clear_leaves_no_state(tmp_path: Path) -> None:
    """Half a command before STARTTLS is no command after it, and STARTTLS is not offered twice."""
    # req rfc9051/6.2.1-state
    # req 6.2.1-state
    async with serve_house(tmp_path) as serving:

        def client() -> list[bytes]:
            with socket.create_connection(("127.0.0.1", serving.imap), timeout=BOUND) as raw:
                raw.recv(1000)
                raw.sendall(b'a ID ("name" "x")\r\n')
                raw.recv(1000)
                raw.sendall(b"b STARTTLS\r\n")
                assert raw.recv(1000) == b"b OK Begin TLS now\r\n"
                with serving.client_context.wrap_socket(raw, server_hostname="localhost") as tls:
                    tls.sendall(b"c STARTTLS\r\nd AUTHENTICATE PLAIN " + PLAIN + b"\r\ne LOGOUT\r\n")
                    return list(tls.makefile("rb"))

        heard = await in_thread(client)
        assert heard[0] == b"c BAD TLS is on already\r\n"
        assert heard[1].startswith(b"d OK [CAPABILITY IMAP4rev1 ")


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
async def test_case_tls_04_both_loopback_addresses_with_their_names(tmp_path: Path, host: str) -> None:
    async with serve_house(tmp_path) as serving:

        def client() -> None:
            for name in ("localhost", host):
                with secure_socket(serving, host, name) as tls:
                    assert tls.recv(1000).startswith(b"* OK [CAPABILITY IMAP4rev1 SASL-IR")

        await in_thread(client)


async def test_case_auth_01_both_forms_over_tls(tmp_path: Path) -> None:
    # req rfc9051/6.2.2-plain
    # req 6.2.2-plain
    async with serve_house(tmp_path) as serving:
        for first, then in ((b"a AUTHENTICATE PLAIN " + PLAIN, b""), (b"a AUTHENTICATE PLAIN", PLAIN)):
            heard = await in_thread(lambda f=first, t=then: talk(serving, f, t))  # type: ignore[misc]  # bound early
            assert heard[-1].startswith(b"a OK [CAPABILITY")


def talk(serving: Serving, *lines: bytes) -> list[bytes]:
    with secure_socket(serving) as tls, tls.makefile("rb") as heard:
        said = [heard.readline()]
        for line in filter(None, lines):
            tls.sendall(line + b"\r\n")
            said.append(heard.readline())
        return said


async def test_case_auth_05_a_wrong_password_is_said_so_and_bans_nobody(tmp_path: Path) -> None:
    """Five quick failures from several sockets: NO [AUTHENTICATIONFAILED] each; the right one is let in beside them."""
    async with serve_house(tmp_path) as serving:

        def wrong() -> bytes:
            return talk(serving, b"a LOGIN ada wrong")[-1]

        answers = await asyncio.gather(*(in_thread(wrong) for _ in range(5)))
        assert answers == [b"a NO [AUTHENTICATIONFAILED] Wrong login or password\r\n"] * 5
        right = await in_thread(lambda: talk(serving, f'a LOGIN ada "{PASSWORD}"'.encode()))
        assert right[-1].startswith(b"a OK")


async def test_a_tls_client_on_the_plain_port_is_told(tmp_path: Path) -> None:
    async with serve_house(tmp_path) as serving:

        def client() -> None:
            raw = socket.create_connection(("127.0.0.1", serving.imap), timeout=BOUND)
            with raw, pytest.raises(ssl.SSLError):
                serving.client_context.wrap_socket(raw, server_hostname="localhost")

        await in_thread(client)
