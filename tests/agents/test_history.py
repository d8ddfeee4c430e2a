"""Every history that a model is given is valid, whatever models and users do."""

import asyncio
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from agents import history
from agents.llm import (
    AssistantMessage,
    Message,
    ModelReply,
    ModelRequest,
    ResultMessage,
    SentCall,
    UserMessage,
    WantedCall,
)
from config.settings import Limits
from tests.agents.kit import world
from tests.agents.script import say, want

TOOLS = ["look", "web", "file", "fire", "note", "ask_user", "delegate", "send_mail", "no_such_tool", "read_result", ""]
ARGS = [
    "{}",
    "",
    "{",
    "[]",
    "null",
    '{"what": "a"}',
    '{"what": 1}',
    '{"question": "Why?"}',
    '{"ref": "x"}',
    "\ud800",
    '{"what": "\\ud800"}',
]
CALLS = st.lists(
    st.builds(WantedCall, st.sampled_from(["", "a", "a", "b"]), st.sampled_from(TOOLS), st.sampled_from(ARGS)),
    max_size=4,
)
REPLIES = st.lists(
    st.builds(lambda text, calls: ModelReply(text, tuple(calls)), st.sampled_from(["", "Hm."]), CALLS),
    min_size=1,
    max_size=5,
)
VERDICTS = st.lists(
    st.sampled_from(["approve", "reject", "respond", "answer", "letter", "expire"]), min_size=1, max_size=6
)


@settings(max_examples=60)
@given(REPLIES, VERDICTS)
def test_every_request_has_a_valid_history(replies: list[ModelReply], verdicts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as home:
        asyncio.run(_play(Path(home), replies, verdicts))


async def _play(home: Path, replies: list[ModelReply], verdicts: list[str]) -> None:
    found: list[str] = []

    def check(index: int) -> object:
        def turn(request: ModelRequest) -> ModelReply:
            found.extend(history.faults(request.messages))
            return replies[index] if index < len(replies) else say("Done.")

        return turn

    turns = [check(index) for index in range(len(replies) + 1)]
    async with world(home, {"Assistant": turns, "Summariser": [say("Short.")]}, limits=Limits(model_calls=20)) as w:  # type: ignore[dict-item]  # turns
        got = await w.send()
        for verdict in verdicts * 4:
            state = await w.wait_for(got.run, *ENDS, *WAITS)
            if state in ENDS:
                break
            for request in w.db.read(lambda tx: w.runtime.waiting(tx, 1)):
                if verdict not in ("letter", "expire"):
                    await w.decide(request, verdict, text="because")
            if verdict == "letter":
                await w.send("and another thing")
            if verdict == "expire":
                w.clock.advance(hours=80)
                await w.runtime.tick()
            await w.runtime.idle()
        assert found == []


ENDS = ("done", "failed", "cancelled", "stuck", "expired")
WAITS = ("waiting_approval", "waiting_user", "waiting_time", "waiting_budget", "waiting_unknown")


def said(*calls: str) -> AssistantMessage:
    return AssistantMessage("", tuple(SentCall(call, "look", {}) for call in calls))


def result(call: str) -> ResultMessage:
    return ResultMessage(call, "look", "ok")


def test_the_validator_knows_what_is_wrong() -> None:
    user = UserMessage("hi")
    good: list[Message] = [user, said("a", "b"), result("b"), result("a"), said()]
    assert history.faults(good) == []
    assert history.faults([said()]) == ["no user message"]
    assert history.faults([user, said("a")]) == ["call a has no result"]
    assert history.faults([user, said("a"), user, result("a")]) == [
        "call a has no result",
        "result for a, which no call of the turn before it wants",
    ]
    assert history.faults([user, said("a"), result("a"), result("a")]) == [
        "result for a, which no call of the turn before it wants"
    ]
    assert history.faults([user, said("a"), result("a"), said("a"), result("a")]) == ["call id a is used twice"]


async def test_a_repeated_answer_does_not_break_it(tmp_path: Path) -> None:
    async with world(tmp_path, [say("Let me see.", want("look", what="a")), say("Done.")]) as w:
        assert await w.ended((await w.send()).run) == "done"
