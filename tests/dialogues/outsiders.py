"""Who is not the person of a dialogue: a service that calls a webhook over HTTP, a machine that mails a hook, a web
server with pages, a mailbox elsewhere, and a terminal.

The rule: each goes through the product's real doors; a secret is made in the way of `postroom triggers secret`.
"""

import asyncio
import contextlib
import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from agents import trigger
from bridge.cli.program import program
from bridge.control.server import ControlServer
from bridge.identity import Identity
from bridge.submissions import Accepted, Receipt
from config.paths import DataFolder, FolderLock
from tests.post.desk import PATIENCE, Desk, Person
from tests.post.desk import desk as whole_desk


async def call(desk: Desk, owner: Person, name: str, body: str) -> dict[str, Any]:
    """What the server says to one call of a webhook."""
    assert desk.app.ports is not None
    secret = await _secret(desk, owner, "webhook", name)
    data = body.encode()
    kind = "application/json" if body[:1] in ("{", "[") else "text/plain"
    head = (
        f"POST /hooks/{owner.identity.name}/{name} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {secret}\r\n"
        f"Content-Type: {kind}\r\nContent-Length: {len(data)}\r\nConnection: close\r\n\r\n"
    )
    reader, writer = await asyncio.open_connection("127.0.0.1", desk.app.ports.web)
    writer.write(head.encode() + data)
    async with asyncio.timeout(PATIENCE):
        answer = await reader.read()
    writer.close()
    assert answer.startswith(b"HTTP/1.1 202"), answer.decode()
    said: dict[str, Any] = json.loads(answer.partition(b"\r\n\r\n")[2])
    return said


async def mail(desk: Desk, owner: Person, name: str, head: dict[str, str], text: str) -> None:
    """A mail of a machine that logs in with a password for hooks."""
    token = await _secret(desk, owner, "hook", name)
    address = f"hook+{name}.{token}@{desk.app.settings.domain}"
    known = owner.identity
    machine = Person(desk, Identity(known.account, known.name, known.address, "machine", 2, hooks_only=True))
    assert desk.app.accept.recipient(machine.identity, address) == Accepted()
    fields = {"From": "root@nas.local", "Message-ID": f"<{abs(hash((name, text)))}@nas.local>", **head, "To": address}
    lines = [f"{field}: {value}" for field, value in fields.items()]
    raw = "\r\n".join([*lines, "Auto-Submitted: auto-generated", "", *text.splitlines(), ""])
    assert isinstance(await machine.submit(raw.encode(), address), Receipt)


async def _secret(desk: Desk, owner: Person, kind: str, name: str) -> str:
    def renew(tx: Any) -> str:
        item = trigger.named(tx, owner.identity.account, kind, name)
        assert item is not None, f"there is no {kind} {name}"
        return desk.app.runtime.automations.renew(tx, item)

    return await desk.app.store.write(renew)


class Pages:
    """A web server of this machine with the pages of a dialogue; a text `-> ADDRESS` sends the reader on."""

    def __init__(self, pages: Mapping[str, str]) -> None:
        self._pages = pages
        self._server: asyncio.AbstractServer

    async def start(self) -> int:
        """Its port."""
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        return int(self._server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        self._server.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = (await reader.readuntil(b"\r\n\r\n")).split()[1].decode()
        page = self._pages.get(asked)
        status, more = "200 OK", "Content-Type: text/html; charset=utf-8\r\n"
        if page is None:
            status, more = "404 Not Found", ""
        elif page.startswith("-> "):
            status, more, page = "302 Found", f"Location: {page[3:].strip()}\r\n", ""
        body = (page or "").encode()
        head = f"HTTP/1.1 {status}\r\n{more}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()
        writer.close()


class Elsewhere:
    """A mailbox that the person has at another server (a second Postroom): eve, INBOX."""

    def __init__(self, desk: Desk, eve: Person) -> None:
        self._desk = desk
        self._eve = eve

    @classmethod
    async def opened(cls, end: contextlib.AsyncExitStack, folder: Path) -> "Elsewhere":
        desk = await end.enter_async_context(whole_desk(folder, require_tls=False))
        return cls(desk, await desk.person("eve"))

    async def words(self) -> dict[str, str]:
        """Where it is, for the settings."""
        assert self._desk.app.ports is not None
        password = await self._desk.app.auth.add_generated(self._eve.identity.account, "watch")
        return {"{elsewhere.port}": str(self._desk.app.ports.imap), "{elsewhere.password}": password}

    async def arrives(self, house: Desk, owner: Person, head: dict[str, str], text: str) -> None:
        """A mail comes there, and the house has taken it in."""
        await owner.wait("Automations", lambda all: bool(house.app.store.read(_places)))
        subject = head.get("Subject", "")
        fields = {"From": "bob@far.example", "Message-ID": f"<{abs(hash((subject, text)))}@far.example>", **head}
        lines = [f"{field}: {value}" for field, value in fields.items()]
        await self._eve.append("INBOX", "\r\n".join([*lines, "", *text.splitlines(), ""]).encode())
        await owner.wait("Archive", lambda all: any(subject in kept.message["Subject"] for kept in all))


def _places(tx: Any) -> int:
    return int(tx.value("bridge.outside.places") or 0)


async def command(desk: Desk, line: str) -> str:
    """What `postroom LINE` prints beside the running server."""
    folder = DataFolder(desk.app.settings.home)
    with FolderLock(folder):
        server = ControlServer(desk.app, folder)
        await server.start()
        try:
            words = [*shlex.split(line), "--home", str(folder.root)]
            done = await asyncio.to_thread(CliRunner(env={"COLUMNS": "240"}).invoke, program(), words)
        finally:
            await server.close()
    return done.output if done.exception is None else f"{done.output}\n{done.exception}"
