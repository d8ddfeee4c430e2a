"""A data folder and the server processes that live on it one after the other, each to be killed or stopped.

The rule: from outside only. A server is the ordinary command line on free ports; that it is ready and that it is dead
are read from the pipe of its log, never guessed after a time.
"""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from argon2 import PasswordHasher

from bridge import passwords
from bridge.app import App, handover_folders
from bridge.net.tls import ensure_certificates
from bridge.sink import Sink
from config.load import load
from config.paths import DataFolder, open_folder
from mailstore import accounts
from mailstore.sqlite import WriteTx

T = TypeVar("T")

ROOT: Final = Path(__file__).parents[2]
BOUND: Final = 60.0
USER: Final = "ada"
ADDRESS: Final = "ada@postroom.internal"
PASSWORD: Final = "sesame open 1"
PORTS: Final = ("imap", "imaps", "smtp", "smtps", "web")
SETTINGS: Final = """
user = "{user}"
require_tls = false

[listen]
hosts = ["127.0.0.1"]

[relay]
host = "127.0.0.1"
port = {relay}
tls = "none"
from = "ada@harbour.example"

[limits]
runs_per_agent = 4
mails_per_hour = 10000
open_approvals = 1000
"""


class Life:
    """One server process. `log` is what it wrote, `status` its exit status (negative: the signal) once it is dead."""

    def __init__(self, pid: int, pipe: int, ready_file: Path) -> None:
        self.pid = pid
        self.log: list[str] = []
        self.status: int | None = None
        self._ready_file = ready_file
        self._changed = threading.Condition()
        self._ready = False
        self._over = False
        threading.Thread(target=self._listen, args=(pipe,), daemon=True).start()

    def _listen(self, pipe: int) -> None:
        with os.fdopen(pipe, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                with self._changed:
                    self.log.append(line.rstrip("\n"))
                    self._ready = self._ready or '"ready"' in line
                    if line.startswith("exit "):
                        self.status = int(line.split()[1])
                    self._changed.notify_all()
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def ready(self) -> bool:
        """Wait until it listens; False when it died before."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._ready or self._over, BOUND), self.text()
            return self._ready and not self._over

    def ended(self, seconds: float = BOUND) -> bool:
        """Wait until it is dead; whether it is."""
        with self._changed:
            return self._changed.wait_for(lambda: self._over, seconds)

    @property
    def ports(self) -> dict[str, int]:
        """Where it listens."""
        told = json.loads(self._ready_file.read_bytes())
        return {name: int(told[name]) for name in PORTS}

    def signal(self, number: signal.Signals) -> None:
        """Send a signal, unless it is dead already."""
        with self._changed:
            if self.status is None and not self._over:
                os.kill(self.pid, number)

    def kill(self) -> None:
        """SIGKILL, and wait for the end."""
        self.signal(signal.SIGKILL)
        assert self.ended(), "a killed process does not end"

    def stop(self) -> int:
        """SIGTERM; the exit status."""
        self.signal(signal.SIGTERM)
        if not self.ended():
            self.kill()
            raise AssertionError(f"it did not stop:\n{self.text()}")
        assert self.status is not None, self.text()
        return self.status

    def text(self) -> str:
        """The end of the log."""
        return "\n".join(self.log[-30:])


class Nursery:
    """Starts servers by forking a warm process."""

    def __init__(self) -> None:
        self._sock, theirs = socket.socketpair()
        self._lock = threading.Lock()
        command = [sys.executable, "-m", "tests.crash.nursery", str(theirs.fileno())]
        self._process = subprocess.Popen(command, cwd=ROOT, env=environment(), pass_fds=[theirs.fileno()])
        theirs.close()
        self._answers = self._sock.makefile("rb")
        assert self._answers.readline() == b"\n", "the nursery did not start"

    def start(self, home: Path, ready_file: Path, fault: str = "", **more: str) -> Life:
        """Fork a server on a data folder, perhaps with a planted fault; `more` are environment variables."""
        reader, writer = os.pipe()
        order = {"arguments": arguments(home, ready_file), "environment": more, "fault": fault}
        ready_file.unlink(missing_ok=True)
        try:
            with self._lock:
                socket.send_fds(self._sock, [json.dumps(order).encode()], [writer])
                pid = int(self._answers.readline())
        finally:
            os.close(writer)
        return Life(pid, reader, ready_file)

    def close(self) -> None:
        """No more servers."""
        self._answers.close()
        self._sock.close()
        self._process.wait(BOUND)


def launch(command: list[str], ready_file: Path, **more: str) -> Life:
    """Start a server as a program of its own; `command` ends where the arguments of `postroom serve` begin."""
    reader, writer = os.pipe()
    ready_file.unlink(missing_ok=True)
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment() | more, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=writer
    )

    def bury() -> None:
        status = process.wait()
        with os.fdopen(writer, "w") as pipe:
            pipe.write(f"exit {status}\n")

    threading.Thread(target=bury, daemon=True).start()
    return Life(process.pid, reader, ready_file)


def arguments(home: Path, ready_file: Path) -> list[str]:
    """The arguments of `postroom` that serve a folder on free ports."""
    ports = [argument for port in PORTS for argument in (f"--{port}-port", "0")]
    return ["serve", "--home", str(home), "--ready-file", str(ready_file), *ports]


def program() -> list[str]:
    """The command line as a program."""
    return [sys.executable, "-m", "bridge.cli"]


def environment() -> dict[str, str]:
    """Ours, without settings that somebody made for their own Postroom."""
    return {name: value for name, value in os.environ.items() if not name.startswith("POSTROOM_")}


class Outside:
    """The outside world: a thread with a loop, in which sinks take what is relayed."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine there."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(BOUND)

    def call(self, fn: Callable[[], None]) -> None:
        """Call something there."""
        self._loop.call_soon_threadsafe(fn)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@dataclass(frozen=True)
class House:
    """A data folder with one account, and a sink as its relay."""

    folder: Path
    nursery: Nursery
    outside: Outside
    sink: Sink

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def live(self, fault: str = "", **more: str) -> Life:
        """Start a server on it."""
        return self.nursery.start(self.home, self.folder / "ready.json", fault, **more)

    def close(self) -> None:
        self.outside.do(self.sink.close())


def build(home: Path, settings: str) -> None:
    """Make a data folder with one account whose password costs next to nothing to check."""
    home.mkdir(mode=0o700, parents=True)
    folder = DataFolder(home)
    folder.config_file.write_text(settings)
    folder.config_file.chmod(0o600)
    settings_ = load(home=home, environ={})
    hashed = passwords.prepare_given(PASSWORD, PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))

    def people(tx: WriteTx) -> None:
        account = accounts.create(tx, USER, ADDRESS, tuple(handover_folders(settings_)))
        passwords.add(tx, account.id, "laptop", hashed, tx.now)

    async def make() -> None:
        app = await App.open(settings_, open_folder(home))
        await app.store.write(people)
        await app.close()

    asyncio.run(make())
    ensure_certificates(home, settings_.listen.hosts)


def settings(relay: int, more: Mapping[str, str] | None = None) -> str:
    """The settings file of a house."""
    return SETTINGS.format(user=USER, relay=relay) + "\n".join(
        f"{name} = {value}" for name, value in (more or {}).items()
    )
