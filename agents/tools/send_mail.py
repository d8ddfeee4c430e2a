"""`send_mail`: a mail to the outside world, through the relay, after the user's approval.

The rule: what the request shows is what goes out. The call becomes an outbox row in the transaction that spends the
approval (DECISIONS 30); this file only says what the row holds and how it reads. Offered only where a relay is set
up.
"""

from agents.letter import Field
from agents.llm import ToolSpec
from agents.offer import Offer
from agents.tool import Args, BaseTool, Described, Plan, Risk, SendOut, Tool, ToolFailed
from agents.tools._mail import MAX_RECIPIENTS, MAX_SUBJECT, MAX_TEXT, outside_mail, recipient_fields

SPEC = ToolSpec(
    "send_mail",
    "Send a mail from the user to outside addresses. It waits for the user's approval, who sees exactly these "
    "arguments. Use only addresses that the user gave you.",
    {
        "type": "object",
        "properties": {
            "to": {
                "type": "array",
                "items": {"type": "string", "minLength": 3, "maxLength": 320},
                "minItems": 1,
                "maxItems": MAX_RECIPIENTS,
                "description": "Mail addresses.",
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
                "description": "Refs of attached files to send along, unchanged.",
            },
        },
        "required": ["to", "subject", "text"],
        "additionalProperties": False,
    },
)


class SendMail(BaseTool):
    """The one built-in tool whose effect leaves the bridge."""

    risk = Risk.SEND_OUT
    idempotent = False
    open_world = True

    def plan(self, args: Args) -> Plan:
        mail = outside_mail(args)
        if not mail.to:
            raise ToolFailed("to: needs at least one address")
        return SendOut(mail, tuple(args.get("attachments", ())))

    def describe(self, args: Args) -> Described:
        mail = outside_mail(args)
        attached = ", ".join(args.get("attachments", ())) or "none"
        fields = (
            *recipient_fields(mail.to),
            Field("Subject", mail.subject),
            Field("Body", mail.text.rstrip("\n")),
            Field("Attached", attached),
        )
        return Described("Send mail", fields, f"Send mail to {_short(mail.to)}")


def _short(to: tuple[str, ...]) -> str:
    return ", ".join(to) if len(to) <= 2 else f"{to[0]} and {len(to) - 1} more"


def make(offer: Offer) -> Tool | None:
    return SendMail(SPEC) if offer.relay else None
