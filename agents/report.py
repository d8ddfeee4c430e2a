"""The last answer of a specialist before the purse it shares is empty: without tools, so that it is a report.

The rule: one model call is left for the agent that waits for the report. What the specialist had asked for is told as
text, as some providers refuse calls in a history without tools; foreign text keeps its marks.
"""

import json
from collections.abc import Sequence
from typing import Final

from agents import budget, store
from agents.llm import AssistantMessage, Message, ResultMessage, SentCall, UserMessage
from agents.office import Office
from agents.ports import ReadTx
from agents.states import StepKind
from agents.store import Run

_LEFT: Final = 2
"""Model calls at which a specialist reports: its own, and one for whoever reads the report."""

_NOTE: Final = (
    "(This is your last answer in this task: its model calls are used up, and there are no tools any more. Report what "
    "you found, and say plainly what is missing or was not looked at. Do not guess.)"
)


def is_due(tx: ReadTx, office: Office, run: Run) -> bool:
    """Whether the next answer of a specialist, which has done something already, is to be its report."""
    if not run.depth or not any(step.kind is StepKind.RESULTS for step in store.steps(tx, run.id)):
        return False
    root = store.get_run(tx, run.root)
    used = budget.totals(tx, run.root, office.steady())
    return used.model_calls + _LEFT >= budget.caps(office, root, root.raised).model_calls


def as_told(messages: Sequence[Message]) -> list[Message]:
    """The same history without calls: what was asked for and what came of it in words, and the note at the end."""
    told: list[Message] = []
    for message in messages:
        if isinstance(message, ResultMessage):
            _add(told, f"(Result of {message.name}{'' if message.ok else ', which failed'}:)\n{message.text}")
        elif isinstance(message, AssistantMessage) and message.calls:
            asked = [f"(I used {call.name} with {_args(call)}.)" for call in message.calls]
            told.append(AssistantMessage("\n".join([*([message.text] if message.text else []), *asked])))
        else:
            told.append(message)
    _add(told, _NOTE)
    return told


def _args(call: SentCall) -> str:
    return json.dumps(dict(call.args), ensure_ascii=False)


def _add(told: list[Message], text: str) -> None:
    """Words of the program, in one message with those before them if they are the program's too."""
    last = told[-1] if told else None
    if isinstance(last, UserMessage) and not (last.words or last.attachments or last.parts):
        told[-1] = UserMessage(f"{last.text}\n\n{text}")
    else:
        told.append(UserMessage(text))
