"""The model of a dialogue: it says what the file says, scene by scene, and tells when it is asked too often.

The rule: it never invents. A request for which the file has no line is an error that fails the dialogue.
"""

import json
from dataclasses import dataclass, field
from decimal import Decimal

from agents.llm import (
    AssistantMessage,
    ModelError,
    ModelFault,
    ModelReply,
    ModelRequest,
    Price,
    ResultMessage,
    Usage,
    WantedCall,
)
from tests.dialogues.script import BadDialogue, Block, read_call

FREE = Price(Decimal(0), Decimal(0))
USUAL = Usage(100, 20)


@dataclass(slots=True)
class Cue:
    """One answer of the file, with what its request must hold."""

    block: Block
    wants: Block | None


@dataclass(slots=True)
class Cues:
    """The answers of the scene that plays now, and what went wrong."""

    waiting: list[Cue] = field(default_factory=list)
    trouble: list[str] = field(default_factory=list)
    file: str = ""

    def load(self, blocks: tuple[Block, ...]) -> None:
        """Take the model's lines of a scene."""
        for at, block in enumerate(blocks):
            if block.mark != "model<":
                continue
            before = blocks[at - 1] if at else None
            wants = before if before is not None and before.mark == "model>" else None
            self.waiting.append(Cue(block, wants))

    def take(self, names: tuple[str, ...]) -> Cue | None:
        """The next answer of whoever is asked: its lines that name it, else those that name nobody."""
        for cue in self.waiting:
            if cue.block.who in names:
                self.waiting.remove(cue)
                return cue
        named = next((cue for cue in self.waiting if not cue.block.who), None)
        if named is not None:
            self.waiting.remove(named)
        return named


class Actor:
    """A model of a dialogue under its tag; see agents.llm.Model."""

    demo = False

    def __init__(
        self, tag: str, label: str, cues: Cues, price: Price | None = FREE, window: int = 100_000, endpoint: str = ""
    ) -> None:
        self._tag = tag
        self._cues = cues
        self.label = label
        self.price = price
        self.window = window
        self.endpoint = endpoint or None

    async def complete(self, request: ModelRequest) -> ModelReply:
        cue = self._cues.take((self._tag, *_who(request)))
        if cue is None:
            last = request.messages[-1]
            self._cues.trouble.append(
                f"{self._cues.file}: the model {self._tag!r} was asked once more than the file says; "
                f"the request ends with:\n{_indent(last.text)}"
            )
            raise ModelError(ModelFault.REFUSED, "the dialogue has no line for this")
        if cue.wants is not None:
            self._check(cue.wants, request)
        return reply(cue.block, self._cues.file)

    def _check(self, wants: Block, request: ModelRequest) -> None:
        told = told_text(request)
        for line in wants.lines:
            unwanted = line.startswith("not: ")
            words = line.removeprefix("not: ")
            if (words in told) is unwanted:
                what = "holds" if unwanted else "does not hold"
                place = f"{self._cues.file}:{wants.line}"
                self._cues.trouble.append(
                    f"{place}: what the model was told {what}\n  {words}\n{_indent(told_text(request, system=False))}"
                )


def _who(request: ModelRequest) -> tuple[str, ...]:
    """The agent's or skill's name as the system text gives it: "You are Summariser, ..."."""
    start = "You are "
    if not request.system.startswith(start):
        return ()
    name = request.system[len(start) :].partition(",")[0]
    return (name, name.lower())


def told_text(request: ModelRequest, system: bool = True) -> str:
    """A request as a text to look in: system text, tools, messages."""
    parts = [request.system] if system else []
    parts.append("tools: " + ", ".join(tool.name for tool in request.tools))
    for message in request.messages:
        if isinstance(message, AssistantMessage):
            calls = [f"{call.name} {json.dumps(dict(call.args), ensure_ascii=False)}" for call in message.calls]
            parts.append("\n".join(["you said: " + message.text, *calls]))
        elif isinstance(message, ResultMessage):
            parts.append(f"{message.name} gave: {message.text}")
        else:
            parts.append(f"user: {message.text}")
    return "\n".join(parts)


def reply(block: Block, file: str) -> ModelReply:
    """An answer from its lines: `call NAME key=json`, `used 1200 in 30 out`, `fail KIND text`; all else is text."""
    words: list[str] = []
    calls: list[WantedCall] = []
    usage: Usage | None = USUAL
    for line in block.lines:
        if line.startswith("call "):
            made = read_call(line.removeprefix("call "))
            raw = made.raw or json.dumps(made.args, ensure_ascii=False)
            calls.append(WantedCall(f"call_{len(calls) + 1}", made.name, raw))
        elif line.startswith("used "):
            usage = _usage(line, f"{file}:{block.line}")
        elif line.startswith("fail "):
            raise _fault(line, f"{file}:{block.line}")
        else:
            words.append(line)
    return ModelReply("\n".join(words), tuple(calls), "tool_calls" if calls else "stop", usage)


def _usage(line: str, place: str) -> Usage | None:
    fields = line.split()
    if fields == ["used", "unknown"]:
        return None
    if len(fields) != 5 or fields[2::2] != ["in", "out"]:
        raise BadDialogue(f"{place}: write `used 1200 in 30 out` or `used unknown`, not {line!r}")
    return Usage(int(fields[1]), int(fields[3]))


def _fault(line: str, place: str) -> ModelError:
    kind, _, text = line.removeprefix("fail ").partition(" ")
    if kind not in {one.value for one in ModelFault}:
        raise BadDialogue(f"{place}: a model fails by one of {', '.join(ModelFault)}, not {kind!r}")
    return ModelError(ModelFault(kind), text)


def _indent(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())
