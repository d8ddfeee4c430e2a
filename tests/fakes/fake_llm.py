"""A local server that speaks the OpenAI chat protocol and misbehaves on request: the model's name is the behaviour, or
`always` is, for whatever a request names and in whatever protocol it comes.

It answers whole or as a stream of events, as the request asks, and keeps every request, so that a test can count them.
`closed` is set when a client goes away before it was answered in full.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

USAGE: Json = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


def call(number: int, name: str, arguments: str) -> Json:
    return {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}


@dataclass(frozen=True, slots=True)
class Turn:
    """A successful answer. `cut_after` and `hang_after` count the parts of a stream."""

    text: str | None = "hello"
    calls: Sequence[Json] = ()
    finish: str = "stop"
    usage: bool = True
    choices: bool = True
    cut_after: int | None = None
    hang_after: int | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer with an error status."""

    status: str
    body: Json
    header: str = ""


TWO = (call(1, "add", '{"a": 1, "b": 2}'), call(2, "wipe", '{"path": "/"}'))
TWINS = (call(1, "add", '{"a": 1}'), call(1, "add", '{"a": 2}'))

TURNS: Mapping[str, Turn] = {
    "text": Turn(),
    "tools": Turn(None, TWO, "tool_calls"),
    "badjson": Turn(None, (call(1, "add", '{"a":1,'),), "tool_calls"),
    "twins": Turn(None, TWINS, "tool_calls"),
    "noid": Turn(None, ({**call(1, "add", "{}"), "id": None},), "tool_calls"),
    "empty": Turn(""),
    "null": Turn(None),
    "nochoices": Turn(choices=False),
    "nousage": Turn(usage=False),
    "length": Turn("cut short", finish="length"),
    "oddfinish": Turn(finish="eos_token_odd"),
    "cutstream": Turn("one two three four five", cut_after=3),
    "hangstream": Turn("one two three four five", hang_after=3),
}

REFUSALS: Mapping[str, Refusal] = {
    "429": Refusal(
        "429 Too Many Requests",
        {"error": {"message": "slow down", "code": "rate_limit_exceeded"}},
        "retry-after: 2\r\n",
    ),
    "429date": Refusal(
        "429 Too Many Requests", {"error": {"message": "slow down"}}, "retry-after: Wed, 21 Oct 2065 07:28:00 GMT\r\n"
    ),
    "quota": Refusal(
        "429 Too Many Requests",
        {
            "error": {
                "message": "You exceeded your current quota",
                "type": "insufficient_quota",
                "code": "insufficient_quota",
            }
        },
    ),
    "500": Refusal("500 Internal Server Error", {"error": {"message": "boom"}}),
    "503": Refusal("503 Service Unavailable", {"error": {"message": "overloaded"}}),
    "529": Refusal("529 Overloaded", {"error": {"message": "overloaded"}}),
    "401": Refusal(
        "401 Unauthorized", {"error": {"message": "Incorrect API key provided: KEY", "code": "invalid_api_key"}}
    ),
    "403": Refusal("403 Forbidden", {"error": {"message": "no"}}),
    "404": Refusal("404 Not Found", {"error": {"message": "model not found", "code": "model_not_found"}}),
    "400": Refusal("400 Bad Request", {"error": {"message": "bad param foo"}}),
    "overflow-openai": Refusal(
        "400 Bad Request",
        {
            "error": {
                "message": "This model's maximum context length is 8192 tokens. However, your messages resulted "
                "in 10000 tokens.",
                "type": "invalid_request_error",
                "code": "context_length_exceeded",
            }
        },
    ),
    "overflow-vllm": Refusal(
        "400 Bad Request",
        {
            "object": "error",
            "message": "The input (10000 tokens) is longer than the model's context length (8192 tokens).",
            "type": "BadRequestError",
            "code": 400,
        },
    ),
    "overflow-llamacpp": Refusal(
        "400 Bad Request",
        {
            "error": {
                "code": 400,
                "message": "the request exceeds the available context size. try increasing the context size or "
                "enable context shift",
                "type": "exceed_context_size_error",
                "n_prompt_tokens": 10000,
                "n_ctx": 8192,
            }
        },
    ),
}


@dataclass(frozen=True, slots=True)
class Recorded:
    """One request as it came in."""

    path: str
    headers: Mapping[str, str]
    body: Json


@dataclass(slots=True)
class FakeLLM:
    """The running server. `turns` adds behaviours by name."""

    port: int = 0
    always: str = ""
    requests: list[Recorded] = field(default_factory=list)
    turns: dict[str, Turn] = field(default_factory=lambda: dict(TURNS))
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    writers: list[asyncio.StreamWriter] = field(default_factory=list)

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writers.append(writer)
        try:
            while True:
                await self._one(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError, _Cut):
            self.closed.set()
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await _read(reader)
        self.requests.append(request)
        self.arrived.set()
        mode = self.always or str(request.body.get("model", ""))
        if mode == "hang":
            await reader.read(1)
            raise _Cut
        if mode == "html":
            await _send(writer, "200 OK", b"<html>log in first</html>")
        elif mode == "cut":
            writer.write(b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"id":')
            await writer.drain()
            raise _Cut
        elif mode in REFUSALS:
            await self._refuse(writer, REFUSALS[mode], request)
        elif request.body.get("stream"):
            await self._stream(reader, writer, mode, request)
        else:
            await _send(writer, "200 OK", json.dumps(_whole(self.turns[mode], mode)).encode())

    async def _refuse(self, writer: asyncio.StreamWriter, refusal: Refusal, request: Recorded) -> None:
        key = request.headers.get("authorization", "").removeprefix("Bearer ")
        await _send(writer, refusal.status, json.dumps(refusal.body).replace("KEY", key).encode(), refusal.header)

    async def _stream(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, mode: str, request: Recorded
    ) -> None:
        turn = self.turns[mode]
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
        for number, event in enumerate(_events(turn, mode, bool(request.body.get("stream_options")))):
            if number == turn.hang_after:
                await writer.drain()
                await reader.read(1)
                raise _Cut
            if number == turn.cut_after:
                raise _Cut
            writer.write(b"data: " + json.dumps(event).encode() + b"\n\n")
            await writer.drain()
        writer.write(b"data: [DONE]\n\n")
        await writer.drain()
        raise _Cut


class _Cut(Exception):
    """The connection is to be closed now."""


async def _read(reader: asyncio.StreamReader) -> Recorded:
    lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    pairs = (line.split(": ", 1) for line in lines[1:] if ": " in line)
    headers = {key.lower(): value for key, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Recorded(lines[0].split(" ")[1], headers, json.loads(body) if body else {})


async def _send(writer: asyncio.StreamWriter, status: str, body: bytes, header: str = "") -> None:
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n{header}\r\n"
    writer.write(head.encode() + body)
    await writer.drain()


def _whole(turn: Turn, mode: str) -> Json:
    message: Json = {"role": "assistant", "content": turn.text}
    if turn.calls:
        message["tool_calls"] = list(turn.calls)
    choice = {"index": 0, "finish_reason": turn.finish, "message": message}
    answer: Json = {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": mode,
        "choices": [choice] if turn.choices else [],
    }
    return {**answer, "usage": USAGE} if turn.usage else answer


def _events(turn: Turn, mode: str, with_usage: bool) -> list[Json]:
    def event(delta: Json, finish: str | None = None) -> Json:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {"id": "s1", "object": "chat.completion.chunk", "created": 1, "model": mode, "choices": [choice]}

    events = [event({"role": "assistant", "content": None if turn.calls else ""})]
    events += [event({"content": f"{word} "}) for word in (turn.text or "").split()]
    for index, wanted in enumerate(turn.calls):
        function = wanted["function"]
        events.append(
            event({"tool_calls": [{**wanted, "index": index, "function": {"name": function["name"], "arguments": ""}}]})
        )
        half = len(function["arguments"]) // 2
        for part in (function["arguments"][:half], function["arguments"][half:]):
            events.append(event({"tool_calls": [{"index": index, "function": {"arguments": part}}]}))
    events.append(event({}, turn.finish))
    if not turn.choices:
        events = [{**one, "choices": []} for one in events]
    if turn.usage and with_usage:
        events.append({**event({}), "choices": [], "usage": USAGE})
    return events


@asynccontextmanager
async def fake_llm() -> AsyncIterator[FakeLLM]:
    """A server on a free port of the loopback."""
    fake = FakeLLM()
    server = await asyncio.start_server(fake.handle, "127.0.0.1", 0)
    fake.port = server.sockets[0].getsockname()[1]
    try:
        yield fake
    finally:
        server.close()
        for writer in fake.writers:
            writer.close()
        await server.wait_closed()
