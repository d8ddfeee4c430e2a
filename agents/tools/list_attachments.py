"""`list_attachments`: the files that came with the letters of this task, with the refs that other tools take."""

from agents.llm import ToolSpec
from agents.offer import Offer
from agents.prompt import attachment_lines
from agents.tool import BaseTool, Tool, ToolCall, ToolContext, ToolResult

SPEC = ToolSpec(
    "list_attachments",
    "List the files attached to the mails of this task, with their ref, type and size.",
    {"type": "object", "properties": {}, "additionalProperties": False},
)


class ListAttachments(BaseTool):
    """Reads only what the run already knows; the names of files that others sent are their text."""

    async def run(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        if not ctx.attachments:
            return ToolResult("No files are attached to the mails of this task.")
        outside = any(file.outside for file in ctx.attachments)
        told = "\n".join(["Attached files:", *attachment_lines(ctx.attachments)])
        return ToolResult(told, outside, "names of attached files" if outside else "")


def make(offer: Offer) -> Tool:
    return ListAttachments(SPEC)
