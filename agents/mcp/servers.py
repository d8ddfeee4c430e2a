"""All MCP servers of an installation: their owners, their tools as a source of the toolbox, their state.

The rule: `.mcp.json` says which there are, the table of pins what their tools are; a server that is down keeps its
tools in the offer (a call says that it is down), a tool that has changed does not. Without a server nothing of the SDK
is imported.
"""

import asyncio
import importlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from agents.events import RunEnded
from agents.llm import ToolSpec
from agents.mcp import file, pins
from agents.mcp.file import McpFile, ServerConfig
from agents.mcp.pins import Pin
from agents.mcp.state import Pace, State, Status
from agents.mcp.tool import McpTool
from agents.ports import Clock, Database, WriteTx
from agents.tool import Tool

if TYPE_CHECKING:
    from agents.mcp.owner import Owner

Drifted = Callable[[WriteTx, Sequence[Pin]], None]
"""Told, in the transaction that notes it, which tools read otherwise than they were pinned."""

SPARE: Final = 1024 * 1024
STOP_SECONDS: Final = 10.0


def _unheard(tx: WriteTx, changed: Sequence[Pin]) -> None:
    """Nobody is told: there is nobody to tell where no program runs around the servers."""


def line_limit(result_bytes: int) -> int:
    """The longest answer that is read at all: a result of the largest size that is kept, twice (servers send it as
    text and as structure), and its wrapping.
    """
    return 2 * result_bytes + SPARE


class Servers:
    """Make one, `load()` it, give `tools` to the toolbox, `start()` it in the loop, `stop()` it."""

    def __init__(
        self, path: Path, environ: Mapping[str, str], db: Database, clock: Clock, limit: int, pace: Pace | None = None
    ) -> None:
        self.path = path
        self.said = McpFile({}, ())
        self._environ = environ
        self._db = db
        self._clock = clock
        self._limit = limit
        self._pace = pace or Pace()
        self._pins: dict[str, tuple[Pin, ...]] = {}
        self._tools: tuple[Tool, ...] = ()
        self._owners: dict[str, Owner] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._running = False
        self.on_drift: Drifted = _unheard
        db.on(RunEnded, self._ended)

    def load(self) -> None:
        """Read the file and the pins. Starts nothing."""
        self.said = file.read(self.path, self._environ)
        self.refresh()

    def refresh(self) -> None:
        """Read the pins again, after the user has approved a tool."""
        self._pins = {}
        if self.said.servers:
            for pin in self._db.read(pins.every):
                self._pins[pin.server] = (*self._pins.get(pin.server, ()), pin)
        self._offer()

    def usable(self) -> dict[str, str]:
        """Every server of the file, with what keeps it from being used, or nothing. One that is down may come back."""
        return file.usable(self.said)

    def tools(self) -> Sequence[Tool]:
        """The tools that agents may have now: pinned, there when last looked at, and as they were."""
        return self._tools

    def pins(self) -> Mapping[str, tuple[Pin, ...]]:
        """All pinned tools by server, of servers that are in the file."""
        return {name: self._pins.get(name, ()) for name in self.said.servers}

    def owner(self, name: str) -> "Owner | None":
        """The owner of a server that is kept connected."""
        return self._owners.get(name)

    async def start(self) -> None:
        """Connect every enabled server, each in a task of its own; waits for none of them."""
        self._running = True
        for config in self.said.servers.values():
            if config.enabled and config.name not in self._tasks:
                # The import takes most of a second: not in the loop, and not at all without a server.
                sdk = await asyncio.to_thread(importlib.import_module, "agents.mcp.owner")
                owner: Owner = sdk.Owner(config, partial(self._seen, config.name), self._limit, self._pace)
                self._owners[config.name] = owner
                self._tasks[config.name] = asyncio.create_task(owner.run(), name=f"mcp {config.name}")

    async def stop(self) -> None:
        """Leave every server."""
        self._running = False
        await self._end(list(self._tasks))

    async def reload(self) -> None:
        """Read file and pins again; what is said otherwise is left and connected anew."""
        before = self.said.servers
        self.load()
        await self._end([name for name in self._tasks if before.get(name) != self.said.servers.get(name)])
        if self._running:
            await self.start()

    async def _end(self, names: Sequence[str]) -> None:
        tasks = [self._tasks.pop(name) for name in names]
        for name in names:
            if (owner := self._owners.pop(name, None)) is not None:
                owner.stop()
        for task in tasks:
            task.cancel()
        if tasks:
            _, stuck = await asyncio.wait(tasks, timeout=STOP_SECONDS)
            for task in stuck:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def status(self) -> list[Status]:
        """Every server of the file, in its order."""
        return [self._status(config) for config in self.said.servers.values()]

    def _status(self, config: ServerConfig) -> Status:
        owner = self.owner(config.name)
        if owner is not None:
            return owner.status()
        state = State.STOPPED if config.enabled else State.OFF
        return Status(config.name, config.transport, config.where, state)

    async def _seen(self, server: str, listed: Sequence[ToolSpec]) -> None:
        """A server has listed its tools."""
        known = self._pins.get(server, ())
        if [pin.current for pin in known if pin.present] != sorted(listed, key=lambda spec: spec.name):
            now = self._clock.now()
            known = tuple(await self._db.write(lambda tx: self._see(tx, server, listed, now)))
            self._pins[server] = known
            self._offer()

    def _ended(self, tx: WriteTx, event: RunEnded) -> None:
        """What is kept open at a server for a run goes with the run."""

        def release() -> None:
            for owner in self._owners.values():
                owner.release(event.run)

        tx.after(release)

    def _see(self, tx: WriteTx, server: str, listed: Sequence[ToolSpec], now: int) -> list[Pin]:
        """Compare and note, and tell of tools that read otherwise since, in the same transaction."""
        before = {pin.spec.name: pin.current for pin in pins.of_server(tx, server)}
        known = pins.see(tx, server, listed, now)
        changed = [pin for pin in known if pin.drift is not None and before.get(pin.spec.name) != pin.drift]
        if changed:
            self.on_drift(tx, changed)
        return known

    def _offer(self) -> None:
        self._tools = tuple(
            self._tool(config, pin)
            for config in self.said.servers.values()
            if config.enabled
            for pin in self._pins.get(config.name, ())
            if pin.offered
        )

    def _tool(self, config: ServerConfig, pin: Pin) -> Tool:
        return McpTool(config, pin, lambda: self.owner(config.name), lambda: self._pin(config.name, pin.spec.name))

    def _pin(self, server: str, name: str) -> Pin | None:
        return next((pin for pin in self._pins.get(server, ()) if pin.spec.name == name), None)


async def try_out(config: ServerConfig, limit: int, pace: Pace | None = None) -> dict[str, Any]:
    """Connect once, list the tools and leave: whether that works, how long it took, and what the server said."""
    sdk = await asyncio.to_thread(importlib.import_module, "agents.mcp.owner")
    found: list[str] = []

    async def seen(listed: Sequence[ToolSpec]) -> None:
        found.extend(spec.name for spec in listed)

    owner: Owner = sdk.Owner(config, seen, limit, pace or Pace())
    began = asyncio.get_running_loop().time()
    why = await owner.once()
    seconds = asyncio.get_running_loop().time() - began
    status = owner.status()
    facts = {"about": status.about, "lines": list(status.lines), "garbage": status.garbage}
    return {"works": not why, "why": why, "tools": sorted(found), "seconds": round(seconds, 2), **facts}
