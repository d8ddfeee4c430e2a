"""`remind_me`: a mail to the user at a time, once or again and again. Offered only where something keeps schedules."""

import re
from dataclasses import replace
from datetime import datetime

from agents.letter import Field
from agents.llm import ToolSpec
from agents.offer import Offer
from agents.ports import WriteTx
from agents.schedule import Reminder, Schedule
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

EVERY = ("hour", "day", "weekday", "week", "month")
_AT = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}")

SPEC = ToolSpec(
    "remind_me",
    "Remind the user by mail at a time. `at` is local wall time; with `every`, it is the first time of several.",
    {
        "type": "object",
        "properties": {
            "text": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "What the reminder says."},
            "at": {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$", "description": "YYYY-MM-DDTHH:MM."},
            "every": {"type": "string", "enum": list(EVERY), "description": "Leave out for a single reminder."},
        },
        "required": ["text", "at"],
        "additionalProperties": False,
    },
)


class RemindMe(BaseTool):
    """A reminder only ever writes to the user it belongs to."""

    risk = Risk.WRITE_OWN

    def __init__(self, schedule: Schedule) -> None:
        super().__init__(SPEC)
        self._schedule = schedule

    def plan(self, args: Args) -> Plan:
        reminder(args)
        return Within()

    def describe(self, args: Args) -> Described:
        what = reminder(args)
        fields = (Field("Text", what.text), Field("At", what.at), Field("Every", what.every or "once"))
        return Described("Set a reminder", fields)

    def apply(self, tx: WriteTx, call: ToolCall, ctx: ToolContext) -> ToolResult:
        what = replace(reminder(call.args), tainted=ctx.tainted)
        runs = self._schedule.remind(tx, ctx.account, ctx.agent, ctx.thread, what, call.idem_key)
        return ToolResult(f"The reminder is set. Next: {runs}")


def reminder(args: Args) -> Reminder:
    """The reminder that arguments describe. Raises ToolFailed, which names the field."""
    at = args["at"]
    try:
        datetime.fromisoformat(at if _AT.fullmatch(at) else "")
    except ValueError:
        raise ToolFailed(f'at: "{at}" is not a time like 2026-03-31T09:00') from None
    return Reminder(" ".join(args["text"].split()), at, args.get("every", ""))


def make(offer: Offer) -> Tool | None:
    return RemindMe(offer.schedule) if offer.schedule is not None else None
