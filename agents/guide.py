"""Who answers at `help@` where no language model is configured: looks the question up and passes on what it finds.

The rule: it acts like any model, says only what the handbook says, and does nothing else.
"""

import json
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Final

from agents.llm import ModelReply, ModelRequest, Price, ResultMessage, Usage, UserMessage, WantedCall
from agents.profile import Profile
from config.settings import DEMO_MODEL, Settings

TAG: Final = "guide"
SKILL: Final = "guide"
TOOL: Final = "postroom_help"
MAX_QUESTION: Final = 2000


@dataclass(frozen=True, slots=True)
class Guide:
    """See agents.llm.Model."""

    label: str = "fixed rules (no AI)"
    demo: bool = True
    endpoint: str | None = None
    price: Price | None = field(default_factory=lambda: Price(Decimal(0), Decimal(0)))
    window: int = 1_000_000

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Ask the handbook, then say what it said."""
        last = request.messages[-1]
        if isinstance(last, ResultMessage):
            return ModelReply(last.text, (), "stop", Usage(0, 0), Decimal(0))
        question = (last.words or last.text) if isinstance(last, UserMessage) else ""
        subject = next((line[9:] for line in last.text.splitlines() if line.startswith("Subject: ")), "")
        args = json.dumps(
            {"question": f"{question} {subject}".strip()[:MAX_QUESTION] or "how to begin"}, ensure_ascii=False
        )
        return ModelReply("", (WantedCall("guide-1", TOOL, args),), "tool_calls", Usage(0, 0), Decimal(0))


def with_model(settings: Settings, profile: Profile) -> Profile:
    """The guide with fixed rules, where the first agent is the demo: else it has a model as any specialist has."""
    if profile.name != SKILL or profile.model is not None:
        return profile
    first = next(iter(settings.agents.values()), None)
    return replace(profile, model=TAG) if first is None or first.model == DEMO_MODEL else profile
