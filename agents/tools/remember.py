"""`remember`: keep a short note for later tasks. Offered only where the user has turned memory on.

The rule: what it keeps is read by later runs, so a run that has read untrusted text asks the user first, who sees the
exact words.
"""

from agents import memory, notes
from agents.letter import Field
from agents.llm import ToolSpec
from agents.offer import Offer
from agents.ports import ReadTx, WriteTx
from agents.profile import Profile
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
    "remember",
    "Keep a short note that you will see in later tasks: a preference, a name, a standing fact. One thing a note. Do "
    "not keep what only matters now, and never a password or a key.",
    {
        "type": "object",
        "properties": {
            "text": {
                "type": "string",
                "title": "Note",
                "minLength": 1,
                "maxLength": notes.MAX_TEXT,
                "description": "Markdown, short.",
            }
        },
        "required": ["text"],
        "additionalProperties": False,
    },
)


class Remember(BaseTool):
    """The user sees each note as a message in the mailbox Memory, and deletes what they do not want kept."""

    risk = Risk.WRITE_OWN
    lasting = True

    def wanted(self, tx: ReadTx, account: int, profile: Profile) -> bool:
        return memory.uses(tx, account, profile)

    def plan(self, args: Args) -> Plan:
        if not args["text"].strip():
            raise ToolFailed("text: must not be empty")
        return Within()

    def describe(self, args: Args) -> Described:
        return Described("Keep a note", (Field("Note", args["text"].strip()),), "Keep a note")

    def apply(self, tx: WriteTx, call: ToolCall, ctx: ToolContext) -> ToolResult:
        new = notes.New(ctx.account, ctx.agent, call.args["text"], call.idem_key, ctx.subject, ctx.tainted)
        try:
            note = notes.keep(tx, ctx.clock.now(), new)
        except notes.NotKept as no:
            raise ToolFailed(no.why) from None
        return ToolResult(f"Noted as {note.code}.")


def make(offer: Offer) -> Tool:
    return Remember(SPEC)
