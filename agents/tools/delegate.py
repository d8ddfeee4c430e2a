"""`delegate`: give a task to a specialist (a skill). The call ends with the specialist's answer."""

from agents.letter import Field
from agents.llm import ToolSpec
from agents.offer import Offer
from agents.profile import Profile
from agents.tool import Args, BaseTool, Delegate, Described, Plan, Risk, Tool, ToolFailed

MAX_TASK = 20_000
MAX_MATERIAL = 200_000


class DelegateTool(BaseTool):
    """Starts a child run. What the child may do is held by its own gates, so the call itself asks nobody."""

    risk = Risk.WRITE_OWN

    def __init__(self, spec: ToolSpec, skills: frozenset[str]) -> None:
        super().__init__(spec)
        self._skills = skills

    def plan(self, args: Args) -> Plan:
        if args["skill"] not in self._skills:
            raise ToolFailed(f'skill: there is no "{args["skill"]}"; there are {", ".join(sorted(self._skills))}')
        if not args["task"].strip():
            raise ToolFailed("task: must not be empty")
        return Delegate(
            args["skill"], args["task"].strip(), args.get("material", ""), tuple(args.get("attachments", ()))
        )

    def describe(self, args: Args) -> Described:
        fields = [Field("To", args["skill"]), Field("Task", args["task"])]
        if args.get("material"):
            fields.append(Field("Material", args["material"]))
        if args.get("attachments"):
            fields.append(Field("Attachments", ", ".join(args["attachments"])))
        return Described("Delegate a task", tuple(fields), f"Delegate to {args['skill']}")


def spec(skills: tuple[Profile, ...]) -> ToolSpec:
    """The definition for the ready specialists."""
    listed = "; ".join(f"{skill.name}: {skill.description}" for skill in skills)
    return ToolSpec(
        "delegate",
        "Give a task to a specialist and get its answer. It sees only the task, the material and the attachments you "
        f"name here, nothing of this conversation. Specialists: {listed}",
        {
            "type": "object",
            "properties": {
                "skill": {"type": "string", "enum": [skill.name for skill in skills]},
                "task": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": MAX_TASK,
                    "description": "What to do, in full.",
                },
                "material": {
                    "type": "string",
                    "maxLength": MAX_MATERIAL,
                    "description": "Text to work on that is not in a file. It is given as data, not as instructions.",
                },
                "attachments": {
                    "type": "array",
                    "items": {"type": "string", "minLength": 1},
                    "maxItems": 20,
                    "description": "Refs of attached files to hand on.",
                },
            },
            "required": ["skill", "task"],
            "additionalProperties": False,
        },
    )


def make(offer: Offer) -> Tool | None:
    skills = tuple(offer.skills())
    return DelegateTool(spec(skills), frozenset(skill.name for skill in skills)) if skills else None
