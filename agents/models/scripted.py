"""A model that says what a test wrote down, in order; it keeps the requests it got.

The rule: it never invents. When the script is over it fails loudly, so a test that asks too often does not pass.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any

from agents.llm import ModelError, ModelReply, ModelRequest, Price, Usage, WantedCall

Line = ModelReply | ModelError | Callable[[ModelRequest], ModelReply]


class ScriptOver(AssertionError):
    """The model was asked more often than its script has lines."""


class Scripted:
    """See agents.llm.Model. A line is a reply, an error to raise, or a function of the request."""

    def __init__(
        self,
        lines: Iterable[Line],
        label: str = "scripted",
        price: Price | None = None,
        window: int = 100_000,
        endpoint: str | None = None,
    ) -> None:
        self._lines = list(lines)
        self.label = label
        self.demo = False
        self.endpoint = endpoint
        self.price = price
        self.window = window
        self.requests: list[ModelRequest] = []

    async def complete(self, request: ModelRequest) -> ModelReply:
        """The next line of the script."""
        self.requests.append(request)
        if len(self.requests) > len(self._lines):
            raise ScriptOver(f"asked {len(self.requests)} times, the script has {len(self._lines)} lines")
        line = self._lines[len(self.requests) - 1]
        if isinstance(line, ModelError):
            raise line
        return line if isinstance(line, ModelReply) else line(request)


def text(said: str, tokens: int = 10) -> ModelReply:
    """An answer in words."""
    return ModelReply(said, (), "stop", Usage(tokens, tokens), Decimal(0))


def call(name: str, args: Mapping[str, Any], provider_id: str = "call_1") -> ModelReply:
    """An answer that wants one call."""
    return calls((provider_id, name, args))


def calls(*wanted: tuple[str, str, Mapping[str, Any]]) -> ModelReply:
    """An answer that wants several calls: (id, name, arguments) each."""
    made = tuple(WantedCall(ident, name, json.dumps(dict(args))) for ident, name, args in wanted)
    return ModelReply("", made, "tool_calls", Usage(10, 10), Decimal(0))
