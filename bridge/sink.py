"""A mail server that stands for the outside world: it takes mail and keeps it in memory, or misbehaves as told.

The rule: it never sends mail anywhere. The demo and the tests relay to it; a script says at which phase of the SMTP
conversation it waits, refuses or hangs up, so that every way a relay can fail can be shown.

Phases, in order: connect (before the greeting), ehlo, starttls, auth, mail, rcpt, data (before the 354), body (before
it is read), end (the body is there, before the 250).
"""

import asyncio
import base64
import ssl
import time
from collections import defaultdict, deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

PHASES: Final = ("connect", "ehlo", "starttls", "auth", "mail", "rcpt", "data", "body", "end")
LIMIT: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Refuse:
    """Answer with this reply instead of the good one."""

    reply: str


@dataclass(frozen=True, slots=True)
class Cut:
    """Drop the connection without a word. `keep` says whether a mail cut at `end` was taken all the same."""

    keep: bool = False


@dataclass(frozen=True, slots=True)
class Hold:
    """Wait for `release` (at `body`: read nothing until then), then go on as usual."""

    reached: asyncio.Event = field(default_factory=asyncio.Event)
    released: asyncio.Event = field(default_factory=asyncio.Event)

    def release(self) -> None:
        """Let the conversation go on."""
        self.released.set()


Deed = Refuse | Cut | Hold


@dataclass(frozen=True, slots=True)
class Delivered:
    """A mail that was taken. `data` has its dots unstuffed, `at` is seconds since 1970, `login` who authenticated."""

    sender: str
    recipients: tuple[str, ...]
    data: bytes
    at: float
    secure: bool
    login: str | None


class Sink:
    """Start it, read `port`, send to it, look at `messages`.

    `tls` offers STARTTLS, or is spoken at once with `implicit`; `users` are the logins it knows (none: open to all).
    """

    def __init__(
        self,
        *,
        tls: ssl.SSLContext | None = None,
        implicit: bool = False,
        users: dict[str, str] | None = None,
        extensions: tuple[str, ...] = ("8BITMIME", "SMTPUTF8", "PIPELINING"),
    ) -> None:
        self.tls = tls
        self.implicit = implicit
        self.users = users or {}
        self.extensions = extensions
        self.messages: list[Delivered] = []
        self.log: list[str] = []
        self.connections = 0
        self.port = 0
        self._script: defaultdict[str, deque[Deed]] = defaultdict(deque)
        self._arrived = asyncio.Condition()
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> int:
        """Listen; returns the port."""
        context = self.tls if self.implicit else None
        self._server = await asyncio.start_server(self._serve, host, port, ssl=context, limit=LIMIT)
        self.port = self._server.sockets[0].getsockname()[1]
        return self.port

    async def close(self) -> None:
        """Stop, and drop whoever is connected."""
        if self._server is not None:
            self._server.close()
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def idle(self) -> None:
        """Returns once nobody is connected."""
        if self._open:
            await asyncio.wait(self._open)

    def refuse(self, phase: str, reply: str) -> None:
        """The next conversation to reach `phase` gets this reply ("451 4.3.0 later") there."""
        self._script[_phase(phase)].append(Refuse(reply))

    def cut(self, phase: str, *, keep: bool = False) -> None:
        """The next conversation to reach `phase` is cut off there."""
        self._script[_phase(phase)].append(Cut(keep))

    def hold(self, phase: str) -> Hold:
        """The next conversation to reach `phase` waits there until `release` is called on what this returns."""
        held = Hold()
        self._script[_phase(phase)].append(held)
        return held

    async def wait(self, count: int, seconds: float = 30.0) -> list[Delivered]:
        """The mails, once there are at least `count` of them. Raises TimeoutError."""
        async with asyncio.timeout(seconds), self._arrived:
            await self._arrived.wait_for(lambda: len(self.messages) >= count)
            return list(self.messages)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            await _Conversation(self, reader, writer).run()
        except (ConnectionError, asyncio.IncompleteReadError, _Cut, ssl.SSLError):
            pass
        finally:
            self._open.discard(task)
            writer.transport.abort()

    async def _act(self, phase: str) -> str | None:
        """What the script says for this phase: a reply to give instead, None to go on; raises _Cut."""
        deeds = self._script[phase]
        if not deeds:
            return None
        deed = deeds.popleft()
        if isinstance(deed, Refuse):
            return deed.reply
        if isinstance(deed, Cut):
            raise _Cut(deed.keep)
        deed.reached.set()
        await deed.released.wait()
        return None

    async def _take(self, message: Delivered) -> None:
        async with self._arrived:
            self.messages.append(message)
            self._arrived.notify_all()


class _Cut(Exception):
    def __init__(self, keep: bool) -> None:
        super().__init__()
        self.keep = keep


class _Conversation:
    """One connection to the sink."""

    def __init__(self, sink: Sink, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.sink = sink
        self.reader = reader
        self.writer = writer
        self.secure = sink.implicit
        self.login: str | None = None
        self.sender: str | None = None
        self.recipients: list[str] = []

    async def run(self) -> None:
        """From the greeting to the end."""
        if not await self._step("connect", "220 sink.example ESMTP"):
            return
        while line := await self.reader.readline():
            text = line.decode("utf-8", "replace").rstrip("\r\n")
            command, _, rest = text.partition(" ")
            self.sink.log.append("AUTH ..." if command.upper() == "AUTH" else text)
            if command.upper() == "QUIT":
                await self._say("221 2.0.0 bye")
                return
            await self._command(command.upper(), rest)

    async def _command(self, command: str, rest: str) -> None:
        match command:
            case "EHLO" | "HELO":
                await self._step("ehlo", self._greeting())
            case "STARTTLS" if self.sink.tls is not None and not self.secure:
                if await self._step("starttls", "220 2.0.0 go ahead"):
                    await self.writer.start_tls(self.sink.tls)
                    self.secure = True
            case "AUTH":
                await self._auth(rest)
            case "MAIL" if self.sink.users and self.login is None:
                await self._say("530 5.7.0 authentication required")
            case "MAIL":
                if await self._step("mail", "250 2.1.0 ok"):
                    self.sender, self.recipients = _path(rest), []
            case "RCPT" if self.sender is not None:
                if await self._step("rcpt", "250 2.1.5 ok"):
                    self.recipients.append(_path(rest))
            case "DATA" if self.recipients:
                await self._data()
            case "RSET" | "NOOP":
                self.sender, self.recipients = (None, []) if command == "RSET" else (self.sender, self.recipients)
                await self._say("250 2.0.0 ok")
            case _:
                await self._say("503 5.5.1 bad sequence or unknown command")

    def _greeting(self) -> str:
        offers = [*self.sink.extensions]
        if self.sink.tls is not None and not self.secure:
            offers.append("STARTTLS")
        if self.sink.users:
            offers.append("AUTH PLAIN LOGIN")
        return "\r\n".join(["250-sink.example", *(f"250-{offer}" for offer in offers), "250 SIZE 67108864"])

    async def _auth(self, rest: str) -> None:
        mechanism, _, initial = rest.partition(" ")
        if mechanism.upper() == "PLAIN":
            _, name, password = (await self._secret(initial, "")).split("\0")
        else:
            name = await self._secret(initial, "VXNlcm5hbWU6")
            password = await self._secret("", "UGFzc3dvcmQ6")
        right = self.sink.users.get(name) == password
        if await self._step("auth", "235 2.7.0 ok" if right else "535 5.7.8 wrong user name or password") and right:
            self.login = name

    async def _secret(self, initial: str, challenge: str) -> str:
        if not initial:
            await self._say(f"334 {challenge}")
            initial = (await self.reader.readline()).decode().strip()
        return base64.b64decode(initial).decode()

    async def _data(self) -> None:
        if not await self._step("data", "354 go ahead"):
            return
        reply = await self.sink._act("body")
        lines: list[bytes] = []
        while (line := await self.reader.readline()) != b".\r\n":
            if not line:
                return
            lines.append(line[1:] if line.startswith(b".") else line)
        message = Delivered(
            self.sender or "", tuple(self.recipients), b"".join(lines), time.time(), self.secure, self.login
        )
        self.sender, self.recipients = None, []
        try:
            reply = reply or await self.sink._act("end")
        except _Cut as cut:
            if cut.keep:
                await self.sink._take(message)
            raise
        if reply is None:
            await self.sink._take(message)
        await self._say(reply or f"250 2.0.0 taken as {len(self.sink.messages)}")

    async def _step(self, phase: str, good: str) -> bool:
        """Do what the script says, else give the good reply; True when it was given."""
        reply = await self.sink._act(phase)
        await self._say(reply or good)
        return reply is None

    async def _say(self, reply: str) -> None:
        with suppress(ConnectionError):
            self.writer.write(f"{reply}\r\n".encode())
            await self.writer.drain()


def _path(rest: str) -> str:
    """The address of "FROM:<address> ..." or "TO:<address> ..."."""
    start, end = rest.find("<"), rest.find(">")
    return rest[start + 1 : end] if 0 <= start < end else ""


def _phase(name: str) -> str:
    if name not in PHASES:
        raise ValueError(f"no phase {name}; there are {', '.join(PHASES)}")
    return name
