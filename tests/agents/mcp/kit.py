"""Real MCP servers for the tests: the fake server as a child process or behind a port, and an owner that keeps it.

A wait is bounded and looks after what it waits for has been told of.
"""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from agents.llm import ToolSpec
from agents.mcp.asking import Wanted
from agents.mcp.file import ServerConfig
from agents.mcp.outcome import Answer
from agents.mcp.owner import Owner
from agents.mcp.state import Pace

ROOT = Path(__file__).resolve().parents[3]
BOUND = 30.0
LIMIT = 4 * 1024 * 1024
LOOKS = 200
QUICK = Pace(start=20.0, leave=5.0, check=3.0, first=0.05, most=0.2)


def stdio(log: Path, *more: str, env: dict[str, str] | None = None, name: str = "tiny") -> ServerConfig:
    """The fake server as a program."""
    args = ("-m", "tests.fakes.mcp_server", "--log", str(log), *more)
    return ServerConfig(name, sys.executable, args, env or {}, str(ROOT))


def small(log: Path, *more: str, name: str = "small") -> ServerConfig:
    """The small server that asks within its calls."""
    return ServerConfig(name, sys.executable, ("-m", "tests.fakes.small_mcp", str(log), *more), {}, str(ROOT))


def lines(log: Path) -> list[str]:
    """The effects that servers had, but their starts."""
    return [line for line in _all(log) if not line.startswith("start ")]


def pids(log: Path) -> list[int]:
    """The processes that were started, in order."""
    return [int(line.split()[1]) for line in _all(log) if line.startswith("start ")]


def _all(log: Path) -> list[str]:
    return log.read_text().splitlines() if log.exists() else []


def is_alive(pid: int) -> bool:
    """Whether a process goes on; one that is ending is given a moment to end. Dead and not yet buried is not alive."""
    for _ in range(LOOKS):
        told = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
        if not told.stdout.strip() or told.stdout.strip().startswith("Z"):
            return False
    return True


class Listings:
    """What a server has listed, each time."""

    def __init__(self) -> None:
        self.all: list[dict[str, ToolSpec]] = []
        self.changed = asyncio.Event()

    async def __call__(self, listed: Sequence[ToolSpec]) -> None:
        self.all.append({spec.name: spec for spec in listed})
        self.changed.set()

    async def until(self, true: Callable[[dict[str, ToolSpec]], bool]) -> dict[str, ToolSpec]:
        """The first listing of which something is so."""
        async with asyncio.timeout(BOUND):
            while True:
                self.changed.clear()
                if found := [listing for listing in self.all if true(listing)]:
                    return found[0]
                await self.changed.wait()


class Owned:
    """An owner whose task runs."""

    def __init__(self, config: ServerConfig, limit: int = LIMIT, pace: Pace = QUICK) -> None:
        self.listings = Listings()
        self.owner = Owner(config, self.listings, limit, pace)
        self.task = asyncio.create_task(self.owner.run())

    async def call(self, tool: str, *, fresh: bool = False, **args: Any) -> Answer:
        async with asyncio.timeout(BOUND):
            answer = await self.owner.call(tool, args, "key-1", fresh, lambda: None)
        assert isinstance(answer, Answer), answer
        return answer

    async def wanted(self, tool: str, **args: Any) -> Wanted:
        """What the server asks the user before the call goes on."""
        async with asyncio.timeout(BOUND):
            wanted = await self.owner.call(tool, args, "key-1", False, lambda: None)
        assert isinstance(wanted, Wanted), wanted
        return wanted

    async def ends(self) -> None:
        """Its task has come to its end."""
        done, _ = await asyncio.wait({self.task}, timeout=BOUND)
        assert done, "the owner did not stop"

    async def text(self, tool: str, **args: Any) -> str:
        """The text of a call's answer."""
        answer = await self.call(tool, **args)
        return "".join(getattr(part, "text", "") for part in answer.result.content)


@asynccontextmanager
async def owned(config: ServerConfig, limit: int = LIMIT, pace: Pace = QUICK) -> AsyncIterator[Owned]:
    made = Owned(config, limit, pace)
    try:
        yield made
    finally:
        made.owner.stop()
        made.task.cancel()
        await made.ends()


class Service:
    """The fake server behind a port, which it keeps when it is started again."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self.port = 0
        self.process: asyncio.subprocess.Process | None = None

    @property
    def config(self) -> ServerConfig:
        return ServerConfig("tiny", url=f"http://127.0.0.1:{self.port}/mcp")

    async def start(self, *more: str) -> None:
        """Start it, and wait until it says that it listens."""
        args = ("-m", "tests.fakes.mcp_server", "--log", str(self.log), "--port", str(self.port), *more)
        self.process = await asyncio.create_subprocess_exec(
            sys.executable, *args, cwd=ROOT, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
        )
        assert self.process.stderr is not None
        async with asyncio.timeout(BOUND):
            async for line in self.process.stderr:
                if b"running on http://127.0.0.1:" in line:
                    self.port = int(line.split(b"http://127.0.0.1:")[1].split()[0])
                    break
            else:
                raise AssertionError("the service ended before it listened")
        self._drain = asyncio.create_task(self.process.stderr.read())

    async def kill(self) -> None:
        if self.process is not None:
            if self.process.returncode is None:
                self.process.kill()
            await self._drain
            await self.process.wait()
            self.process = None


@asynccontextmanager
async def service(log: Path, *more: str) -> AsyncIterator[Service]:
    made = Service(log)
    await made.start(*more)
    try:
        yield made
    finally:
        await made.kill()
