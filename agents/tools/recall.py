"""`recall`: search the notes of earlier tasks, those included that are not shown at the start.

The rule: a note learned from untrusted text marks the run that reads it (DECISIONS 31).
"""

from agents import memory, notes
from agents.llm import ToolSpec
from agents.offer import Offer
from agents.ports import ReadTx, WriteTx
from agents.profile import Profile
from agents.tool import Args, BaseTool, Plan, Tool, ToolCall, ToolContext, ToolResult, Within

MAX_FOUND = 30
SPEC = ToolSpec(
    "recall",
    "Search the notes kept in earlier tasks, newest first. Words must all occur, in any case; an empty query gives the "
    "newest.",
    {
        "type": "object",
        "properties": {"query": {"type": "string", "maxLength": 200, "description": "What to look for."}},
        "required": ["query"],
        "additionalProperties": False,
    },
)


class Recall(BaseTool):
    """Reads rows, so it acts inside a transaction."""

    def wanted(self, tx: ReadTx, account: int, profile: Profile) -> bool:
        return memory.uses(tx, account, profile)

    def plan(self, args: Args) -> Plan:
        return Within()

    def apply(self, tx: WriteTx, call: ToolCall, ctx: ToolContext) -> ToolResult:
        words = call.args["query"].casefold().split()
        seen = notes.seen_by(tx, ctx.account, ctx.agent)
        found = [note for note in seen if all(word in note.text.casefold() for word in words)][:MAX_FOUND]
        if not found:
            return ToolResult("No note found.")
        foreign = any(note.taint for note in found)
        text = "\n".join(map(memory.as_line, found))
        return ToolResult(text, untrusted=foreign, source="notes learned from text of others" if foreign else "memory")


def make(offer: Offer) -> Tool:
    return Recall(SPEC)
