"""`draft_mail`: put a draft into the user's Drafts mailbox, to be read, changed and sent by the user."""

from dataclasses import replace

from agents.letter import Field, File, OutsideMail
from agents.llm import ToolSpec
from agents.offer import Offer
from agents.ports import MailNotFound, WriteTx
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
from agents.tools._mail import MAX_RECIPIENTS, MAX_SUBJECT, MAX_TEXT, outside_mail, recipient_fields

MAX_ATTACHED = 25_000_000
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
                "title": "Body",
                "minLength": 1,
                "maxLength": MAX_TEXT,
                "description": "The text, as plain text.",
            },
            "attachments": {
                "type": "array",
                "title": "Attached",
                "items": {"type": "string", "minLength": 1, "maxLength": 200},
                "maxItems": 20,
                "description": "Refs of attached files of this task to put in, unchanged.",
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
        attached = Field("Attached", ", ".join(args.get("attachments", ())) or "none")
        fields = (*recipient_fields(mail.to), Field("Subject", mail.subject), Field("Body", mail.text), attached)
        return Described("Write a draft", fields, f'Write a draft "{mail.subject}"')

    def apply(self, tx: WriteTx, call: ToolCall, ctx: ToolContext) -> ToolResult:
        mail: OutsideMail = replace(outside_mail(call.args), attachments=_files(tx, call, ctx))
        ctx.mail.draft(tx, ctx.account, mail, call.idem_key)
        to = ", ".join(mail.to) or "nobody yet"
        return ToolResult(f'The draft "{mail.subject}" (to {to}) is in the Drafts mailbox. It was not sent.')


def _files(tx: WriteTx, call: ToolCall, ctx: ToolContext) -> tuple[File, ...]:
    """The files that a draft is to have, by ref or name. Raises ToolFailed."""
    wanted: list[str] = []
    for name in call.args.get("attachments", ()):
        known = next((file for file in ctx.attachments if name in (file.ref, file.name)), None)
        if known is None:
            raise ToolFailed(f'attachments: there is no attached file "{name}"')
        wanted.append(known.ref)
    try:
        files = ctx.mail.contents(tx, ctx.account, tuple(dict.fromkeys(wanted)))
    except MailNotFound:
        raise ToolFailed("attachments: one of the files is not there any more") from None
    if sum(len(file.data) for file in files) > MAX_ATTACHED:
        raise ToolFailed(f"attachments: together they are over {MAX_ATTACHED:,} bytes")
    return files


def make(offer: Offer) -> Tool:
    return DraftMail(SPEC)
