"""The demo model: deterministic rules in the place of a language model, offline, labelled "demo (no AI)".

The rule: it acts like any model. It sees its request and nothing else, it calls the tools it is offered, and it has
no state, no clock and no effect of its own. Parts: `understand` (words to a wish), `task` (the conversation so far),
`plan` (the next move), `summarise`, `say`.
"""

import asyncio
import json
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from agents.llm import ModelReply, ModelRequest, Price, Usage, WantedCall
from config import settings

if TYPE_CHECKING:
    from agents.models.demo.plan import Move

PROVIDER = "demo"
LABEL = "demo (no AI)"
WINDOW = 1_000_000
LARGE = 50_000


@dataclass(frozen=True, slots=True)
class DemoModel:
    """See agents.llm.Model. Its tokens are counted as zero and cost nothing, since there is no model."""

    label: str = LABEL
    demo: bool = True
    endpoint: str | None = None
    price: Price | None = field(default_factory=lambda: Price(Decimal(0), Decimal(0)))
    window: int = WINDOW

    async def complete(self, request: ModelRequest) -> ModelReply:
        """The next move for this request; the same request gives the same reply."""
        if sum(len(message.text) for message in request.messages) > LARGE:
            return await asyncio.to_thread(reply_to, request)
        return reply_to(request)


def reply_to(request: ModelRequest) -> ModelReply:
    """The next move for a request, as a reply."""
    from agents.models.demo.keep import keep_move
    from agents.models.demo.plan import next_move  # on first use, as below: its words make a start slower
    from agents.models.demo.task import read_request

    move = keep_move(request) or next_move(read_request(request))
    return to_reply(move, len(request.messages))


def to_reply(move: "Move", turn: int) -> ModelReply:
    """A move as a model gives it: calls with arguments as JSON text."""
    calls = tuple(
        WantedCall(f"demo-{turn}-{number}", name, json.dumps(args, ensure_ascii=False))
        for number, (name, args) in enumerate(move.calls)
    )
    return ModelReply(move.text, calls, "tool_calls" if calls else "stop", Usage(0, 0), Decimal(0))


def make(config: settings.Model, limits: settings.Limits) -> DemoModel:
    """The demo model; it has nothing to configure and answers at once."""
    return DemoModel()
