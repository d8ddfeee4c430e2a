"""`draft_mail`: put a draft into the user's Drafts mailbox, to be read, changed and sent by the user."""

from agents.letter import Field, OutsideMail
from agents.llm import ToolSpec
from agents.offer import Offer
from agents.ports import WriteTx
from agents.tool import Args, BaseTool, Described, Plan, Risk, Tool, ToolCall, ToolContext, ToolResult, Within
from agents.tools._mail import MAX_RECIPIENTS, MAX_SUBJECT, MAX_TEXT, outside_mail, recipient_fields

SPEC = ToolSpec(
    "draft_mail",
    "Put a draft into the user's Drafts mailbox. Nothing is sent: the user reads it, changes it and sends it.",
    {
        "type": "object",
        "properties": {
            "to": {
                "type": "array",
                "items": {"type": "string", "minLength": 3, "maxLength": 320},
                "maxItems": MAX_RECIPIENTS,
                "description": "Mail addresses; may be empty.",
            },
            "subject": {"type": "string", "minLength": 1, "maxLength": MAX_SUBJECT},
            "text": {
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_TEXT,
                "description": "The text, as plain text.",
            },
        },
        "required": ["to", "subject", "text"],
        "additionalProperties": False,
    },
)


class DraftMail(BaseTool):
    """A draft is itself a proposal to the user and leaves nothing, so it counts as the agent's own writing."""

    risk = Risk.WRITE_OWN

    def plan(self, args: Args) -> Plan:
        outside_mail(args)
        return Within()

    def describe(self, args: Args) -> Described:
        mail = outside_mail(args)
        fields = (*recipient_fields(mail.to), Field("Subject", mail.subject), Field("Body", mail.text))
        return Described("Write a draft", fields, f'Write a draft "{mail.subject}"')

    def apply(self, tx: WriteTx, call: ToolCall, ctx: ToolContext) -> ToolResult:
        mail: OutsideMail = outside_mail(call.args)
        ctx.mail.draft(tx, ctx.account, mail, call.idem_key)
        to = ", ".join(mail.to) or "nobody yet"
        return ToolResult(f'The draft "{mail.subject}" (to {to}) is in the Drafts mailbox. It was not sent.')


def make(offer: Offer) -> Tool:
    return DraftMail(SPEC)
