"""A real server with secrets everywhere a secret may be: none is in its files, its log, its mails, or what it answers.

Whoever it gives one to says it back: a provider in its refusal, a mail server in its answer to the login, a tool on its
standard error.
"""

import asyncio
import hashlib
import hmac
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path

from bridge.control.client import call
from bridge.demo import client
from bridge.demo.server import Server
from config.paths import write_private
from tests import canary
from tests.fakes.fake_llm import fake_llm
from tests.house.tree import ROOT

PASSWORD = "correct horse battery"
SETTINGS = """
[models.echo]
model = "openai/401"
api_base = "{base}"
api_key = "env:CANARY_SECRET"
[agents.assistant]
model = "echo"
[mailboxes.far]
host = "127.0.0.1"
port = {far}
tls = "none"
account = "ada"
username = "ada"
password = "env:CANARY_SECRET"
[webhooks]
enabled = true
[signatures.deploy]
scheme = "github"
account = "ada"
key = "env:CANARY_SECRET"
"""


@asynccontextmanager
async def echoing_imap() -> AsyncIterator[tuple[int, asyncio.Event]]:
    """A mail server that refuses every login and repeats what it was given; the event is set when it has."""
    refused = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"* OK [CAPABILITY IMAP4rev1] ready\r\n")
        while line := await reader.readline():
            tag, _, rest = line.strip().partition(b" ")
            if rest.upper().startswith(b"CAPABILITY"):
                writer.write(b"* CAPABILITY IMAP4rev1\r\n" + tag + b" OK done\r\n")
            else:
                writer.write(tag + b" NO wrong: " + rest + b"\r\n")
                refused.set()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1], refused
    finally:
        server.close()


def hello(account: client.Account) -> EmailMessage:
    mail = EmailMessage(SMTP)
    mail["From"], mail["To"], mail["Subject"] = account.address, "assistant@postroom.internal", "Hello"
    mail["Message-ID"] = "<hello@client.example>"
    mail.set_content("Hello?\n")
    return mail


def first_mail(account: client.Account) -> str:
    """Write, and wait for the answer."""
    client.submit(account, hello(account))
    box = client.Mailbox(account, "INBOX")
    try:
        mail, _ = box.wait(["SUBJECT", "Hello"], step=client.SHORT_STEP_SECONDS)
        return mail.message.as_string()
    finally:
        box.close()


async def post(port: int, body: bytes) -> bytes:
    """A call of the webhook, signed."""
    made = hmac.new(canary.value().encode(), body, hashlib.sha256).hexdigest()
    head = (
        f"POST /hooks/ada/deploy HTTP/1.1\r\nHost: localhost\r\nX-Hub-Signature-256: sha256={made}\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(head.encode() + body)
    answer = await reader.read()
    writer.close()
    return answer


async def test_a_running_server_keeps_its_secrets(tmp_path: Path) -> None:
    server = Server(tmp_path)
    async with fake_llm() as provider, echoing_imap() as (far, refused):
        await server.set_up("ada", PASSWORD, SETTINGS.format(base=provider.base, far=far))
        tiny = {"command": sys.executable, "args": ["-m", "tests.fakes.mcp_server"], "cwd": str(ROOT)}
        servers = {"tiny": {**tiny, "env": {"TOKEN": "${CANARY_SECRET}"}}}
        write_private(server.folder.mcp_file, json.dumps({"mcpServers": servers}).encode())
        try:
            ports = await server.start()
            socket = server.folder.control_socket
            for kind, name in (("mailbox", "far"), ("webhook", "deploy")):
                wish = {"kind": kind, "name": name, "task": "Say what it is."}
                await asyncio.to_thread(call, socket, "trigger.add", wish)
            account = client.Account(ports, "ada@postroom.internal", "ada", PASSWORD)
            seen = [await asyncio.to_thread(first_mail, account)]
            assert "refused the key" in seen[0]
            seen.append((await post(ports.web, b"{}")).decode())
            assert seen[-1].startswith("HTTP/1.1 202")
            async with asyncio.timeout(60):
                await refused.wait()
            asked = ("mcp", "status", "triggers", "runs", "audit")
            seen += [json.dumps(await server.ask(command)) for command in asked]
        finally:
            await server.stop()
    assert provider.requests, "the key was never used"
    assert "ready" in server.log.read_text()
    assert [text for text in seen if canary.value() in text] == []
    assert list(canary.in_files(tmp_path, canary.value())) == []
