"""A private Postroom to measure: the real server as a process of its own, driven from outside.

The rule: it is served with its own defaults, but for free ports, room for many sessions, and login without TLS on
loopback where the peer it is compared with is measured so.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

from agents import __path__ as agents_path
from bench.client import Target
from bridge.imap.items import RENDERERS
from bridge.sql import series as bridge_series
from mailstore import accounts, lookup, messages
from mailstore.model import Mailbox, Role
from mailstore.sqlite import Series, WriteTx
from mailstore.store import Store

USER: Final = "you"
PASSWORD: Final = "bench-password"
BATCH: Final = 500
SECONDS: Final = 30.0
FREE_PORTS: Final = "[listen]\nimap = 0\nimaps = 0\nsmtp = 0\nsmtps = 0\nweb = 0\n[imap]\nmax_sessions = 2000\n"
IN_CLEAR: Final = "require_tls = false\n"


def set_up(home: Path, settings: str) -> None:
    """Make a data folder with one account."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    password = home / "password"
    password.write_text(PASSWORD)
    password.chmod(0o600)
    (home / "postroom.toml").write_text(settings)
    command = [sys.executable, "-m", "bridge.cli", "init", "--home", str(home), "--user", USER]
    subprocess.run([*command, "--password-file", str(password)], check=True, stdout=subprocess.DEVNULL)


@contextmanager
def running(home: Path) -> Iterator[Target]:
    """Serve a data folder until the end of the block."""
    ready = home / "ready.json"
    ready.unlink(missing_ok=True)
    command = [sys.executable, "-m", "bridge.cli", "serve", "--home", str(home), "--ready-file", str(ready)]
    with (home / "server.log").open("wb") as log:
        server = subprocess.Popen(command, stderr=log, stdout=log)
    try:
        ports = _ports(ready, server, home)
        yield Target("Postroom", ports["imap"], ports["imaps"], Path(ports["ca"]), USER, PASSWORD, server.pid)
    finally:
        server.terminate()
        server.wait(SECONDS)


def _ports(ready: Path, server: "subprocess.Popen[bytes]", home: Path) -> Mapping[str, Any]:
    deadline = time.monotonic() + SECONDS
    while not ready.exists():
        if server.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"Postroom did not start:\n{(home / 'server.log').read_text()}")
        time.sleep(0.005)
    found: Mapping[str, Any] = json.loads(ready.read_text())
    return found


def letter(number: int) -> bytes:
    """A small mail, for mailboxes where only the number of messages counts."""
    return (
        f"From: bob{number % 50}@example.org\r\nTo: you@postroom.internal\r\nSubject: Message {number}\r\n"
        f"Message-ID: <{number}@example.org>\r\nDate: Mon, 30 Nov 2026 09:00:00 +0000\r\n\r\n"
        f"{'A line of text. ' * 8}\r\n"
    ).encode()


def fill(home: Path, wanted: Mapping[Role, int]) -> None:
    """Put so many small mails into mailboxes of the account, while nobody serves it."""
    asyncio.run(_fill(home, wanted))


def series() -> list[Series]:
    """The tables of a whole Postroom, beside the store's own."""
    return [Series("agents", Path(agents_path[0]) / "sql"), bridge_series()]


async def _fill(home: Path, wanted: Mapping[Role, int]) -> None:
    store = await Store.open(home, series(), renderers=RENDERERS)
    account = store.read(accounts.all)[0].id
    prepared = [store.prepare(letter(number)) for number in range(BATCH)]
    for role, number in wanted.items():
        mailbox = store.read(partial(lookup.by_role, account=account, role=role))

        def batch(tx: WriteTx, into: Mailbox = mailbox) -> None:
            for at in range(BATCH):
                messages.append(tx, into, prepared[at], flags=("\\Seen",) if at % 3 else ())

        for _ in range(number // BATCH):
            await store.write(batch)
    await store.close()
