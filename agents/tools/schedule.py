"""`schedule`: a task that begins by itself, at a time or upon what comes from outside. The user approves each one."""

from agents.letter import Field
from agents.llm import ToolSpec
from agents.offer import Offer
from agents.ports import WriteTx
from agents.schedule import Calendar, Planned, Reading
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

NAME = "schedule"
CLERK = "schedule"
"""Who sets schedules by rules alone: what it is told goes to no model provider."""

SPEC = ToolSpec(
    NAME,
    "Set a task that begins by itself: at a time, once or again and again, or whenever a webhook is called or mail "
    "comes to a hook or a watched mailbox. For a plain reminder use remind_me.",
    {
        "type": "object",
        "properties": {
            "when": {
                "type": "string",
                "minLength": 1,
                "maxLength": 200,
                "description": 'Local time "YYYY-MM-DDTHH:MM" for once, cron text such as "0 8 * * 1-5", or what sets '
                'it off: "webhook NAME", "hook NAME", "mailbox NAME".',
            },
            "task": {"type": "string", "minLength": 1, "maxLength": 8000, "description": "What is to be done then."},
            "title": {"type": "string", "minLength": 1, "maxLength": 120, "description": "A few words for it."},
            "zone": {"type": "string", "maxLength": 60, "description": "IANA time zone; left out: the user's."},
            "agent": {"type": "string", "maxLength": 64, "description": "Who does it; left out: you."},
            "act": {"type": "string", "enum": ["run", "remind"], "description": "remind: only mail the task's text."},
            "said": {"type": "string", "maxLength": 300, "description": "The user's own words for the time."},
            "late": {"type": "string", "enum": ["once", "skip", "all"], "description": "What to do with missed times."},
            "overlap": {
                "type": "string",
                "enum": ["skip", "queue", "replace"],
                "description": "What to do when the run before has not ended.",
            },
        },
        "required": ["when", "task", "title"],
        "additionalProperties": False,
    },
)


class ScheduleTask(BaseTool):
    """Shown with its next three runs; what is approved is the time in its one spelling."""

    risk = Risk.WRITE_USER

    def __init__(self, calendar: Calendar) -> None:
        super().__init__(SPEC)
        self._calendar = calendar

    def plan(self, args: Args) -> Plan:
        read = self._calendar.read(args["when"], args.get("zone", ""))
        if read.is_event and args.get("act") == "remind":
            raise ToolFailed("act: what comes from outside is handed to an agent; only times can remind")
        agent = args.get("agent", "")
        if agent and agent not in self._calendar.agents():
            raise ToolFailed(f'agent: there is no "{agent}"; there is {", ".join(self._calendar.agents())}')
        return Within()

    def describe(self, args: Args) -> Described:
        read = self._calendar.read(args["when"], args.get("zone", ""))
        remind = args.get("act") == "remind"
        if read.is_event:
            return _described(args, read)
        fields = [
            Field("When", read.words, read.spec if read.spec not in read.words else ""),
            Field("Zone", read.zone),
            Field("Next runs", read.upcoming or "none: this time has passed"),
            Field("Title", args["title"]),
            Field("Task", args["task"]),
        ]
        fields += [Field("Said", args["said"])] if args.get("said") else []
        fields += [Field("Agent", args["agent"])] if args.get("agent") and not remind else []
        fields.append(Field("Late", args.get("late", "once"), "what happens to missed times: once, skip, all"))
        if not remind:
            fields.append(Field("Overlap", args.get("overlap", "skip"), "while a run goes on: skip, queue, replace"))
        words = f"{read.words[:1].upper()}{read.words[1:]}"
        return Described("Set a reminder" if remind else "Set a schedule", tuple(fields), f'{words}, "{args["title"]}"')

    def apply(self, tx: WriteTx, call: ToolCall, ctx: ToolContext) -> ToolResult:
        args = call.args
        agents = self._calendar.agents()
        own = ctx.agent if ctx.agent in agents else agents[0]
        planned = Planned(
            when=args["when"],
            task=args["task"],
            title=" ".join(args["title"].split()),
            agent=args.get("agent") or own,
            tainted=ctx.tainted,
            by_rules=ctx.agent == CLERK,
            **{name: args[name] for name in ("zone", "act", "said", "late", "overlap") if args.get(name)},
        )
        told = self._calendar.plan(tx, ctx.account, ctx.thread, planned, call.idem_key)
        return ToolResult(f"It is set. {told}")


def _described(args: Args, read: Reading) -> Described:
    """A trigger without a time: what sets it off, and what comes then."""
    fields = [
        Field("When", read.words),
        Field("Title", args["title"]),
        Field("Task", args["task"], "what comes is handed over with it, as untrusted text"),
    ]
    fields += [Field("Said", args["said"])] if args.get("said") else []
    fields += [Field("Agent", args["agent"])] if args.get("agent") else []
    fields.append(Field("Overlap", args.get("overlap", "queue"), "while a run goes on: skip, queue, replace"))
    words = f"{read.words[:1].upper()}{read.words[1:]}"
    return Described("Set a trigger", tuple(fields), f'{words}, "{args["title"]}"')


def make(offer: Offer) -> Tool | None:
    return ScheduleTask(offer.calendar) if offer.calendar is not None else None
