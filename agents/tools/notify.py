"""`notify`: a mail to the user at once, while the work goes on. The result of a task needs no notice."""

from agents.letter import Field
from agents.llm import ToolSpec
from agents.offer import Offer
from agents.ports import WriteTx
from agents.tool import (
    Args,
    BaseTool,
    Described,
    Plan,
    Risk,
    Tool,
    ToolCall,
    ToolContext,
    ToolFailed,
    ToolResult,
    Within,
)

SPEC = ToolSpec(
    "notify",
    "Mail the user a short note at once while you go on working. Your last message is mailed anyway; do not repeat it.",
    {
        "type": "object",
        "properties": {"text": {"type": "string", "minLength": 1, "maxLength": 20_000, "description": "Markdown."}},
        "required": ["text"],
        "additionalProperties": False,
    },
)


class Notify(BaseTool):
    """Writes to the user alone, once a call."""

    risk = Risk.SEND

    def plan(self, args: Args) -> Plan:
        if not args["text"].strip():
            raise ToolFailed("text: must not be empty")
        return Within()

    def describe(self, args: Args) -> Described:
        return Described("Write to you", (Field("Text", args["text"]),))

    def apply(self, tx: WriteTx, call: ToolCall, ctx: ToolContext) -> ToolResult:
        return ToolResult("The user gets this as a mail now.", notice=call.args["text"].strip())


def make(offer: Offer) -> Tool:
    return Notify(SPEC)
