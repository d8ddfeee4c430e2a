"""`read_attachment`: the text of an attached file (plain text, HTML, PDF, CSV and the like).

The rule: its text is untrusted unless the owner attached it and the agent's setting trusts that (DECISIONS 31); a file
that has no text is named with its type, never passed over.
"""

from agents.letter import Attachment
from agents.llm import ToolSpec
from agents.offer import Offer
from agents.ports import AttachmentData, MailNotFound
from agents.prompt import size_text
from agents.tool import BaseTool, Tool, ToolCall, ToolContext, ToolFailed, ToolResult

MAX_BYTES = 20_000_000

SPEC = ToolSpec(
    "read_attachment",
    "Read an attached file as text: plain text, Markdown, HTML, PDF, Word (.docx), CSV, JSON and other texts. Of a "
    ".zip it lists what is in it, and reads the file named in inside.",
    {
        "type": "object",
        "properties": {
            "ref": {
                "type": "string",
                "minLength": 1,
                "maxLength": 200,
                "description": "The file's ref, or its exact name.",
            },
            "inside": {"type": "string", "minLength": 1, "maxLength": 300, "description": "A file in a .zip."},
        },
        "required": ["ref"],
        "additionalProperties": False,
    },
)


class ReadAttachment(BaseTool):
    """Reads through the Mail port, bound to the run's account."""

    async def run(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        known = find(call.args["ref"], ctx.attachments)
        if known is not None and known.size > MAX_BYTES:
            raise ToolFailed(
                f"{known.name} is {size_text(known.size)}; files over {size_text(MAX_BYTES)} are not read."
            )
        data = await _fetch(known.ref if known else call.args["ref"], ctx)
        if len(data.data) > MAX_BYTES:
            raise ToolFailed(f"{data.name} is over {size_text(MAX_BYTES)}; files of this size are not read.")
        from agents.extract import Unreadable, extract  # on first use: it knows many kinds of files

        try:
            found = await extract(data.name, data.media_type, data.data, inside=call.args.get("inside", ""))
        except Unreadable as fault:
            raise ToolFailed(f"{data.name} cannot be read: {fault.why}.") from None
        text = f"[{found.note}]\n{found.text}" if found.note else found.text
        own = known is not None and known.ref in ctx.trusted
        return ToolResult(text or "[The file is empty.]", untrusted=not own, source=_source(data, known))


def find(ref: str, attachments: tuple[Attachment, ...]) -> Attachment | None:
    """The file of the task with this ref, else the only one with this name. Raises ToolFailed if several have it."""
    for file in attachments:
        if file.ref == ref:
            return file
    named = [file for file in attachments if file.name.casefold() == ref.casefold()]
    if len(named) > 1:
        refs = ", ".join(file.ref for file in named)
        raise ToolFailed(f'ref: {len(named)} files are named "{ref}"; use one of the refs {refs}')
    return named[0] if named else None


async def _fetch(ref: str, ctx: ToolContext) -> AttachmentData:
    try:
        return await ctx.mail.attachment(ctx.account, ref)
    except MailNotFound:
        there = ", ".join(f"{file.name} (ref {file.ref})" for file in ctx.attachments) or "none"
        raise ToolFailed(f'ref: there is no attachment "{ref}"; attached to this task: {there}') from None


def _source(data: AttachmentData, known: Attachment | None) -> str:
    return known.source if known else f"{data.name} (attachment of a mail)"


def make(offer: Offer) -> Tool:
    return ReadAttachment(SPEC)
