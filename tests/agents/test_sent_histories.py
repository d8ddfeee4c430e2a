"""Every history that leaves for a model is valid, in our form and in the provider's, whatever happens to the run.

Random models, stops, restarts, failures, fallbacks and summaries; each request that a model was given is looked at.
"""

import random
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from agents import compact, history
from agents.letter import Origin
from agents.llm import (
    AssistantMessage,
    Message,
    ModelError,
    ModelFault,
    ModelReply,
    ModelRequest,
    ResultMessage,
    SentCall,
    UserMessage,
)
from agents.models.litellm_provider import to_messages
from agents.tool import Risk
from agents.toolbox import Toolbox
from tests.agents.kit import Doing, World, toolbox
from tests.agents.script import ScriptedModel, say, want
from tests.agents.test_random import act, babble, wind_up

ROUNDS = 10


def wire_faults(request: ModelRequest) -> list[str]:
    """What a provider would refuse: roles that do not take turns, calls without their one result, results of none."""
    found: list[str] = []
    open_calls: list[str] = []
    before = ""
    for message in to_messages(request):
        role = message["role"]
        if role == "tool":
            if message["tool_call_id"] not in open_calls:
                found.append("a result that no call before it wants")
            else:
                open_calls.remove(message["tool_call_id"])
            continue
        found += [f"call {call} has no result" for call in open_calls]
        open_calls = [call["id"] for call in message.get("tool_calls", ())]
        if role == before and role != "system" and not (role == "assistant" and before == "assistant" and open_calls):
            found.append(f"two turns of {role} in a row")
        if role == "assistant" and not message.get("content") and not open_calls:
            found.append("an empty turn")
        before = role if not open_calls else "tool"
    return found + [f"call {call} has no result" for call in open_calls]


def talk(dice: random.Random) -> Callable[[ModelRequest], ModelReply]:
    """A model that wants anything, and sums up, or fails to, when it is asked to."""
    speak = babble(dice)

    def reply(request: ModelRequest) -> ModelReply:
        if request.system != compact.SYSTEM:
            return say("", want("look", what=str(dice.random()))) if dice.random() < 0.6 else speak(request)
        if dice.random() < 0.3:
            raise ModelError(dice.choice([ModelFault.CONTEXT, ModelFault.TRANSIENT, ModelFault.REFUSED]), "no")
        return say(dice.choice(["", "A summary.", "x" * 500]))

    return reply


@pytest.mark.parametrize("part", range(2))
async def test_every_request_is_valid(part: int, count: Callable[[int, int], int], tmp_path: Path) -> None:
    lives = count(6, 150)
    compacted = 0
    for seed in range(part * lives, (part + 1) * lives):
        home = tmp_path / str(seed)
        home.mkdir()
        compacted += await live(home, seed)
    assert compacted, "no life was long enough for a summary: this test shows less than it says"


async def live(home: Path, seed: int) -> int:
    """One life; returns how many summaries were asked for."""
    dice = random.Random(1000 + seed)
    model = ScriptedModel({"": [talk(dice)]}, window=6_000 if seed % 2 else 100_000)
    other = ScriptedModel({"": [talk(dice)]}, label="other", window=6_000)
    w = World(home, model)
    agent = w.settings.agents["assistant"]
    agents = {**w.settings.agents, "assistant": replace(agent, fallbacks=("other",))}
    w.settings = replace(w.settings, agents=agents, limits=replace(w.settings.limits, model_calls=60, tool_calls=99))
    w.others = {"other": other}
    long = Doing(w.effects, "look", Risk.READ, result="The river is wide. " * 120)
    w.tools = Toolbox([lambda: {**toolbox(w.effects).all()[0], "look": long}.values()])
    await w.open()
    try:
        for _ in range(ROUNDS):
            await act(w, dice)
            if dice.random() < 0.7:
                await w.runtime.idle()
        await wind_up(w)
    finally:
        await w.close()
    asked = [*model.requests, *other.requests]
    for request in asked:
        assert history.faults(request.messages) == [], f"seed {seed}"
        assert wire_faults(request) == [], f"seed {seed}"
    return sum(request.system == compact.SYSTEM for request in asked)


@pytest.mark.parametrize("seed", range(3))
async def test_after_a_stop_nothing_is_asked_and_nothing_done(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    model = ScriptedModel({"": [talk(dice)]}, window=6_000)
    w = await World(tmp_path, model).open()
    try:
        for number in range(6):
            await w.send(thread=f"thread-{number % 3 + 1}", origin=dice.choice([Origin.TYPED, Origin.DROPPED]))
            await act(w, dice)
        for thread in ("thread-1", "thread-2", "thread-3"):
            for account in (1, 2):
                await w.db.write(partial(w.runtime.cancel_thread, account=account, thread=thread, why="stopped"))
        await w.until(lambda: not w.rows("SELECT 1 FROM runs WHERE ended IS NULL") or None)
        await w.runtime.idle()
        before = (len(model.requests), list(w.effects.seen), len(w.relay.taken))
        w.clock.advance(hours=50)
        await w.runtime.tick()
        await w.restart()
        await w.runtime.idle()
        assert (len(model.requests), list(w.effects.seen), len(w.relay.taken)) == before
    finally:
        await w.close()


def test_a_broken_history_would_be_noticed() -> None:
    call = SentCall("c", "look", {})
    broken: list[tuple[Message, ...]] = [
        (UserMessage("a"), AssistantMessage("", (call,))),
        (UserMessage("a"), ResultMessage("c", "look", "x")),
        (UserMessage("a"), AssistantMessage("", (call,)), UserMessage("b"), ResultMessage("c", "look", "x")),
    ]
    for messages in broken:
        assert wire_faults(ModelRequest("s", messages, (), 1, "m")), messages
        assert history.faults(messages), messages
