"""A blocking IMAP client that costs as little as it can, so that what is measured is the server.

The rule: it knows nothing of what it reads but where an answer ends: at the line with the command's tag. What it hears
is written into one buffer, used again and again, and copied out of it only for who wants to see it.
"""

import re
import socket
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.corpus import Mail

SECONDS: Final = 180.0
ROOM: Final = 1 << 16  # in the buffer, for what is heard next; it doubles when there is less


class Unexpected(Exception):
    """The server said no, or closed the connection."""


@dataclass(frozen=True, slots=True)
class Target:
    """A server to measure: where it listens, in clear and with TLS, who may log in, and its first process."""

    name: str
    port: int
    tls_port: int
    ca: Path
    user: str
    password: str
    pid: int

    def context(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.ca))


class Client:
    """One connection; `context` for TLS from the start."""

    def __init__(self, target: Target, context: ssl.SSLContext | None = None, *, login: bool = True) -> None:
        port = target.port if context is None else target.tls_port
        self._socket: socket.socket = socket.create_connection(("127.0.0.1", port), timeout=SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if context is not None:
            self._socket = context.wrap_socket(self._socket, server_hostname="localhost")
        self._heard = bytearray(ROOM)  # what was heard and not yet taken is at its beginning
        self._end = 0  # of that
        self._number = 0
        self.capabilities: frozenset[str] = frozenset()
        self.line()
        if login:
            self.command(f'LOGIN {target.user} "{target.password}"')
            told = re.search(rb"\* CAPABILITY ([^\r]*)", self.command("CAPABILITY"))
            self.capabilities = frozenset(told[1].decode().upper().split() if told else ())

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def command(self, text: str, *, ok: bool = True) -> bytes:
        """Say it and hear everything up to its end. Raises Unexpected on NO and BAD, unless told not to."""
        return self.wait(self.start(text), ok=ok)

    def act(self, text: str) -> None:
        """The same, without looking at what is said but for its end."""
        self._take(self._hear(self.start(text), ok=True))

    def start(self, text: str) -> bytes:
        """Say it; the tag by which to wait for its end."""
        self._number += 1
        tag = b"z%06d" % self._number
        self._socket.sendall(b"%b %b\r\n" % (tag, text.encode()))
        return tag

    def wait(self, tag: bytes, *, ok: bool = True) -> bytes:
        """Everything that is said up to the end of a command."""
        stop = self._hear(tag, ok=ok)
        said = bytes(memoryview(self._heard)[:stop])
        self._take(stop)
        return said

    def _hear(self, tag: bytes, *, ok: bool) -> int:
        """Hear everything up to the end of a command; up to where in the buffer that is."""
        mark, at = b"\r\n" + tag + b" ", 0
        while True:
            start = 0 if self._heard.startswith(mark[2:], 0, self._end) else self._heard.find(mark, at, self._end) + 2
            end = self._heard.find(b"\r\n", start, self._end) if start != 1 else -1
            if end >= 0:
                status = bytes(self._heard[start + len(tag) + 1 : end])
                if ok and not status.startswith(b"OK"):
                    self._take(end + 2)
                    raise Unexpected(status[:160].decode("latin1"))
                return end + 2
            at = start - 2 if start > 1 else max(0, self._end - len(mark))
            self._receive()

    def line(self) -> bytes:
        """The next line, without its end."""
        while (end := self._heard.find(b"\r\n", 0, self._end)) < 0:
            self._receive()
        found = bytes(self._heard[:end])
        self._take(end + 2)
        return found

    def until(self, pattern: bytes) -> None:
        """Read lines up to one that the pattern is found in."""
        while not re.search(pattern, self.line()):
            pass

    def append(self, mailbox: str, mails: Sequence[Mail]) -> None:
        """One APPEND of one or (MULTIAPPEND) several messages."""
        self.wait(self.start_append(mailbox, mails))

    def start_append(self, mailbox: str, mails: Sequence[Mail]) -> bytes:
        """Send an APPEND with literals that do not wait; the tag."""
        self._number += 1
        tag = b"z%06d" % self._number
        pieces = [
            b' (%b) "%b" {%d+}\r\n%b' % (mail.flags.encode(), mail.date.encode(), len(mail.raw), mail.raw)
            for mail in mails
        ]
        self._socket.sendall(b"%b APPEND %b%b\r\n" % (tag, mailbox.encode(), b"".join(pieces)))
        return tag

    def idle(self) -> None:
        """Begin IDLE."""
        self.start("IDLE")
        self.until(rb"^\+")

    def fresh(self, mailbox: str) -> None:
        """Make a mailbox anew and empty."""
        self.command(f"DELETE {mailbox}", ok=False)
        self.command(f"CREATE {mailbox}")

    def _receive(self) -> None:
        if len(self._heard) - self._end < ROOM:
            self._heard += bytes(len(self._heard))
        count = self._socket.recv_into(memoryview(self._heard)[self._end :])
        if not count:
            raise Unexpected("the server closed the connection")
        self._end += count

    def _take(self, stop: int) -> None:
        """Forget what was heard up to there."""
        self._heard[: self._end - stop] = self._heard[stop : self._end]
        self._end -= stop
