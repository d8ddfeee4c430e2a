"""Failure cases C: what models do wrong. Each test is named with its number."""

from pathlib import Path

import pytest

from agents import history
from agents.letter import Kind
from agents.llm import AssistantMessage, ModelError, ModelFault, ModelReply, ResultMessage, UserMessage, WantedCall
from config.settings import Limits
from tests.agents.kit import World, world
from tests.agents.script import ScriptedModel, say, want


def asked(w: World) -> ScriptedModel:
    assert isinstance(w.model, ScriptedModel)
    return w.model


def last_results(w: World) -> list[ResultMessage]:
    return [message for message in asked(w).requests[-1].messages if isinstance(message, ResultMessage)]


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        ('{"what": "a"', "not valid JSON"),
        ("[1, 2]", "one JSON object"),
        ('{"what": NaN}', "not valid JSON"),
        ('{"what": 3}', "what: string is wanted, not a number"),
        ('{"wat": "a"}', "what: is missing; wat: is not an argument"),
        ("", "what: is missing"),
    ],
)
async def test_case_37_arguments_that_cannot_be_used_are_told_and_the_history_stays_clean(
    tmp_path: Path, raw: str, told: str
) -> None:
    bad = say("", WantedCall("", "look", raw))
    async with world(tmp_path, [bad, say("", want("look", what="a")), say("Done.")]) as w:
        got = await w.send()
        assert await w.ended(got.run) == "done"
        assert w.effects.seen == ["look:a"]
        first = w.calls(got.run)[0]
        assert (first["state"], first["fault"], first["raw_args"]) == ("invalid", "bad_args", raw)
        assert told in first["result"]
        for request in asked(w).requests:
            assert history.faults(request.messages) == []


async def test_case_37_the_model_never_sees_its_broken_arguments_again(tmp_path: Path) -> None:
    async with world(tmp_path, [say("", WantedCall("x", "look", "{broken")), say("Done.")]) as w:
        await w.ended((await w.send()).run)
        [said] = [message for message in asked(w).requests[-1].messages if isinstance(message, AssistantMessage)]
        assert dict(said.calls[0].args) == {}


async def test_the_same_provider_id_twice_is_two_calls_of_ours(tmp_path: Path) -> None:
    calls = [WantedCall("call_1", "look", '{"what": "a"}'), WantedCall("call_1", "look", '{"what": "b"}')]
    async with world(tmp_path, [say("", *calls), say("Done.")]) as w:
        got = await w.send()
        await w.ended(got.run)
        assert sorted(w.effects.seen) == ["look:a", "look:b"]
        assert len({result.call_id for result in last_results(w)}) == 2


@pytest.mark.parametrize("text", ["", "  \n"])
async def test_case_39_an_empty_answer_is_asked_for_twice_then_told(tmp_path: Path, text: str) -> None:
    async with world(tmp_path, [say(text)]) as w:
        got = await w.send()
        assert await w.ended(got.run) == "failed"
        assert len(asked(w).requests) == 3
        [mail] = w.mails()
        assert mail.kind is Kind.FAILURE
        assert mail.body.startswith("Not done: The model gave no answer, 3 times in a row.")
        assert "Nothing was sent and nothing was changed." in mail.body


async def test_case_39_an_answer_after_an_empty_one_counts(tmp_path: Path) -> None:
    replies = iter([say(""), say("Done.")])

    def speak(_: object) -> ModelReply:
        return next(replies)

    async with world(tmp_path, [speak]) as w:
        got = await w.send()
        assert await w.ended(got.run) == "done"
        last = asked(w).requests[-1].messages[-1]
        assert isinstance(last, UserMessage)
        assert "empty" in last.text


async def test_case_40_calls_without_words_are_no_empty_answer(tmp_path: Path) -> None:
    turns = [say("", want("look", what=str(number))) for number in range(5)]
    async with world(tmp_path, [*turns, say("Done.")]) as w:
        got = await w.send()
        assert await w.ended(got.run) == "done"
        assert len(w.effects.seen) == 5


async def test_case_41_an_unknown_tool_is_told_with_near_names_and_the_third_ends_the_run(tmp_path: Path) -> None:
    async with world(tmp_path, [say("", want("lok", what="a"))]) as w:
        got = await w.send()
        assert await w.ended(got.run) == "stuck"
        assert len(asked(w).requests) == 3
        assert w.calls(got.run)[0]["result"].startswith('There is no tool "lok". There is: look')
        [mail] = w.mails()
        assert mail.body.startswith("Stopped, not finished: it kept asking for tools that do not exist.")


async def test_case_44_a_long_wait_is_a_row_and_the_run_goes_on_afterwards(tmp_path: Path) -> None:
    fate: list[ModelError] = [ModelError(ModelFault.RATE, "slow down", 600.0)] * 3

    def speak(_: object) -> ModelReply:
        if fate:
            raise fate.pop()
        return say("Done.")

    async with world(tmp_path, [speak]) as w:
        got = await w.send()
        for _ in range(3):
            await w.wait_for(got.run, "waiting_time")
            [row] = w.rows("SELECT wake_at FROM runs")
            assert 600_000 <= row["wake_at"] - w.clock.now() <= 900_000
            w.clock.advance(seconds=(row["wake_at"] - w.clock.now()) / 1000)
            await w.runtime.tick()
        assert await w.ended(got.run) == "done"
        assert len(asked(w).requests) == 4


async def test_case_44_patience_ends_after_a_day(tmp_path: Path) -> None:
    async with world(tmp_path, [ModelError(ModelFault.RATE, "slow down", None)], limits=Limits(model_calls=500)) as w:
        got = await w.send()
        for _ in range(60):
            state = await w.wait_for(got.run, "waiting_time", "failed")
            if state == "failed":
                break
            [row] = w.rows("SELECT wake_at FROM runs")
            w.clock.at = row["wake_at"]
            await w.runtime.tick()
        assert w.state(got.run) == "failed"
        assert 8 <= len(asked(w).requests) <= 24
        assert w.mails()[0].body.startswith("Not done: the model provider kept asking us to wait (slow down).")


async def test_case_45_all_runs_share_one_pace(tmp_path: Path) -> None:
    async with world(tmp_path, [ModelError(ModelFault.RATE, "", 30.0)]) as w:
        runs = [(await w.send(thread=f"thread-{number}")).run for number in range(10)]
        for run in runs:
            await w.wait_for(run, "waiting_time")
        first = len(asked(w).requests)
        assert first <= 2
        w.clock.advance(seconds=40)
        await w.runtime.tick()
        await w.runtime.idle()
        assert len(asked(w).requests) - first <= 2


@pytest.mark.parametrize("kind", [ModelFault.TRANSIENT, ModelFault.TIMEOUT])
async def test_case_47_one_layer_retries_with_growing_waits(tmp_path: Path, kind: ModelFault) -> None:
    async with world(tmp_path, [ModelError(kind, "503")]) as w:
        got = await w.send()
        waits = []
        for _ in range(5):
            await w.wait_for(got.run, "waiting_time")
            [row] = w.rows("SELECT wake_at FROM runs")
            waits.append((row["wake_at"] - w.clock.now()) // 1000)
            w.clock.at = row["wake_at"]
            await w.runtime.tick()
            await w.until(lambda: w.rows("SELECT 1 FROM runs WHERE updated = ?", w.clock.now()))
            await w.runtime.idle()
        assert len(asked(w).requests) == 6
        for wait, least, most in zip(waits, (1, 2, 8, 30, 900), (1, 2, 9, 36, 1080), strict=True):
            assert least <= wait <= most


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (ModelFault.AUTH, "the model provider refused the key (401)."),
        (ModelFault.QUOTA, "the model provider says that the account's quota is used up (401)."),
        (ModelFault.GONE, "the model provider does not know this model (401)."),
        (ModelFault.REFUSED, "the model provider refused the request (401)."),
    ],
)
async def test_what_no_retry_can_cure_is_told_at_once(tmp_path: Path, kind: ModelFault, told: str) -> None:
    async with world(tmp_path, [ModelError(kind, "401")]) as w:
        got = await w.send()
        assert await w.ended(got.run) == "failed"
        assert len(asked(w).requests) == 1
        assert told in w.mails()[0].body


async def test_case_49_a_history_that_is_too_long_is_shortened_not_lost(tmp_path: Path) -> None:
    def grumble(request: object) -> ModelReply:
        size = sum(len(message.text) for message in asked(w).requests[-1].messages)
        if size > 6000:
            raise ModelError(ModelFault.CONTEXT, "too long")
        return say("Done.")

    async with world(tmp_path, [say("", want("big", what="a")), grumble], window=1_000_000) as w:
        from agents.tool import Risk
        from agents.toolbox import Toolbox
        from tests.agents.kit import Doing

        big = Doing(w.effects, "big", Risk.READ, result="line\n" * 400_000)
        w.tools = Toolbox.of(*w.tools.all()[0].values(), big)
        await w.restart()
        got = await w.send()
        assert await w.ended(got.run) == "done"
        assert 3 <= len(asked(w).requests) <= 4
        [call] = w.calls(got.run)
        [blob] = w.rows("SELECT size FROM blobs WHERE sha = ?", call["whole"])
        assert blob["size"] == 2_000_000


async def test_case_49_a_result_is_cut_to_the_window_before_it_is_sent(tmp_path: Path) -> None:
    async with world(tmp_path, [say("", want("big", what="a")), say("Done.")], window=8000) as w:
        from agents.tool import Risk
        from agents.toolbox import Toolbox
        from tests.agents.kit import Doing

        w.tools = Toolbox.of(Doing(w.effects, "big", Risk.READ, result="word " * 100_000))
        await w.restart()
        got = await w.send()
        assert await w.ended(got.run) == "done"
        size = sum(len(message.text) for message in asked(w).requests[-1].messages)
        assert size < 8000 * 3


async def test_case_51_what_was_left_out_can_be_read(tmp_path: Path) -> None:
    lines = "".join(f"line {number}\n" for number in range(20_000))

    def read_on(request: object) -> ModelReply:
        ref = last_results(w)[-1].call_id
        return say("", want("read_result", ref=ref, grep="line 12345"))

    async with world(tmp_path, [say("", want("big", what="a")), read_on, say("Done.")]) as w:
        from agents.tool import Risk
        from agents.toolbox import Toolbox
        from tests.agents.kit import Doing

        big = Doing(w.effects, "big", Risk.READ, result=lines, untrusted=True)
        w.tools = Toolbox.of(*w.tools.all()[0].values(), big)
        await w.restart()
        got = await w.send()
        assert await w.ended(got.run) == "done"
        cut, found = last_results(w)
        assert "bytes left out; read_result with ref" in cut.text
        assert "line 12345" in found.text
        assert "<untrusted" in found.text


async def test_a_model_that_breaks_ends_the_run_with_a_mail_and_no_details(tmp_path: Path) -> None:
    def broken(_: object) -> ModelReply:
        raise ZeroDivisionError("/secret/path")

    async with world(tmp_path, [broken]) as w:
        got = await w.send()
        assert await w.ended(got.run) == "failed"
        [mail] = w.mails()
        assert "/secret/path" not in mail.body
        assert "fault of the program" in mail.body


async def test_an_unknown_model_tag_is_told(tmp_path: Path) -> None:
    async with world(tmp_path, [say("Done.")]) as w:
        got = await w.send(model="opus")
        assert await w.ended(got.run) == "failed"
        assert 'There is no model "opus" in the settings.' in w.mails()[0].body
