"""Two people: on the roads that do not go straight, too. What is handed to a specialist, what nobody knows the outcome
of, and what was allowed before two were wanted."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from agents.letter import Kind
from agents.ports import Approver
from agents.requests import RequestInfo
from agents.runs import Received
from agents.seconds import Seat
from config.settings import Agent, Approvals
from tests.agents.kit import ASSISTANT, World, world
from tests.agents.script import say, want

BO = Approver("bo@postroom.internal", "you@postroom.internal", 2, "2")
TWO = Approvals(two=("fire", "send_mail"), second=("bo",))
MAIL = {"to": ["maya@example.org"], "subject": "Hello", "text": "Hi."}


def two_wanted(w: World, approvals: Approvals = TWO, agent: Agent = ASSISTANT) -> None:
    """From the next start on."""
    w.mail.second = BO
    w.settings = replace(w.settings, approvals=approvals, agents={**w.settings.agents, "assistant": agent})


async def approve(w: World, request: RequestInfo, seat: Seat, **more: object) -> str:
    by = BO.address if seat is Seat.SECOND else BO.owner
    return (await w.decide(request, "approve", seat=seat, by=by, **more)).outcome


async def begun(w: World) -> tuple[Received, RequestInfo]:
    """A call that both approved and that is held in the middle of what it does, and the request for it."""
    two_wanted(w)
    await w.restart()
    w.effects.hold["fire"] = asyncio.Event()
    got = await w.send()
    request = await w.request()
    for seat in Seat:
        await approve(w, request, seat)
    await w.until(lambda: w.effects.seen or None)
    return got, request


def asked_second(w: World) -> list[str]:
    """The requests that the second approver was asked about."""
    return [row["request"] for row in w.rows("SELECT request FROM seconds ORDER BY request")]


@pytest.mark.parametrize("of_agent", [True, False])
async def test_what_an_agent_hands_on_stays_under_its_rule(tmp_path: Path, of_agent: bool) -> None:
    """Two steps down, and though the specialist itself is under no rule."""
    scripts = {
        "Assistant": [say("", want("delegate", skill="summariser", task="Sum it up.")), say("Done.")],
        "Summariser": [say("", want("fire", what="a")), say("Fired.")],
    }
    async with world(tmp_path, scripts) as w:
        own = replace(ASSISTANT, two=("fire",), second=("bo",)) if of_agent else ASSISTANT
        two_wanted(w, Approvals() if of_agent else TWO, own)
        await w.restart()
        got = await w.send()
        request = await w.request()
        assert asked_second(w) == [request.id]
        assert await approve(w, request, Seat.OWNER) == "half"
        await w.restart()
        assert w.effects.seen == []
        assert await approve(w, request, Seat.SECOND) == "approved"
        assert await w.ended(got.run) == "done"
        assert w.effects.seen == ["fire:a"]


async def test_what_nobody_knows_the_outcome_of_is_done_again_by_both_only(tmp_path: Path) -> None:
    async with world(tmp_path, [say("", want("fire", what="a")), say("Done.")]) as w:
        got, request = await begun(w)
        del w.effects.hold["fire"]
        await w.restart()
        doubt = await w.request()
        assert doubt.view.unknown_outcome
        assert doubt.view.two == (BO.owner, BO.address)
        assert asked_second(w) == sorted([request.id, doubt.id])
        assert await approve(w, doubt, Seat.SECOND) == "half"
        assert (await w.decide(request, "approve")).outcome == "already"
        assert w.effects.seen == ["fire:a"]
        assert await approve(w, doubt, Seat.OWNER) == "approved"
        assert await w.ended(got.run) == "done"
        assert w.effects.seen == ["fire:a", "fire:a"]


async def test_a_repeat_that_is_taken_back_says_nothing_of_the_first_time(tmp_path: Path) -> None:
    """What nobody knows is not told as not done, though the repeat of it is not."""
    script = [say("", want("fire", what="a")), say("Done.")]
    async with world(tmp_path, script) as w:
        got, _ = await begun(w)
        two_wanted(w, replace(TWO, grace_seconds=60))
        await w.restart()
        doubt = await w.request()
        for seat in Seat:
            await approve(w, doubt, seat)
        told = await w.decide(doubt, "stop", seat=Seat.SECOND, by=BO.address)
        assert told.text == "It was taken back: it is not done again."
        assert await w.ended(got.run) == "done"
        assert w.effects.seen == ["fire:a"]
        [call] = w.rows("SELECT state, result FROM tool_calls")
        assert call["state"] == "skipped"
        assert "not known whether this happened" in call["result"]


@pytest.mark.parametrize("seat", list(Seat))
async def test_either_may_say_that_it_happened(tmp_path: Path, seat: Seat) -> None:
    """Nothing is done by that."""
    async with world(tmp_path, [say("", want("fire", what="a")), say("Done.")]) as w:
        got, _ = await begun(w)
        await w.restart()
        await w.decide(await w.request(), "done", seat=seat)
        assert await w.ended(got.run) == "done"
        assert w.effects.seen == ["fire:a"]


async def test_a_standing_approval_from_before_does_not_do_for_two(tmp_path: Path) -> None:
    script = [say("", want("send_mail", **MAIL)), say("Done.")]
    async with world(tmp_path, script) as w:
        first = await w.send()
        assert await approve(w, await w.request(), Seat.OWNER, always=True) == "approved"
        assert await w.ended(first.run) == "done"
        second = await w.send(thread="t2")
        assert await w.ended(second.run) == "done"
        assert len(w.relay.taken) == 2, "it holds for one person"
        two_wanted(w)
        await w.restart()
        third = await w.send(thread="t3")
        request = await w.request()
        assert await approve(w, request, Seat.OWNER) == "half"
        assert len(w.relay.taken) == 2
        assert await approve(w, request, Seat.SECOND) == "approved"
        assert await w.ended(third.run) == "done"
        assert len(w.relay.taken) == 3


async def test_one_approval_from_before_two_were_wanted_is_asked_about_again(tmp_path: Path) -> None:
    """It waits for its time of grace, or for a worker, when the settings change."""
    script = [say("", want("fire", what="a")), say("Done.")]
    async with world(tmp_path, script, approvals=Approvals(grace_seconds=60)) as w:
        got = await w.send()
        assert await approve(w, await w.request(), Seat.OWNER) == "approved"
        two_wanted(w)
        await w.restart()
        w.clock.advance(seconds=120)
        await w.runtime.tick()
        again = await w.request()
        assert again.revision == 2
        assert w.effects.seen == []
        assert asked_second(w) == [again.id]
        assert await approve(w, again, Seat.OWNER) == "half"
        assert w.effects.seen == []
        assert await approve(w, again, Seat.SECOND) == "approved"
        assert await w.ended(got.run) == "done"
        assert w.effects.seen == ["fire:a"]
        assert [mail.request.two for mail in w.mails(Kind.REQUEST) if mail.request][-1] != ()


async def test_a_request_from_before_is_decided_by_one_and_then_asked_of_both(tmp_path: Path) -> None:
    async with world(tmp_path, [say("", want("fire", what="a")), say("Done.")]) as w:
        got = await w.send()
        old = await w.request()
        two_wanted(w)
        await w.restart()
        await approve(w, old, Seat.OWNER)
        again = await w.request()
        assert (again.revision, asked_second(w), w.effects.seen) == (2, [again.id], [])
        for seat in Seat:
            await approve(w, again, seat)
        assert await w.ended(got.run) == "done"
        assert w.effects.seen == ["fire:a"]
