"""Who is not the person of a dialogue: a service that calls a webhook over HTTP, and a machine that mails a hook.

The rule: each gets a secret of its own in the way that `postroom triggers secret` makes one, and goes through the
product's real doors.
"""

import asyncio
import json
from typing import Any

from agents import trigger
from bridge.identity import Identity
from bridge.submissions import Accepted, Receipt
from tests.post.desk import PATIENCE, Desk, Person


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
