"""`ask_user`: a question to the user, as a mail in Action. The call ends with the answer in their words."""

from agents.letter import Field
from agents.llm import ToolSpec
from agents.offer import Offer
from agents.tool import Args, Ask, BaseTool, Described, Plan, Risk, Tool, ToolFailed

SPEC = ToolSpec(
    "ask_user",
    "Ask the user one question and wait for the answer. Use it when a fact is missing that only they know.",
    {
        "type": "object",
        "properties": {
            "question": {"type": "string", "minLength": 1, "maxLength": 4000, "description": "The question, complete."},
            "choices": {
                "type": "array",
                "items": {"type": "string", "minLength": 1, "maxLength": 200},
                "maxItems": 10,
                "description": "Possible answers, if there are only a few.",
            },
        },
        "required": ["question"],
        "additionalProperties": False,
    },
)


class AskUser(BaseTool):
    """Sends to the user alone."""

    risk = Risk.SEND

    def plan(self, args: Args) -> Plan:
        if not args["question"].strip():
            raise ToolFailed("question: must not be empty")
        return Ask(args["question"].strip(), tuple(args.get("choices", ())))

    def describe(self, args: Args) -> Described:
        return Described("Ask you", (Field("Question", args["question"]),))


def make(offer: Offer) -> Tool:
    return AskUser(SPEC)
