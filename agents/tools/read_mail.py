"""`read_mail`: one mail of the user's own mailboxes as text. Foreign ones mark the run."""

from agents.llm import ToolSpec
from agents.offer import Offer
from agents.ports import MailNotFound
from agents.tool import BaseTool, Tool, ToolCall, ToolContext, ToolFailed, ToolResult
from agents.tools._mail import moment

SPEC = ToolSpec(
    "read_mail",
    "Read one mail found with search_mail: its header, its whole text and the refs of its attachments.",
    {
        "type": "object",
        "properties": {"ref": {"type": "string", "minLength": 1, "maxLength": 200, "description": "The ref of a hit."}},
        "required": ["ref"],
        "additionalProperties": False,
    },
)


class ReadMail(BaseTool):
    """Reads through the Mail port, bound to the run's account."""

    async def run(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        ref = call.args["ref"]
        try:
            mail = await ctx.mail.read(ctx.account, ref)
        except MailNotFound:
            raise ToolFailed(f'ref: there is no mail "{ref}"; use a ref that search_mail gave') from None
        lines = [
            f"From: {mail.sender}",
            f"To: {', '.join(mail.to)}",
            f"Date: {moment(mail.at)}",
            f"Subject: {mail.subject}",
        ]
        if mail.attachments:
            lines.append(f"Attachments (refs for read_attachment): {', '.join(mail.attachments)}")
        text = "\n".join([*lines, "", mail.text])
        return ToolResult(text, untrusted=not mail.own, source=f'mail "{mail.subject}" from {mail.sender}')


def make(offer: Offer) -> Tool:
    return ReadMail(SPEC)
