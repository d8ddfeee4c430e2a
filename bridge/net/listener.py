"""Listening: one port on every address of a service, IPv4 and IPv6 alike.

The rule: a service has one port number. With port 0 the system picks one and every address gets the same; an IPv6
address on a machine without IPv6 is left out; a port that is taken is a refusal that says what to do.
"""

import asyncio
import errno
import os
import socket
import ssl
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

BACKLOG: Final = 1024
TRIES: Final = 20
HANDSHAKE_SECONDS: Final = 30.0
SHUTDOWN_SECONDS: Final = 5.0
NO_SUCH_ADDRESS: Final = {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT}


class ListenError(Exception):
    """The service cannot listen; the text names address and port, who to ask and what to change."""


class Listener:
    """The listening sockets of a server; `start` once a service, `close` ends all of them."""

    def __init__(self) -> None:
        self._servers: list[asyncio.Server] = []

    async def start(
        self,
        hosts: Sequence[str],
        port: int,
        factory: Callable[[], asyncio.BaseProtocol],
        ssl: ssl.SSLContext | None = None,
        backlog: int = BACKLOG,
        *,
        setting: str = "the port in the settings",
    ) -> int:
        """Listen on `port` of every host and return it; 0 lets the system choose. Raises ListenError.

        `setting` is how the user names this port in the configuration ("listen.imap").
        """
        sockets = bind(hosts, port, setting)
        loop = asyncio.get_running_loop()
        for bound in sockets:
            self._servers.append(
                await loop.create_server(
                    factory,
                    sock=bound,
                    ssl=ssl,
                    backlog=backlog,
                    ssl_handshake_timeout=HANDSHAKE_SECONDS if ssl else None,
                    ssl_shutdown_timeout=SHUTDOWN_SECONDS if ssl else None,
                )
            )
        actual: int = sockets[0].getsockname()[1]
        return actual

    async def close(self) -> None:
        """Stop listening. Open connections are the services' to end."""
        servers, self._servers = self._servers, []
        for server in servers:
            server.close()


def bind(hosts: Sequence[str], port: int, setting: str) -> list[socket.socket]:
    """Bound sockets, all on one port number. Raises ListenError."""
    for attempt in range(TRIES):
        bound: list[socket.socket] = []
        try:
            _bind_all(bound, hosts, port)
        except OSError as error:
            _close_all(bound)
            # With port 0 the second address may find the first one's number taken: then another number is tried.
            if port == 0 and bound and error.errno == errno.EADDRINUSE and attempt < TRIES - 1:
                continue
            raise ListenError(_explain(error, hosts, port, setting)) from error
        if not bound:
            raise ListenError(f"none of the addresses {', '.join(hosts)} exists on this machine; change listen.hosts")
        return bound
    raise AssertionError("unreachable")


def _bind_all(bound: list[socket.socket], hosts: Sequence[str], port: int) -> None:
    for host in hosts:
        for family, address in _resolve(host):
            try:
                made = _bind_one(family, address, port)
            except OSError as error:
                if family == socket.AF_INET6 and error.errno in NO_SUCH_ADDRESS:
                    continue
                raise
            bound.append(made)
            port = made.getsockname()[1]


def _resolve(host: str) -> list[tuple[socket.AddressFamily, str]]:
    found = socket.getaddrinfo(host or None, 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    return list(dict.fromkeys((family, str(address[0])) for family, _, _, _, address in found))


def _bind_one(family: socket.AddressFamily, address: str, port: int) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind((address, port))
        # Listening here already: with SO_REUSEADDR two programs may both bind a port, but not both listen on it.
        made.listen(BACKLOG)
        made.setblocking(False)
    except OSError:
        made.close()
        raise
    return made


def _close_all(sockets: Sequence[socket.socket]) -> None:
    for made in sockets:
        with suppress(OSError):
            made.close()


def _explain(error: OSError, hosts: Sequence[str], port: int, setting: str) -> str:
    where = f"port {port} of {', '.join(hosts)}"
    match error.errno:
        case errno.EADDRINUSE:
            return (
                f"{where} is taken by another program; `{_who(port)}` shows which. "
                f"Stop it, or set {setting} to another port (0 for any free one)"
            )
        case errno.EACCES:
            return f"{where} may not be used by this user; set {setting} to a port above 1023"
        case errno.EADDRNOTAVAIL:
            return f"one of the addresses {', '.join(hosts)} is not on this machine; change listen.hosts"
        case _:
            return f"cannot listen on {where}: {error.strerror or error}; change listen.hosts or {setting}"


def _who(port: int) -> str:
    return f"netstat -ano | findstr :{port}" if os.name == "nt" else f"lsof -nP -iTCP:{port} -sTCP:LISTEN"
