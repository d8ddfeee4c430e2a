"""A model that says what a test wrote down, by agent, and says the same after a restart.

The rule: what it says depends on the request alone (how many answers the history has), so a restart changes nothing.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from agents.llm import (
    AssistantMessage,
    ModelError,
    ModelReply,
    ModelRequest,
    Price,
    Usage,
    WantedCall,
)

Turn = ModelReply | ModelError | Callable[[ModelRequest], ModelReply]
FREE = Price(Decimal(0), Decimal(0))
USUAL = Usage(100, 20)


def say(text: str, *calls: WantedCall, usage: Usage | None = USUAL) -> ModelReply:
    """A turn: words, calls, or both."""
    return ModelReply(text, calls, "tool_calls" if calls else "stop", usage)


def want(name: str, /, **args: Any) -> WantedCall:
    """A call with these arguments."""
    return WantedCall("call_1", name, json.dumps(args))


class ScriptedModel:
    """Gives turn n of the script to a request whose history has n answers; the last turn repeats for ever.

    `scripts` are by the display name that stands in the system text ("Assistant", "Summariser"); "" is for all others.
    `requests` holds what was asked, in order. A turn may be an exception, or a function of the request.
    """

    def __init__(
        self,
        scripts: Mapping[str, Sequence[Turn]],
        *,
        label: str = "scripted",
        price: Price | None = FREE,
        window: int = 100_000,
        endpoint: str | None = None,
    ) -> None:
        self._scripts = scripts
        self.label = label
        self.demo = False
        self.endpoint = endpoint
        self.price = price
        self.window = window
        self.requests: list[ModelRequest] = []

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.requests.append(request)
        script = next(
            (turns for name, turns in self._scripts.items() if name and f"You are {name}," in request.system),
            self._scripts.get("", ()),
        )
        said = sum(isinstance(message, AssistantMessage) for message in request.messages)
        turn = script[min(said, len(script) - 1)]
        if isinstance(turn, ModelError):
            raise turn
        return turn if isinstance(turn, ModelReply) else turn(request)
