"""Random lives of a data folder: letters, decisions, words, time, restarts, failures in any order; the invariants hold
after each.
"""

import random
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from pathlib import Path

import pytest

from agents.letter import Origin
from agents.llm import ModelError, ModelFault, ModelReply, ModelRequest, Price, WantedCall
from config.settings import Limits
from tests.agents.invariants import broken
from tests.agents.kit import World
from tests.agents.script import ScriptedModel, say, want

VERDICTS = ["approve", "approve", "approve", "reject", "respond", "answer", "edit", "done", "skip"]
WORDS = ["stop", "retry", "continue", "status", "raise to 2 EUR"]
FATES = ["ok", "ok", "ok", "connect", "refuse4", "refuse5", "drop"]
ROUNDS = 14


def babble(dice: random.Random) -> Callable[[ModelRequest], ModelReply]:
    """A model that wants anything."""

    def speak(request: ModelRequest) -> ModelReply:
        roll = dice.random()
        if roll < 0.08:
            raise ModelError(dice.choice(list(ModelFault)), "no")
        if roll < 0.14:
            return say("")
        if roll < 0.4:
            return say("Done.")
        names = ["look", "web", "file", "fire", "note", "file"]
        calls = [want(dice.choice(names), what=dice.choice("abc")) for _ in range(dice.randint(1, 3))]
        if dice.random() < 0.3:
            calls.append(want("delegate", skill="summariser", task=dice.choice("xyz")))
        if dice.random() < 0.3:
            calls.append(want("ask_user", question="Why?"))
        if dice.random() < 0.3:
            calls.append(want("send_mail", to=["maya@example.org"], subject=dice.choice("st"), text="Hi."))
        if dice.random() < 0.1:
            calls.append(WantedCall("", dice.choice(["look", "nothing"]), "{"))
        return say("", *calls)

    return speak


@pytest.mark.parametrize("part", range(4))
async def test_random_lives(part: int, count: Callable[[int, int], int], tmp_path: Path) -> None:
    lives = count(10, 250)
    for seed in range(part * lives, (part + 1) * lives):
        home = tmp_path / str(seed)
        home.mkdir()
        await live(home, seed)


async def live(home: Path, seed: int) -> None:
    dice = random.Random(seed)
    price = Price(Decimal(10), Decimal(10)) if seed % 2 else None
    model = ScriptedModel({"": [babble(dice)]}, price=price)
    limits = Limits(model_calls=12, tool_calls=25, cost_run_eur=0.4, run_days=3, runs_per_agent=3)
    w = await World(home, model, limits).open()
    try:
        for _ in range(ROUNDS):
            await act(w, dice)
            if dice.random() < 0.5:
                await w.runtime.idle()
            assert broken(w, ended=False) == [], f"seed {seed}"
        await wind_up(w)
        assert broken(w, ended=True) == [], f"seed {seed}"
    finally:
        await w.close()


async def act(w: World, dice: random.Random) -> None:
    """Something happens."""
    what = dice.choice(["letter", "letter", "decide", "decide", "decide", "word", "time", "restart", "relay"])
    thread, account = f"thread-{dice.randint(1, 3)}", dice.choice([1, 1, 1, 2])
    if what == "letter":
        await w.send(thread=thread, account=account, origin=dice.choice([Origin.TYPED, Origin.TYPED, Origin.DROPPED]))
    elif what == "decide":
        for request in w.db.read(lambda tx: w.runtime.waiting(tx, account)):
            items = (dice.choice(request.items),) if dice.random() < 0.3 else ()
            more = {"items": items, "text": "because", "always": dice.random() < 0.2, "edits": {"what": "d"}}
            await w.decide(request, dice.choice(VERDICTS), account=account, **more)
    elif what == "word":
        await w.word(dice.choice(WORDS), thread, account)
    elif what == "time":
        w.clock.advance(hours=dice.choice([0.001, 0.1, 1, 30, 80]))
        await w.runtime.tick()
    elif what == "restart":
        await w.restart()
    else:
        w.relay.fate = dice.choice(FATES)


async def wind_up(w: World) -> None:
    """Stop everything, in both accounts."""
    for account in (1, 2):
        for thread in ("thread-1", "thread-2", "thread-3"):
            await w.db.write(partial(w.runtime.cancel_thread, account=account, thread=thread, why="the end"))
    await w.until(lambda: not w.rows("SELECT 1 FROM runs WHERE ended IS NULL") or None)
    await w.runtime.idle()
    await w.until(lambda: not w.rows("SELECT 1 FROM outbox WHERE state IN ('sending', 'data_sent')") or None)
