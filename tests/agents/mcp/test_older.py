"""Servers of the older protocol that ask within a call: the question is a mail, the call is made once."""

import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agents.mcp.file import ServerConfig
from agents.tool import Risk
from tests.agents.mcp.kit import Owned, lines, pids, small
from tests.agents.mcp.test_runtime import DONE, Setting
from tests.agents.script import Turn, say, want
from tests.fakes.small_mcp import GIVEN_UP

NEVER = Risk.SEND_OUT
"""A tool that is not known to be repeatable."""


@asynccontextmanager
async def setting(home: Path, turns: Sequence[Turn], more: Sequence[str] = ("--older",)) -> AsyncIterator[Setting]:
    made = Setting(home, turns, None)
    await made.open(small(made.log, *more, name="tiny"))
    try:
        yield made
    finally:
        await made.close()


async def approved(made: Setting, tool: str, risk: Risk) -> str | None:
    """A run that has called the tool, which the user let it."""
    await made.approve(tool, risk)
    run = (await made.world.send()).run
    if risk is not Risk.READ:
        await made.world.decide(await made.world.request(), "approve")
    return run


def parked(made: Setting) -> int:
    assert made.servers is not None
    owner = made.servers.owner("tiny")
    assert owner is not None
    return len(owner._talks.held)


@pytest.mark.parametrize("protocol", [("--older",), ()])
@pytest.mark.parametrize(
    ("verdict", "words", "gave", "effects"),
    [
        ("answer", "red", "painted red", ["prime", "paint red"]),
        ("reject", "", "nothing painted, the answer was decline", ["prime"]),
    ],
)
async def test_a_question_is_a_mail_and_the_call_is_made_once(
    tmp_path: Path, protocol: tuple[str, ...], verdict: str, words: str, gave: str, effects: list[str]
) -> None:
    """Whichever protocol it is: the same mail, the same answers, and each effect once."""
    async with setting(tmp_path, [say("", want("tiny__prime")), DONE], protocol) as made:
        run = await approved(made, "prime", NEVER)
        question = await made.world.request()
        assert question.kind == "question"
        assert made.world.state(run) == "waiting_user"
        assert (question.view.question or "").startswith(
            "The MCP server tiny asks, before its tool goes on:\n\nWhich colour?"
        )
        assert lines(made.log) == ["prime"]
        await made.world.decide(question, verdict, text=words)
        assert await made.world.ended(run) == "done"
        assert gave in made.results()[0].text
        assert lines(made.log) == effects


async def test_two_questions_of_one_call_come_one_after_the_other(tmp_path: Path) -> None:
    async with setting(tmp_path, [say("", want("tiny__draw")), DONE]) as made:
        run = await approved(made, "draw", Risk.READ)
        for words in ("red", "circle"):
            await made.world.decide(await made.world.request(), "answer", text=words)
            await made.world.until(lambda words=words: words in str(made.world.calls(run)) or None)  # type: ignore[misc]  # the loop's own value
        assert await made.world.ended(run) == "done"
        assert lines(made.log) == ["draw red circle"]
        assert parked(made) == 0


async def test_a_stop_ends_the_open_call_at_its_server(tmp_path: Path) -> None:
    async with setting(tmp_path, [say("", want("tiny__prime")), DONE]) as made:
        run = await approved(made, "prime", NEVER)
        await made.world.request()
        assert parked(made) == 1
        await made.world.word("stop")
        assert await made.world.ended(run) == "cancelled"
        assert parked(made) == 0
        assert made.servers is not None
        await made.servers.stop()
        assert lines(made.log) == ["prime", "cancelled"]


async def test_a_server_lost_before_the_answer_leaves_an_unknown_outcome_and_is_not_called_again(
    tmp_path: Path,
) -> None:
    """It had primed before it asked: only the user may say that it is to begin again, and then it asks again."""
    async with setting(tmp_path, [say("", want("tiny__prime")), DONE]) as made:
        world = made.world
        run = await approved(made, "prime", NEVER)
        question = await world.request()
        os.kill(pids(made.log)[-1], signal.SIGKILL)
        await world.until(lambda: parked(made) == 0 or None)
        await world.decide(question, "answer", text="red")
        unknown = await world.request()
        assert unknown.kind == "unknown"
        assert lines(made.log) == ["prime"]
        await world.decide(unknown, "approve")
        again = await world.request()
        assert again.kind == "question"
        await world.decide(again, "answer", text="blue")
        assert await world.ended(run) == "done"
        assert lines(made.log) == ["prime", "prime", "paint blue"]


async def test_a_call_that_may_be_repeated_is_made_anew_and_hears_the_same_answer(tmp_path: Path) -> None:
    async with setting(tmp_path, [say("", want("tiny__draw")), DONE]) as made:
        run = await approved(made, "draw", Risk.READ)
        question = await made.world.request()
        os.kill(pids(made.log)[-1], signal.SIGKILL)
        await made.world.until(lambda: parked(made) == 0 or None)
        await made.world.decide(question, "answer", text="red")
        second = await made.world.until(lambda: _shape(made))
        await made.world.decide(second, "answer", text="circle")
        assert await made.world.ended(run) == "done"
        assert lines(made.log) == ["draw red circle"]


def _shape(made: Setting) -> str | None:
    found = made.world.db.read(lambda tx: made.world.runtime.waiting(tx, 1))
    return next((one.id for one in found if "Which shape?" in (one.view.question or "")), None)


async def test_an_answer_that_comes_too_late_is_told_with_what_the_server_gave(tmp_path: Path) -> None:
    async with setting(tmp_path, [say("", want("tiny__hasty")), DONE]) as made:
        run = await approved(made, "hasty", NEVER)
        found: str | bool = await made.world.until(lambda: _question(made) or made.world.state(run) == "done" or None)
        if not isinstance(found, bool):
            await made.world.decide(found, "answer", text="red")
        assert await made.world.ended(run) == "done"
        [result] = made.results()
        assert GIVEN_UP in result.text
        assert not result.ok
        assert isinstance(found, bool) or "the server had given up waiting by then" in result.text


def _question(made: Setting) -> str | None:
    found = made.world.db.read(lambda tx: made.world.runtime.waiting(tx, 1))
    return next((one.id for one in found if one.kind == "question"), None)


async def test_a_question_that_could_be_of_two_calls_is_declined(tmp_path: Path) -> None:
    """The older protocol does not say which call asks; an answer must not reach the wrong one."""
    turns = [say("", want("tiny__draw"), want("tiny__draw", x=1)), DONE]
    async with setting(tmp_path, turns) as made:
        run = await approved(made, "draw", Risk.READ)
        while made.world.state(run) != "done":
            found: str | bool = await made.world.until(
                lambda: _question(made) or made.world.state(run) == "done" or None
            )
            if isinstance(found, str):
                await made.world.decide(found, "answer", text="red")
        assert len(made.results()) == 2


async def test_a_restart_while_the_call_is_open_asks_about_it(tmp_path: Path) -> None:
    async with setting(tmp_path, [say("", want("tiny__prime")), DONE]) as made:
        run = await approved(made, "prime", NEVER)
        question = await made.world.request()
        assert made.servers is not None
        await made.servers.stop()
        await made.world.runtime.stop(grace=0)
        await made.world.db.close()
        await made.open(small(made.log, "--older", name="tiny"))
        await made.world.decide(question.id, "answer", text="red")
        unknown = await made.world.request()
        assert unknown.kind == "unknown"
        await made.world.decide(unknown, "done")
        assert await made.world.ended(run) == "done"
        assert lines(made.log).count("prime") == 1


async def test_an_owner_that_is_stopped_with_a_call_open_stops(tmp_path: Path) -> None:
    config: ServerConfig = small(tmp_path / "log", "--older")
    made = Owned(config)
    await made.wanted("paint")
    made.owner.stop()
    made.task.cancel()
    await made.ends()
    assert lines(tmp_path / "log") == ["cancelled"]
