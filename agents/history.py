"""Whether a history may be given to a model: every call has exactly one result, right after the turn that wanted it.

The rule: a history with a fault is never sent; a fault here is a fault of the program, not of a model.
"""

from collections.abc import Sequence

from agents.llm import AssistantMessage, Message, ResultMessage, UserMessage


def faults(messages: Sequence[Message]) -> list[str]:
    """What is wrong with a history, in words; empty when it is valid."""
    found: list[str] = []
    open_calls: list[str] = []
    seen: set[str] = set()
    for message in messages:
        if isinstance(message, ResultMessage):
            if message.call_id not in open_calls:
                found.append(f"result for {message.call_id}, which no call of the turn before it wants")
            else:
                open_calls.remove(message.call_id)
            continue
        found += [f"call {call} has no result" for call in open_calls]
        open_calls = []
        if isinstance(message, AssistantMessage):
            for call in message.calls:
                if call.id in seen:
                    found.append(f"call id {call.id} is used twice")
                seen.add(call.id)
                open_calls.append(call.id)
    found += [f"call {call} has no result" for call in open_calls]
    if not any(isinstance(message, UserMessage) for message in messages):
        found.append("no user message")
    return found
