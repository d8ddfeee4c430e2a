"""Agents: what waiting runs weigh, whether queued ones are served fairly, and what a step costs over the bare call.

    python -m bench.agents

The rule: the runtime is the product's own on a real database; the model's server is a local one that answers at once,
so that what is measured is ours.
"""

import asyncio
import contextlib
import json
import sqlite3
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from agents.events import RunEnded
from agents.letter import Letter
from agents.llm import (
    AssistantMessage,
    Model,
    ModelReply,
    ModelRequest,
    Price,
    ToolSpec,
    Usage,
    UserMessage,
    WantedCall,
)
from agents.models.litellm_provider import LiteLlmModel, close
from agents.ports import Dispatch, Phases
from agents.runtime import Runtime
from agents.tool import BaseTool, ToolCall, ToolContext, ToolResult
from agents.toolbox import Toolbox
from bench.figure import Figure
from config import settings as config
from config.load import prepare_library_environment
from mailstore.sqlite import Database, Series, WriteTx

WAITING: Final = 10_000
QUEUED: Final = 1_000
STEPS: Final = 60
LOOK: Final = ToolSpec("look", "Look.", {"type": "object", "properties": {"what": {"type": "string"}}})
CALLS: Final = 10
PLAIN: Final = ModelRequest("Be brief.", (UserMessage("do it"),), (), 100, "demo")
AGENTS: Final = ("ann", "ben", "cay", "dan")
FILE: Final = "bench.sqlite3"
FREE: Final = Price(Decimal(0), Decimal(0))


class Wall:
    """The time of this machine."""

    def now(self) -> int:
        return time.time_ns() // 1_000_000

    def steady(self) -> int:
        return time.monotonic_ns() // 1_000_000


class Silent:
    """Neither a relay nor a mailbox: nothing here sends or reads mail."""

    configured = False
    name = ""
    sender = ""

    async def deliver(self, dispatch: Dispatch, phases: Phases) -> str:
        raise OSError("there is no relay here")


class Answering:
    """A model that answers at once and notes who is served, and how many at a time."""

    label, demo, endpoint, price, window = "bench", False, None, FREE, 100_000

    def __init__(self) -> None:
        self.order: list[str] = []
        self.busy = self.most = 0

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.order.append(request.system.partition(",")[0].removeprefix("You are "))
        self.busy += 1
        self.most = max(self.most, self.busy)
        await asyncio.sleep(0)
        self.busy -= 1
        return ModelReply("Done.", (), "stop", Usage(10, 2))


class Timed:
    """A model that says how long its calls took, and what was asked."""

    label, demo, endpoint, price, window = "timed", False, None, FREE, 100_000

    def __init__(self, inner: Model) -> None:
        self._inner = inner
        self.seconds = 0.0
        self.requests: list[ModelRequest] = []

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.requests.append(request)
        began = time.perf_counter()
        try:
            return await self._inner.complete(request)
        finally:
            self.seconds += time.perf_counter() - began


class Stepping(Answering):
    """Wants one call in each of its first `steps` answers."""

    def __init__(self, steps: int) -> None:
        super().__init__()
        self._steps = steps

    async def complete(self, request: ModelRequest) -> ModelReply:
        said = sum(isinstance(message, AssistantMessage) for message in request.messages)
        if said >= self._steps:
            return await super().complete(request)
        wanted = WantedCall("call_1", LOOK.name, json.dumps({"what": str(said)}))
        return ModelReply("", (wanted,), "tool_calls", Usage(10, 2))


class Look(BaseTool):
    """A tool that does nothing, so that only the step is measured."""

    async def run(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        return ToolResult("seen")


class House:
    """A runtime on a database of its own."""

    def __init__(self, home: Path, model: Model) -> None:
        made = {name: config.Agent(name, display=name.capitalize()) for name in AGENTS}
        self.settings = replace(config.Settings(home), agents=made)
        self.model = model
        self.home = home

    async def open(self) -> "House":
        self.db = await Database.open(self.home / FILE, [Series("agents", resources.files("agents") / "sql")])
        self.ended = asyncio.Event()
        self.db.on(RunEnded, self._tell)
        nothing: Any = Silent()
        self.runtime = Runtime(
            self.db,
            self.settings,
            models={"demo": self.model},
            tools=Toolbox.of(Look(LOOK)),
            skills={},
            relay=nothing,
            mail=nothing,
            clock=Wall(),
        )
        return self

    async def close(self) -> None:
        await self.runtime.stop(grace=1.0)
        await self.db.close()

    async def send(self, numbers: Sequence[int]) -> None:
        """One letter each, in one transaction: the first agent's whole share before the next one's."""
        share = max(1, len(numbers) // len(AGENTS))
        letters = [
            _letter(number, AGENTS[min(place // share, len(AGENTS) - 1)]) for place, number in enumerate(numbers)
        ]
        await self.db.write(lambda tx: [self.runtime.receive(tx, letter) for letter in letters])

    async def work(self, number: int) -> None:
        """One run, from its letter to its last mail."""
        await self.send([number])
        await self.until(lambda tx: self.runtime.run_counts(tx, 1).get("done", 0) > number)

    async def until(self, sql: Callable[[Any], bool]) -> None:
        """Wait until something is so, looked at when a run has ended: asking all the time would be what is measured."""
        while not self.db.read(sql):
            self.ended.clear()
            await self.ended.wait()

    def _tell(self, tx: WriteTx, event: RunEnded) -> None:
        tx.after(self.ended.set)


def _letter(number: int, agent: str) -> Letter:
    return Letter(
        key=f"letter-{number}",
        account=1,
        thread=f"thread-{number}",
        agent=agent,
        model=None,
        subject="A task",
        text="do it",
        quoted="",
        sender="you@postroom.internal",
        at=0,
        message=f"ref-{number}",
        message_id=f"<{number}@bench>",
    )


async def _seconds(work: Awaitable[object]) -> float:
    began = time.perf_counter()
    await work
    return time.perf_counter() - began


def resident() -> float:
    """This process's own memory in MB, without pages of the database that the system maps in and may take back."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) / 1024
    return 0.0


async def waiting(folder: Path, count: int = WAITING) -> list[Figure]:
    """Runs that wait for their user are rows: how many tasks and how much memory they are at a fresh start."""
    house = await House(folder, Answering()).open()
    await house.send(range(count))
    await house.close()
    with contextlib.closing(sqlite3.connect(folder / FILE)) as file:
        file.execute("UPDATE runs SET state = 'waiting_user', activity_at = updated")
        file.commit()
    house = await House(folder, Answering()).open()
    before, tasks = resident(), len(asyncio.all_tasks())
    await house.runtime.start()
    await house.runtime.tick()
    after, more = resident(), len(asyncio.all_tasks()) - tasks
    await house.close()
    return [
        Figure(f"{count:,} waiting runs: tasks of the runtime", more, 2, ""),
        Figure(f"{count:,} waiting runs: memory", max(0.0, after - before), 5, "MB"),
    ]


async def queued(folder: Path, count: int = QUEUED) -> list[Figure]:
    """Runs that came all at once, an agent's whole share before the next one's: who is served, how many at once."""
    model = Answering()
    house = await House(folder, model).open()
    await house.send(range(count))
    began = time.perf_counter()
    await house.runtime.start()
    await house.until(lambda tx: sum(house.runtime.run_counts(tx, 1).get(one, 0) for one in ("queued", "running")) == 0)
    seconds = time.perf_counter() - began
    await house.close()
    half = Counter(model.order[: count // 2])
    return [
        Figure(f"{count:,} queued runs: at once", model.most, 4, ""),
        Figure(
            "of four agents, the busiest one's share in the first half",
            max(half.values()) / (count // 2) * 100,
            50,
            "%",
        ),
        Figure(f"{count:,} queued runs: time each", seconds / count * 1000, 50, "ms"),
    ]


async def step(folder: Path, steps: int = 25, runs: int = 8) -> list[Figure]:
    """What one more step of a run takes besides its call: an answer taken, its tool run, the next one asked."""
    took: dict[int, float] = {}
    for number in (0, steps):
        home = folder / str(number)
        home.mkdir()
        house = await House(home, Stepping(number)).open()
        await house.runtime.start()
        times = [await _seconds(house.work(each)) for each in range(runs)]
        took[number] = statistics.median(times)
        await house.close()
    return [
        Figure("a step with a tool, over its model call", (took[steps] - took[0]) / steps * 1000, 10, "ms"),
        Figure("a run of one step, with its letter, last mail and Activity", took[0] * 1000, 20, "ms"),
    ]


@contextlib.asynccontextmanager
async def _served(calls: int) -> AsyncIterator[LiteLlmModel]:
    """A model of a local server, through LiteLLM and over HTTP, after a few calls. It wants so many calls of a run."""
    prepare_library_environment()
    server = await asyncio.start_server(partial(_answer, calls), "127.0.0.1", 0)
    base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    named = config.Model("demo", model="openai/text", api_base=base, price_in=0, price_out=0)
    model = LiteLlmModel(named, config.Limits())
    for _ in range(3):
        await model.complete(PLAIN)
    yield model
    await close()
    server.close()


async def overhead(folder: Path, steps: int = STEPS) -> list[Figure]:
    """A run of one step over the bare LiteLLM call to the same local server, medians."""
    async with _served(0) as model:
        timed = Timed(model)
        house = await House(folder, timed).open()
        await house.runtime.start()
        bare, whole = [], []
        for number in range(steps):
            bare.append(await _seconds(model.complete(PLAIN)))
            timed.seconds = 0.0
            whole.append(await _seconds(house.work(number)) - timed.seconds)
        await house.close()
    return [
        Figure("the bare LiteLLM call", statistics.median(bare) * 1000, 1000, "ms"),
        Figure("a whole run of one step through LiteLLM, over its call", statistics.median(whole) * 1000, 20, "ms"),
    ]


async def through(folder: Path, runs: int = 9) -> list[Figure]:
    """What one more step takes through LiteLLM over HTTP, over its calls made bare: in time, and in processor time of
    this process (the server's among it, in both).
    """
    took = {calls: await _over_bare(folder / str(calls), calls, runs) for calls in (0, CALLS)}
    seconds, cpu = ((more - less) / CALLS * 1000 for less, more in zip(took[0], took[CALLS], strict=True))
    return [
        Figure("a step with a tool through LiteLLM over HTTP, over the bare call", seconds, 10, "ms"),
        Figure("the same in processor time", cpu, 10, "ms"),
    ]


async def _over_bare(home: Path, calls: int, runs: int) -> tuple[float, float]:
    """A run over the same requests made bare, one after the other: seconds and processor seconds, medians."""
    await asyncio.to_thread(home.mkdir)
    async with _served(calls) as model:
        timed = Timed(model)
        house = await House(home, timed).open()
        await house.runtime.start()
        spent: list[tuple[float, float]] = []
        for number in range(runs):
            timed.requests.clear()
            whole = await _costs(house.work(number))
            bare = await _costs(_replayed(model, list(timed.requests)))
            spent.append((whole[0] - bare[0], whole[1] - bare[1]))
        await house.close()
    return statistics.median(one for one, _ in spent), statistics.median(one for _, one in spent)


async def _replayed(model: Model, requests: Sequence[ModelRequest]) -> None:
    for request in requests:
        await model.complete(request)


async def _costs(work: Awaitable[object]) -> tuple[float, float]:
    """Seconds, and seconds of processor time."""
    began = time.perf_counter(), time.process_time()
    await work
    return time.perf_counter() - began[0], time.process_time() - began[1]


async def _answer(calls: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A chat server in a few lines: it wants a tool until it has had it `calls` times."""
    while head := await _head(reader):
        size = next(
            (int(line.split(b":")[1]) for line in head.splitlines() if line.lower().startswith(b"content-length")), 0
        )
        asked = json.loads(await reader.readexactly(size))
        said = sum(message["role"] == "tool" for message in asked["messages"])
        body = _stream(said if asked.get("tools") and said < calls else None).encode()
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n")
        writer.write(b"content-length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()
    writer.close()


def _stream(call: int | None) -> str:
    """One answer: a call with this number, or words."""
    function = {"name": LOOK.name, "arguments": json.dumps({"what": str(call)})}
    wanted = {"role": "assistant", "tool_calls": [{"index": 0, "id": "c", "type": "function", "function": function}]}
    said = {"role": "assistant", "content": "Done."} if call is None else wanted
    delta = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "text"}
    parts = [
        {**delta, "choices": [{"index": 0, "delta": said, "finish_reason": None}]},
        {**delta, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop" if call is None else "tool_calls"}]},
        {**delta, "choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 1, "total_tokens": 6}},
    ]
    return "".join(f"data: {json.dumps(part)}\n\n" for part in parts) + "data: [DONE]\n\n"


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""


async def measure() -> list[Figure]:
    """Every figure."""
    figures: list[Figure] = []
    for part in (waiting, queued, step, overhead, through):
        with tempfile.TemporaryDirectory(prefix="postroom-bench-") as name:
            figures += await part(Path(name))
    return figures


def main() -> int:
    """Exit code 1 when a goal is missed."""
    figures = asyncio.run(measure())
    table = Table("what", "measured", "goal", box=None)
    for one in figures:
        table.add_row(one.name, f"{one.value:.1f} {one.unit}", f"{one.goal:g} {one.unit}")
    Console(highlight=False).print(table)
    return 0 if all(one.met for one in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
