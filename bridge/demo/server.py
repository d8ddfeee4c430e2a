"""A real `postroom serve` as a process of its own, to be started, killed and started again.

The rule: it is driven from outside only: by its command line, its settings file, its ports and signals.
"""

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bridge.control.client import call
from config.load import child_environment
from config.paths import DataFolder, write_private

READY_SECONDS: Final = 60.0
STOP_SECONDS: Final = 15.0
LOOK_SECONDS: Final = 0.02
LAST_LINES: Final = 15


class ServerFailed(Exception):
    """The server did not come up, or a command failed; the text holds its last lines."""


@dataclass(frozen=True, slots=True)
class Ports:
    """Where the server listens, and the authority to trust."""

    imap: int
    imaps: int
    smtp: int
    smtps: int
    web: int
    ca: str

    def as_dict(self) -> dict[str, int | str]:
        """As the ready file has it."""
        return {name: getattr(self, name) for name in ("imap", "imaps", "smtp", "smtps", "web", "ca")}


class Server:
    """One data folder below `root` and the process that serves it."""

    def __init__(self, root: Path) -> None:
        self.folder = DataFolder(root / "data")
        self.log = root / "server.log"
        self._ready = root / "ready.json"
        self._process: Process | None = None
        self.ports: Ports | None = None

    async def set_up(self, user: str, password: str, settings: str) -> None:
        """Make the data folder with an account and a settings file, by `postroom init`."""
        self.folder.root.mkdir(mode=0o700)
        write_private(self.folder.config_file, settings.encode())
        program = [*_program(), "init", "--home", str(self.folder.root), "--user", user, "--password-file", "-"]
        process = await asyncio.create_subprocess_exec(
            *program, stdin=PIPE, stdout=DEVNULL, stderr=PIPE, env=_environment()
        )
        _, errors = await process.communicate(f"{password}\n".encode())
        if process.returncode:
            raise ServerFailed(errors.decode(errors="replace"))

    async def start(self) -> Ports:
        """Start it and wait until it listens: on free ports the first time, on the same ones later."""
        known = self.ports.as_dict() if self.ports else {}
        options = [f"--{name}-port={known.get(name, 0)}" for name in ("imap", "imaps", "smtp", "smtps", "web")]
        self._ready.unlink(missing_ok=True)
        with self.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *_program(), "serve", "--home", str(self.folder.root), "--ready-file", str(self._ready), *options,
                stdin=DEVNULL, stdout=log, stderr=log, env=_environment(),
            )  # packed, to be seen at a glance  # fmt: skip
        self.ports = Ports(**await self._wait_until_ready(self._process))
        return self.ports

    async def _wait_until_ready(self, process: Process) -> Mapping[str, Any]:
        with suppress(TimeoutError):
            async with asyncio.timeout(READY_SECONDS):
                while process.returncode is None:
                    with suppress(FileNotFoundError):
                        told: dict[str, Any] = json.loads(self._ready.read_bytes())
                        return told
                    await asyncio.sleep(LOOK_SECONDS)
        raise ServerFailed(f"the server did not start:\n{self.last_lines()}")

    async def kill(self) -> None:
        """SIGKILL: it gets no chance to finish anything."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()

    async def stop(self) -> int | None:
        """SIGTERM and wait; the exit code, or None when it had to be killed."""
        process = self._process
        if process is None or process.returncode is not None:
            return None
        process.terminate()
        try:
            async with asyncio.timeout(STOP_SECONDS):
                return await process.wait()
        except TimeoutError:
            await self.kill()
            return None

    async def ask(self, command: str) -> dict[str, Any]:
        """A command of `postroom`, through the control socket as the command line does it."""
        return await asyncio.to_thread(call, self.folder.control_socket, command, {})

    def last_lines(self) -> str:
        """The end of the server's log."""
        if not self.log.exists():
            return ""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-LAST_LINES:])


def _program() -> list[str]:
    return [sys.executable, "-m", "bridge.cli"]


def _environment() -> dict[str, str]:
    """Ours, without settings that somebody made for their own Postroom."""
    return {name: value for name, value in child_environment().items() if not name.startswith("POSTROOM_")}
