"""`postroom_help`: how to use this Postroom, from its own settings. The program's own words, so nothing of it marks."""

from agents.handbook import Handbook
from agents.llm import ToolSpec
from agents.offer import Offer
from agents.tool import BaseTool, Tool, ToolCall, ToolContext, ToolResult

SPEC = ToolSpec(
    "postroom_help",
    "Look up how to use this Postroom: its addresses, words, limits and mailboxes as they are installed.",
    {
        "type": "object",
        "properties": {
            "question": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The user's own words."}
        },
        "required": ["question"],
        "additionalProperties": False,
    },
)


class PostroomHelp(BaseTool):
    """Reads only the settings."""

    def __init__(self, handbook: Handbook) -> None:
        super().__init__(SPEC)
        self._handbook = handbook

    async def run(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        return ToolResult(self._handbook.answer(call.args["question"]))


def make(offer: Offer) -> Tool | None:
    return PostroomHelp(offer.handbook) if offer.handbook is not None else None
