"""Measures IMAP of a served Postroom: flags of 50,000 messages, commit to IDLE line, memory of idle TLS sessions.

`python -m bench.imap` fills a throw-away data folder, starts the real server on it, and prints one line a figure. Wall
times on a shared machine carry up to twofold noise; the median of several runs is given.
"""

import asyncio
import json
import os
import re
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from agents import __path__ as agents_path
from bridge.imap.items import RENDERERS
from bridge.sql import series as bridge_series
from mailstore import accounts, lookup, messages
from mailstore.model import Mailbox, Role
from mailstore.sqlite import Series, WriteTx
from mailstore.store import Store

PASSWORD: Final = "bench password"
MESSAGES: Final = 50_000
SESSIONS: Final = 200
IDLE_MAILBOX: Final = 10_000
BATCH: Final = 500
ROUNDS: Final = 9
PUSHES: Final = 30
BURST: Final = 0.12  # seconds between pushes, so that none is held back as part of a burst


@dataclass(frozen=True, slots=True)
class Figure:
    """One result with its goal, both in `unit`."""

    name: str
    value: float
    goal: float
    unit: str

    @property
    def met(self) -> bool:
        return self.value <= self.goal

    def __str__(self) -> str:
        return f"{self.name:55} {self.value:9.2f} {self.unit:3} (goal {self.goal:g}) {'ok' if self.met else 'MISSED'}"


class Peer:
    """A blocking IMAP client that reads as fast as it can."""

    def __init__(self, port: int, context: ssl.SSLContext) -> None:
        raw = socket.create_connection(("127.0.0.1", port), timeout=60)
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = context.wrap_socket(raw, server_hostname="localhost")
        self.socket.recv(4096)

    def command(self, text: str) -> bytes:
        self.socket.sendall(f"x {text}\r\n".encode())
        heard = bytearray()
        while not re.search(rb"(?:\A|\n)x [^\n]*\r\n\Z", heard[-400:]):
            heard += self.socket.recv(1 << 20)
        return bytes(heard)

    def enter(self, mailbox: str) -> None:
        self.command(f'LOGIN you "{PASSWORD}"')
        self.command(f'SELECT "{mailbox}"')

    def idle(self) -> None:
        self.socket.sendall(b"i IDLE\r\n")
        while b"+ idling" not in self.socket.recv(4096):
            pass


def letter(number: int) -> bytes:
    return (
        f"From: bob{number % 50}@example.org\r\nTo: you@postroom.internal\r\nSubject: Message {number}\r\n"
        f"Message-ID: <{number}@example.org>\r\nDate: Mon, 30 Nov 2026 09:00:00 +0000\r\n\r\n"
        f"{'A line of text. ' * 8}\r\n"
    ).encode()


async def fill(home: Path, wanted: dict[str, int]) -> None:
    """Put so many messages into mailboxes of the first account."""
    series = [Series("agents", Path(agents_path[0]) / "sql"), bridge_series()]
    store = await Store.open(home, series, renderers=RENDERERS)
    account = store.read(accounts.all)[0].id
    prepared = [store.prepare(letter(number)) for number in range(BATCH)]
    for name, number in wanted.items():
        mailbox = store.read(partial(lookup.by_role, account=account, role=Role(name)))

        def batch(tx: WriteTx, into: Mailbox = mailbox) -> None:
            for at in range(BATCH):
                messages.append(tx, into, prepared[at], flags=("\\Seen",) if at % 3 else ())

        for _ in range(number // BATCH):
            await store.write(batch)
    await store.close()


@contextmanager
def serving(home: Path) -> Iterator[tuple[dict[str, str], int]]:
    """The real server on the folder; its ports and its process id."""
    ready = home / "ready.json"
    command = [sys.executable, "-m", "bridge.cli", "serve", "--home", str(home), "--ready-file", str(ready)]
    with (home / "server.log").open("wb") as log:
        server = subprocess.Popen(command, stderr=log, stdout=log)
    try:
        while not ready.exists():
            if server.poll() is not None:
                raise RuntimeError((home / "server.log").read_text())
            time.sleep(0.05)
        yield json.loads(ready.read_text()), server.pid
    finally:
        server.terminate()
        server.wait(20)


def spent(pid: int) -> float:
    """Processor time of a process so far, in ms."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def quiet(pid: int) -> None:
    """Return when the server has finished what it does behind the commits (the text index)."""
    ticks, calm = -1.0, 0
    while calm < 3:
        used = spent(pid)
        calm = calm + 1 if used - ticks <= 20 else 0
        ticks = used
        time.sleep(1)


def flags_of_many(peer: Peer, pid: int) -> list[Figure]:
    """Wall time, and the server's own processor time, which other programs on the machine do not lengthen."""
    times = []
    before = spent(pid)
    for _ in range(ROUNDS):
        start = time.perf_counter()
        heard = peer.command("UID FETCH 1:* (FLAGS)")
        times.append((time.perf_counter() - start) * 1000)
        assert heard.count(b"FETCH (UID") >= MESSAGES
    name = f"UID FETCH 1:* (FLAGS) of {MESSAGES}, over TLS"
    figures = [Figure(name, statistics.median(times), 60, "ms")]
    if sys.platform == "linux":
        figures.append(Figure("  the server's processor time for it", (spent(pid) - before) / ROUNDS, 60, "ms"))
    return figures


def push(writer: Peer, idler: Peer) -> Figure:
    """From the OK of an APPEND, which follows its commit, to the EXISTS of another client; before it counts as zero."""
    raw = letter(1)
    times = []
    for _ in range(PUSHES):
        time.sleep(BURST)
        writer.command(f"APPEND Archive {{{len(raw)}+}}\r\n{raw.decode()}")
        committed = time.perf_counter()
        idler.socket.recv(4096)
        times.append(max(0.0, time.perf_counter() - committed) * 1000)
    return Figure("commit to IDLE line, p95", sorted(times)[int(len(times) * 0.95)], 5, "ms")


def memory(pid: int) -> int:
    """Memory of a process that is its own (PSS), in kB."""
    found = re.search(r"^Pss:\s+(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
    assert found
    return int(found[1])


def idle_sessions(port: int, context: ssl.SSLContext, pid: int) -> Figure:
    peers = []
    for number in range(SESSIONS + 50):
        if number == 50:  # the first ones pay for what all share
            before = memory(pid)
        peer = Peer(port, context)
        peer.enter("Archive")
        peer.idle()
        peers.append(peer)
    time.sleep(1)
    return Figure(f"memory of an idle TLS session ({SESSIONS})", (memory(pid) - before) / SESSIONS, 40, "kB")


def measure(home: Path) -> list[Figure]:
    password = home / "password"
    password.write_text(PASSWORD)
    password.chmod(0o600)
    (home / "postroom.toml").write_text(
        "[listen]\nimap = 0\nimaps = 0\nsmtp = 0\nsmtps = 0\nweb = 0\n[imap]\nmax_sessions = 1000\n"
    )
    command = [sys.executable, "-m", "bridge.cli", "init", "--home", str(home), "--user", "you"]
    subprocess.run([*command, "--password-file", str(password)], check=True, stdout=subprocess.DEVNULL)
    asyncio.run(fill(home, {"inbox": MESSAGES, "archive": IDLE_MAILBOX}))
    with serving(home) as (ports, pid):
        context = ssl.create_default_context(cafile=ports["ca"])
        port = int(ports["imaps"])
        if sys.platform == "linux":
            quiet(pid)
        figures = [idle_sessions(port, context, pid)] if sys.platform == "linux" else []
        writer, idler, reader = (Peer(port, context) for _ in range(3))
        reader.enter("INBOX")
        figures += flags_of_many(reader, pid)
        writer.enter("INBOX")
        idler.enter("Archive")
        idler.idle()
        figures.append(push(writer, idler))
    return figures


def main() -> int:
    """Exit code 1 when a goal is missed."""
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder))
    for figure in figures:
        print(figure)
    return 0 if all(figure.met for figure in figures) else 1


if __name__ == "__main__":
    raise SystemExit(main())
