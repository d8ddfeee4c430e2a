"""A tool of a server as the runtime knows tools.

The rule: what it may do is what the user allowed, its results mark the run unless its server is trusted, and a call
whose connection died is said to have failed only when a repeat is harmless.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from agents.letter import Field
from agents.llm import ToolSpec
from agents.mcp import asking
from agents.mcp.asking import Wanted
from agents.mcp.file import ServerConfig
from agents.mcp.pins import Pin
from agents.tool import (
    Args,
    Asked,
    BaseTool,
    Described,
    Risk,
    ToolAsks,
    ToolCall,
    ToolContext,
    ToolFailed,
    ToolResult,
    ToolUncertain,
    show,
)

if TYPE_CHECKING:
    from agents.mcp.outcome import Answer, Forgotten
    from agents.mcp.owner import Owner

LONGEST_NAME: Final = 64
FOREVER: Final = 3600.0
"""A call is limited by the setting tool_seconds; the tool itself has no shorter limit."""

_UNFIT: Final = re.compile(r"[^A-Za-z0-9_-]")


def offered_name(server: str, tool: str) -> str:
    """`server__tool`, in the characters and the length that every provider takes; a changed one ends in a hash."""
    name = f"{server}__{_UNFIT.sub('_', tool)}"
    if name == f"{server}__{tool}" and len(name) <= LONGEST_NAME:
        return name
    mark = hashlib.sha256(tool.encode()).hexdigest()[:6]
    return f"{name[: LONGEST_NAME - 7]}_{mark}"


class McpTool(BaseTool):
    """One tool of one server. `owner` and `pin` are asked at each call, since both may have changed."""

    open_world = True
    timeout = FOREVER

    def __init__(
        self, config: ServerConfig, pin: Pin, owner: Callable[[], "Owner | None"], now: Callable[[], Pin | None]
    ) -> None:
        spec = pin.spec
        told = f"{spec.description}\n(Tool of the MCP server {config.name}.)".strip()
        super().__init__(ToolSpec(offered_name(config.name, spec.name), told, spec.schema, spec.annotations))
        self.risk = pin.risk
        self.idempotent = pin.repeatable
        self.pin = pin
        self._config = config
        self._owner = owner
        self._now = now

    @property
    def title(self) -> str:
        """What a user reads: server and tool, and whether they have ever approved it."""
        new = "" if self.pin.approved else ", a tool you have not approved yet"
        return f"{self._config.name}.{self.pin.spec.name}{new}"

    def describe(self, args: Args) -> Described:
        fields = tuple(Field(name, show(value)) for name, value in args.items())
        return Described(f"Call {self.title}", fields, f"Call {self._config.name}.{self.pin.spec.name}")

    async def run(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        from agents.mcp import outcome
        from agents.mcp.results import to_result

        name, owner = f"The MCP server {self._config.name}", self._owner()
        if owner is None:
            raise ToolFailed(f"Not done: {name} is not running.")
        try:
            answer = await self._ask(owner, call, ctx)
        except outcome.Unreached as error:
            raise ToolFailed(f"Not done: {name} cannot be used: {error}.") from None
        except outcome.Refused as error:
            source = f"the MCP server {self._config.name}"
            raise ToolFailed(f"Not done: {name} refused: {error}", not self._config.trusted, source) from None
        except outcome.Lost as error:
            raise self._lost(f"{name} was lost during {self.pin.spec.name}: {error}.") from None
        return to_result(self._config, self.pin.spec.name, answer.result, answer.declined, answer.late)

    async def _ask(self, owner: "Owner", call: ToolCall, ctx: ToolContext) -> "Answer":
        """Call, or go on with a call that had asked. Raises ToolAsks, and what `Owner.call` raises."""
        from agents.mcp.leg import Resume
        from agents.mcp.outcome import Forgotten, Refused

        async def leg(resume: Resume | None) -> "Answer | Wanted":
            fresh, name = self.risk is not Risk.READ, self.pin.spec.name
            return await owner.call(
                name, call.args, call.idem_key, fresh, self._still_so, resume, ctx.progress, call.run
            )

        async def anew(wanted: Wanted, responses: Mapping[str, Any]) -> "Answer | Wanted":
            """The server has forgotten the question (it was started anew): it asks again and hears the same."""
            answer = await leg(None)
            if isinstance(answer, Wanted) and answer.questions == wanted.questions:
                return await leg(Resume(responses, answer.state, answer.held))
            return answer

        if call.asked is None:
            return self._settled(await leg(None), {}, 1)
        wanted, responses, rounds = self._told(call.asked)
        try:
            answer = await leg(Resume(responses, wanted.state, wanted.held))
        except Refused as error:
            if not error.unread or "state" not in str(error).lower():
                raise
            answer = await anew(wanted, responses)
        except Forgotten as error:
            answer = await anew(wanted, responses) if self.idempotent else self._left_open(error)
        return self._settled(answer, {}, rounds + 1)

    def _left_open(self, error: "Forgotten") -> "Answer":
        """A call that was kept open is not any more, and may have acted before it asked: it is not made again."""
        if error.answer is not None:
            return error.answer
        raise ToolUncertain(
            f"The MCP server {self._config.name} had begun {self.pin.spec.name}, asked its question, and was lost "
            "before the answer came."
        )

    def _told(self, asked: Asked) -> tuple[Wanted, dict[str, Any], int]:
        """What was asked, with all answers; asks for the next one, or again, where one is missing. Raises ToolAsks."""
        state = asked.state
        wanted = Wanted(state["state"], state["questions"], bool(state.get("held")))
        now, rounds = state["now"], int(state["rounds"])
        responses = dict(state["responses"])
        try:
            responses[now] = asking.response(wanted.questions[now], asked.words, asked.declined)
        except asking.Unfit as fault:
            raise self._question(wanted, responses, rounds, f"Your answer could not be used: {fault}.") from None
        if len(responses) < len(wanted.questions):
            raise self._question(wanted, responses, rounds)
        return wanted, responses, rounds

    def _settled(self, answer: "Answer | Wanted", responses: dict[str, Any], rounds: int) -> "Answer":
        if not isinstance(answer, Wanted):
            return answer
        if rounds > asking.MOST_ROUNDS:
            raise self._lost(f"The MCP server {self._config.name} kept asking questions.")
        raise self._question(answer, responses, rounds)

    def _question(self, wanted: Wanted, responses: dict[str, Any], rounds: int, note: str = "") -> ToolAsks:
        wants = asking.ask(self._config.name, wanted, responses, rounds, note)
        wants.untrusted = not self._config.trusted
        wants.source = f"a question of the MCP server {self._config.name}"
        return wants

    def _still_so(self) -> None:
        """Before an effect, after the tools were listed anew: the tool is still what was shown and approved."""
        pin = self._now()
        if pin is None or not pin.offered or pin.spec != self.pin.spec:
            raise ToolFailed(
                f"Not done: {self._config.name}.{self.pin.spec.name} reads otherwise than before. It is off until the "
                f"user has looked at it: `postroom mcp approve {self._config.name} {self.pin.spec.name}`."
            )

    def _lost(self, text: str) -> ToolFailed | ToolUncertain:
        if self.idempotent:
            return ToolFailed(f"{text} It may or may not have happened; a repeat is harmless.")
        return ToolUncertain(text)
