"""Models that stand in for others: when, in which order, and never once an answer was taken that may have an effect."""

import dataclasses
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agents.letter import Kind
from agents.llm import ModelError, ModelFault, ModelReply, ModelRequest
from tests.agents.kit import World
from tests.agents.script import ScriptedModel, Turn, say, want

LOOK = say("", want("look", what="a"))


@asynccontextmanager
async def chained(home: Path, scripts: Mapping[str, Sequence[Turn]]) -> AsyncIterator[World]:
    """A world whose assistant has the first model of `scripts` and falls back on the others, in their order."""
    first, *others = scripts
    models = {tag: ScriptedModel({"": turns}, label=f"label/{tag}") for tag, turns in scripts.items()}
    made = World(home, models[first])
    agent = dataclasses.replace(made.settings.agents["assistant"], fallbacks=tuple(others))
    made.settings = dataclasses.replace(made.settings, agents={**made.settings.agents, "assistant": agent})
    made.others = {tag: models[tag] for tag in others}
    await made.open()
    try:
        yield made
    finally:
        await made.close()


def asked(w: World, tag: str) -> int:
    model = w.model if tag == "one" else w.others[tag]
    assert isinstance(model, ScriptedModel)
    return len(model.requests)


@pytest.mark.parametrize(
    "kind", [ModelFault.AUTH, ModelFault.QUOTA, ModelFault.GONE, ModelFault.RATE, ModelFault.TIMEOUT]
)
async def test_a_model_that_cannot_be_used_is_replaced_at_once(tmp_path: Path, kind: ModelFault) -> None:
    scripts: dict[str, Sequence[Turn]] = {"one": [ModelError(kind, "no")], "two": [LOOK, say("Done by two.")]}
    async with chained(tmp_path, scripts) as w:
        got = await w.send()
        assert await w.ended(got.run) == "done"
        assert (asked(w, "one"), asked(w, "two")) == (1, 2)
        [mail] = w.mails()
        assert mail.body == "Done by two."
        assert mail.footer is not None
        assert mail.footer.model == "label/one, label/two"


async def test_activity_tells_who_failed_and_who_stood_in(tmp_path: Path) -> None:
    scripts: dict[str, Sequence[Turn]] = {"one": [ModelError(ModelFault.AUTH, "401")], "two": [say("Done.")]}
    async with chained(tmp_path, scripts) as w:
        await w.ended((await w.send()).run)
        [activity] = w.mails(Kind.ACTIVITY)
        assert activity.activity is not None
        told = [line.text for line in activity.activity.lines]
        assert told[1:3] == [
            "label/one: the model provider refused the key (401)",
            "label/two stands in for label/one",
        ]


@pytest.mark.parametrize("kind", [ModelFault.REFUSED, ModelFault.CONTEXT])
async def test_a_failure_that_another_model_would_share_is_no_reason(tmp_path: Path, kind: ModelFault) -> None:
    scripts: dict[str, Sequence[Turn]] = {"one": [ModelError(kind, "no")], "two": [say("Done.")]}
    async with chained(tmp_path, scripts) as w:
        assert await w.ended((await w.send()).run) == "failed"
        assert asked(w, "two") == 0


async def test_what_passes_by_itself_is_waited_for_first(tmp_path: Path) -> None:
    scripts: dict[str, Sequence[Turn]] = {"one": [ModelError(ModelFault.TRANSIENT, "503")], "two": [say("Done.")]}
    async with chained(tmp_path, scripts) as w:
        got = await w.send()
        for tries in (1, 2, 3):
            await w.wait_for(got.run, "waiting_time")
            assert (asked(w, "one"), asked(w, "two")) == (tries, 0)
            w.clock.advance(seconds=60)
            await w.runtime.tick()
            await w.until(lambda tries=tries: asked(w, "one") > tries or asked(w, "two") or None)  # type: ignore[misc]  # the loop's own value
        assert await w.ended(got.run) == "done"
        assert (asked(w, "one"), asked(w, "two")) == (4, 1)


async def test_the_next_in_order_takes_over_for_the_rest_of_the_run_and_the_last_failure_names_all(
    tmp_path: Path,
) -> None:
    scripts: dict[str, Sequence[Turn]] = {
        "one": [ModelError(ModelFault.AUTH, "401")],
        "two": [LOOK, ModelError(ModelFault.QUOTA, "no money")],
        "three": [ModelError(ModelFault.GONE, "404")],
    }
    async with chained(tmp_path, scripts) as w:
        got = await w.send()
        assert await w.ended(got.run) == "failed"
        assert (asked(w, "one"), asked(w, "two"), asked(w, "three")) == (1, 2, 1)
        [mail] = w.mails()
        assert "label/two: the model provider says that the account's quota is used up (no money)." in mail.body
        assert "label/three: the model provider does not know this model (404)." in mail.body


@pytest.mark.parametrize("tool", ["note", "fire", "send_mail", "file"])
async def test_never_after_an_answer_that_may_have_an_effect(tmp_path: Path, tool: str) -> None:
    args: dict[str, object] = {"to": ["a@example.org"], "subject": "x", "text": "y"} if tool == "send_mail" else {}
    wish = say("", want(tool, **(args or {"what": "a"})))
    scripts: dict[str, Sequence[Turn]] = {"one": [wish, ModelError(ModelFault.AUTH, "401")], "two": [say("Done.")]}
    async with chained(tmp_path, scripts) as w:
        got = await w.send()
        if tool != "note":
            await w.decide(await w.request(), "reject")
        assert await w.ended(got.run) == "failed"
        assert asked(w, "two") == 0


@pytest.mark.parametrize(("tool", "outcome"), [("note", "failed"), ("look", "done")])
async def test_nor_after_a_specialist_has_acted_for_it(tmp_path: Path, tool: str, outcome: str) -> None:
    task = say("", want("delegate", skill="summariser", task="Sum it up."))

    def first(request: ModelRequest) -> ModelReply:
        return say("", want(tool, what="a")) if "You are Summariser" in request.system else task

    def then(request: ModelRequest) -> ModelReply:
        if "You are Summariser" in request.system:
            return say("In short.")
        raise ModelError(ModelFault.AUTH, "401")

    async with chained(tmp_path, {"one": [first, then], "two": [say("Done by two.")]}) as w:
        got = await w.send()
        assert await w.ended(got.run) == outcome
        assert asked(w, "two") == (1 if outcome == "done" else 0)


async def test_a_provider_that_asked_for_a_pause_is_passed_over_by_later_runs(tmp_path: Path) -> None:
    scripts: dict[str, Sequence[Turn]] = {"one": [ModelError(ModelFault.RATE, "slow", 600)], "two": [say("Done.")]}
    async with chained(tmp_path, scripts) as w:
        for number in (1, 2, 3):
            got = await w.send(thread=f"thread-{number}")
            assert await w.ended(got.run) == "done"
            w.clock.advance(seconds=250)
        assert (asked(w, "one"), asked(w, "two")) == (1, 3)


async def test_a_specialist_has_the_stand_ins_of_its_agent(tmp_path: Path) -> None:
    task = say("", want("delegate", skill="summariser", task="Sum it up."))

    def unless_child(request: ModelRequest) -> ModelReply:
        if "You are Summariser" in request.system:
            raise ModelError(ModelFault.AUTH, "401")
        return task

    scripts: dict[str, Sequence[Turn]] = {"one": [unless_child, say("Done.")], "two": [say("In short.")]}
    async with chained(tmp_path, scripts) as w:
        got = await w.send()
        assert await w.ended(got.run) == "done"
        assert w.calls(got.run)[0]["result"] == "In short."


async def test_a_model_that_was_picked_by_its_tag_stays_for_the_thread(tmp_path: Path) -> None:
    scripts: dict[str, Sequence[Turn]] = {"one": [say("From one.")], "two": [say("From two.")]}
    async with chained(tmp_path, scripts) as w:
        for model, thread in (("two", "thread-1"), (None, "thread-1"), (None, "thread-2"), ("demo", "thread-1")):
            await w.ended((await w.send(model=model, thread=thread)).run)
        await w.ended((await w.send(thread="thread-1")).run)
        assert [mail.body for mail in w.mails()] == ["From two.", "From two.", "From one.", "From one.", "From one."]


@pytest.mark.parametrize("to", ["assistant", "summariser"])
async def test_a_specialist_without_a_model_has_that_of_the_agent_and_never_the_demo(tmp_path: Path, to: str) -> None:
    """Delegated to, or written to directly: then that of the first agent of the settings."""
    turns: dict[str, Sequence[Turn]] = {
        "Assistant": [say("", want("delegate", skill="summariser", task="Sum it up.")), say("Done.")],
        "Summariser": [say("Three points.")],
    }
    good, demo = ScriptedModel(turns, label="label/good"), ScriptedModel({"": []}, label="label/demo")
    w = World(tmp_path, demo)
    agents = {name: dataclasses.replace(agent, model="good") for name, agent in w.settings.agents.items()}
    w.settings, w.others = dataclasses.replace(w.settings, agents=agents), {"good": good}
    await w.open()
    try:
        assert await w.ended((await w.send(agent=to)).run) == "done"
        assert demo.requests == []
        assert {mail.footer.model for mail in w.mails(Kind.RESULT) if mail.footer} == {"label/good"}
    finally:
        await w.close()
