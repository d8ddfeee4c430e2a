"""Postroom's own figures: how soon work begins, how soon news arrives, and what waiting costs.

The rule: the server is a process of its own and is looked at from outside: by its clients, by a mail server that it
relays to, by its database's times and by the kernel's figures.
"""

import asyncio
import json
import smtplib
import sqlite3
import statistics
import time
from asyncio import to_thread
from collections.abc import Callable, Iterator
from dataclasses import replace
from email.message import EmailMessage
from email.utils import parseaddr
from pathlib import Path
from typing import Final

from bench import postroom, process
from bench.client import Client, Target
from bench.corpus import Mail
from bench.figure import Figure, percentile
from bridge.demo.client import Account, Mailbox, answer, task
from bridge.demo.play import settings as story_settings
from bridge.demo.server import Ports
from bridge.demo.story import usual_story
from bridge.sink import Sink
from config.paths import DataFolder
from mailstore.model import Role
from mailstore.store import FILE

MESSAGES: Final = 50_000
IDLE_MAILBOX: Final = 10_000
SESSIONS: Final = 200
ROUNDS: Final = 9
LETTERS: Final = 20
APPROVALS: Final = 7
STARTS: Final = 3
PUSHES: Final = 30
BURST_SECONDS: Final = 0.12
STEP_SECONDS: Final = 60.0
DOMAIN: Final = "postroom.internal"

Told = Callable[[str], None]


def measure(folder: Path, rest: float, tell: Told) -> Iterator[Figure]:
    """All figures; `rest` is how many seconds the server is left alone before its memory is read."""
    yield from _agents(folder / "agents", rest, tell)
    yield from _mail(folder / "mail", tell)


def _mail(home: Path, tell: Told) -> Iterator[Figure]:
    tell("filling two mailboxes")
    postroom.set_up(home, postroom.FREE_PORTS)
    postroom.fill(home, {Role.INBOX: MESSAGES, Role.ARCHIVE: IDLE_MAILBOX})
    with postroom.running(home) as target:
        if process.known:
            tell("waiting for the index of words")
            process.quiet(target.pid)
            tell("memory of idle sessions")
            yield _idle_sessions(target)
        tell("flags of 50,000")
        yield from _flags(target)
        tell("commit to IDLE line")
        yield _push(target)


def _idle_sessions(target: Target) -> Figure:
    context = target.context()
    clients: list[Client] = []
    for number in range(SESSIONS + 50):
        if number == 50:  # the first ones pay for what all share
            before = process.own_memory(target.pid)
        client = Client(target, context)
        client.command("SELECT Archive")
        client.idle()
        clients.append(client)
    time.sleep(1)
    used = (process.own_memory(target.pid) - before) / SESSIONS
    for client in clients:
        client.close()
    return Figure(f"Memory of one of {SESSIONS} idle TLS sessions, {IDLE_MAILBOX:,} messages selected", used, 40, "kB")


def _flags(target: Target) -> Iterator[Figure]:
    """Wall time, and the server's processor time, which other programs on the machine do not lengthen."""
    with Client(target, target.context()) as client:
        client.command("SELECT INBOX")
        times = []
        before = process.spent(target.pid) if process.known else 0.0
        for _ in range(ROUNDS):
            start = time.perf_counter()
            client.act("UID FETCH 1:* (FLAGS)")
            times.append((time.perf_counter() - start) * 1000)
        name = f"UID FETCH 1:* (FLAGS) of {MESSAGES:,}, over TLS"
        yield Figure(name, statistics.median(times), 60, "ms")
        if process.known:
            yield Figure(f"{name}: processor time", (process.spent(target.pid) - before) / ROUNDS, 60, "ms")


def _push(target: Target) -> Figure:
    """From the OK of an APPEND, which follows its commit, to the EXISTS of another client; before it counts as zero."""
    mail = Mail("", "30-Nov-2026 09:00:00 +0000", postroom.letter(1))
    times = []
    with Client(target, target.context()) as writer, Client(target, target.context()) as idler:
        idler.command("SELECT Archive")
        idler.idle()
        for _ in range(PUSHES):
            time.sleep(BURST_SECONDS)
            writer.append("Archive", [mail])
            committed = time.perf_counter()
            idler.until(rb" EXISTS")
            times.append(max(0.0, time.perf_counter() - committed) * 1000)
    return Figure("Commit to the IDLE line of another client, 95th percentile", percentile(times, 0.95), 5, "ms")


def _agents(home: Path, rest: float, tell: Told) -> Iterator[Figure]:
    tell("start to greeting")
    postroom.set_up(home, postroom.FREE_PORTS)
    yield Figure("Start of the process to the IMAP greeting", statistics.median(_starts(home)), 1000, "ms")
    tell("memory of an idle server")
    if process.known:
        with postroom.running(home) as target:
            time.sleep(rest)
            megabytes = process.resident(target.pid) / 1024
        yield Figure(f"Resident memory, idle, {rest:.0f} s after the start", megabytes, 80, "MB")
    tell("letters and approvals")
    yield from asyncio.run(_work(home))


def _starts(home: Path) -> list[float]:
    times = []
    for _ in range(STARTS):
        start = time.perf_counter()
        with postroom.running(home) as target, Client(target, login=False):
            times.append((time.perf_counter() - start) * 1000)
    return times


async def _work(home: Path) -> list[Figure]:
    """Letters to the assistant, and approvals of what it asks."""
    sink = Sink()
    port = await sink.start()
    relay = story_settings(port).partition("[relay]")[2]
    (home / "postroom.toml").write_text(f"{postroom.FREE_PORTS}\n[relay]{relay}")
    with postroom.running(home) as target:
        smtp = _smtp_port(home)
        ports = Ports(target.port, target.tls_port, smtp, 0, 0, str(target.ca))
        account = Account(ports, f"{postroom.USER}@{DOMAIN}", postroom.USER, postroom.PASSWORD)
        leased = await to_thread(_leases, account, home)
        effects = await _effects(account, sink)
    await sink.close()
    return [
        Figure("SMTP 250 to the run leased, median (0: before the 250 was read)", statistics.median(leased), 20, "ms"),
        Figure("Approval's 250 to the effect begun, median", statistics.median(effects), 50, "ms"),
    ]


def _smtp_port(home: Path) -> int:
    return int(json.loads((home / "ready.json").read_text())["smtp"])


class _Submission:
    """A logged-in SMTP session that says when each mail was accepted."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._smtp = smtplib.SMTP("localhost", account.ports.smtp, timeout=STEP_SECONDS)
        self._smtp.starttls(context=account.tls())
        self._smtp.login(account.name, account.password)

    def send(self, message: EmailMessage) -> tuple[float, float]:
        """When the 250 was read: seconds since 1970, and on the monotonic clock."""
        self._smtp.sendmail(self._account.address, [parseaddr(str(message["To"]))[1]], message.as_bytes())
        return time.time(), time.perf_counter()


def _leases(account: Account, home: Path) -> list[float]:
    """Milliseconds from each 250 to the time at which the run was first claimed; 0 when that was before the client had
    read the 250. Its row says it in whole ms, cut off: the end of that one is taken, so that no figure is too small.
    """
    submission = _Submission(account)
    times = []
    for number in range(LETTERS):
        message = task(account, replace(usual_story(), subject=f"Letter {number}", text="Please list my mail."))
        accepted, _ = submission.send(message)
        times.append(max(0.0, _claimed(home, f"Letter {number}") + 1 - accepted * 1000))
    return times


# A run that has come to rest already is no longer claimed; its first call of a model came after the claim.
_CLAIMED: Final = """
SELECT coalesce(r.claimed, (SELECT min(m.created) FROM model_calls m WHERE m.run = r.id))
FROM runs r WHERE r.subject = ?
"""


def _claimed(home: Path, subject: str) -> float:
    """When the run of this subject was claimed, UTC ms. Looked up from outside until it is there."""
    connection = sqlite3.connect(f"file:{DataFolder(home).root / FILE}?mode=ro", uri=True)
    try:
        deadline = time.monotonic() + STEP_SECONDS
        while time.monotonic() < deadline:
            row = connection.execute(_CLAIMED, (subject,)).fetchone()
            if row is not None and row[0] is not None:
                return float(row[0])
            time.sleep(0.01)
    finally:
        connection.close()
    raise TimeoutError(f"the run of {subject!r} was not claimed")


async def _effects(account: Account, sink: Sink) -> list[float]:
    """Milliseconds from the 250 of each approval to the connection at the relay."""
    submission = await to_thread(_Submission, account)
    action = await to_thread(Mailbox, account, "Action")
    times = []
    for _ in range(APPROVALS):
        await to_thread(submission.send, task(account, usual_story()))
        request, _ = await to_thread(action.wait, ("UNSEEN",), step=0.25)
        await asyncio.sleep(0.5)  # what follows the request is not what is measured
        connected = sink.hold("connect")
        sending = asyncio.create_task(to_thread(submission.send, answer(account, request, "approve")))
        async with asyncio.timeout(STEP_SECONDS):
            await connected.reached.wait()
        began = time.perf_counter()
        _, accepted = await sending
        times.append(max(0.0, began - accepted) * 1000)
        connected.release()
        await sink.wait(len(times), STEP_SECONDS)
        await to_thread(_emptied, action)
    return times


def _emptied(action: Mailbox) -> None:
    deadline = time.monotonic() + STEP_SECONDS
    while action.mails():
        if time.monotonic() > deadline:
            raise TimeoutError("the request did not leave Action")
        time.sleep(0.05)
