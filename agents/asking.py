"""Calls that ask their user within themselves: parked as rows, and gone on with when the answer is there.

The rule: the call stays the one that was allowed (its arguments and its definition are what they were); the answer is
what the user wrote in reply to the question, told to the call once.
"""

import json

from agents import journal, store
from agents.office import Office
from agents.ports import WriteTx
from agents.states import CallState, PlanKind
from agents.store import Call
from agents.tool import Ask, Asked, ToolAsks


def is_question(call: Call) -> bool:
    """Whether what waits is a question: the call is one, or asks one."""
    return call.plan is PlanKind.ASK or call.asked is not None


def question(call: Call) -> Ask | None:
    """The question that a call asks within itself."""
    if call.asked is None:
        return None
    asked = store.json_object(call.asked)
    return Ask(asked["question"], tuple(asked["choices"]))


def heard(call: Call) -> Asked | None:
    """What a call that goes on is told."""
    asked = store.json_object(call.asked) if call.asked is not None else {}
    return Asked(asked["state"], asked["words"], asked["declined"]) if "words" in asked else None


def park(tx: WriteTx, office: Office, call: Call, wants: ToolAsks) -> None:
    """Keep what a call wants to know, and give it back."""
    asked = {"question": wants.question, "choices": list(wants.choices), "state": dict(wants.state)}
    if tx.run("agents.calls.park", call=call.id, asked=json.dumps(asked, ensure_ascii=False)) and wants.untrusted:
        journal.mark(tx, office, call.run, wants.source or call.tool)


def answer(tx: WriteTx, call: Call, words: str, *, declined: bool) -> None:
    """The user has answered: the call goes on."""
    if call.asked is not None and call.state is CallState.WAITING_APPROVAL:
        asked = {**store.json_object(call.asked), "words": words, "declined": declined}
        tx.run("agents.calls.told", call=call.id, asked=json.dumps(asked, ensure_ascii=False))
