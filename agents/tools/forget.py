"""`forget`: forget a note that this agent wrote. What the user wrote, only the user forgets."""

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
    "forget",
    "Forget a note of yours, by its name such as N-7F3KQ2. To correct a note, forget it and remember the new words.",
    {
        "type": "object",
        "properties": {"note": {"type": "string", "minLength": 8, "maxLength": 40, "description": "Its name."}},
        "required": ["note"],
        "additionalProperties": False,
    },
)


class Forget(BaseTool):
    """A note that is gone is missed by later runs, so a marked run asks first."""

    risk = Risk.WRITE_OWN
    lasting = True

    def wanted(self, tx: ReadTx, account: int, profile: Profile) -> bool:
        return memory.uses(tx, account, profile)

    def plan(self, args: Args) -> Plan:
        return Within()

    def describe(self, args: Args) -> Described:
        return Described("Forget a note", (Field("Note", args["note"]),), f"Forget the note {args['note']}")

    def apply(self, tx: WriteTx, call: ToolCall, ctx: ToolContext) -> ToolResult:
        note = notes.named(tx, ctx.account, call.args["note"])
        if note is None or note.agent not in (ctx.agent, notes.EVERYONE):
            raise ToolFailed(f'note: there is no note "{call.args["note"]}"')
        if note.agent == notes.EVERYONE:
            raise ToolFailed("note: the user wrote this one; only they forget it")
        notes.forget(tx, ctx.clock.now(), note, "its agent forgot it")
        return ToolResult(f"{note.code} is forgotten.")


def make(offer: Offer) -> Tool:
    return Forget(SPEC)
