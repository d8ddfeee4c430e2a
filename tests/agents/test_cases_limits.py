"""Failure cases D: loops, money, delegation, cancelling. Each test is named with its number."""

import asyncio
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from agents.letter import Kind
from agents.llm import ModelError, ModelFault, ModelReply, Price, Usage
from config.settings import Limits
from tests.agents.kit import FakeClock, World, world
from tests.agents.script import ScriptedModel, Turn, say, want

PRICE = Price(Decimal(10), Decimal(10))
MAIL = {"to": ["maya@example.org"], "subject": "Hello", "text": "Hi."}
Scripts = dict[str, list[Turn]]
DELEGATE = want("delegate", skill="summariser", task="Sum it up.")


def requests(w: World) -> int:
    assert isinstance(w.model, ScriptedModel)
    return len(w.model.requests)


async def test_case_52_the_same_call_over_and_over_is_refused_then_ends_the_run(tmp_path: Path) -> None:
    async with world(tmp_path, [say("", want("look", what="a"))]) as w:
        got = await w.send()
        assert await w.ended(got.run) == "stuck"
        assert requests(w) == 5
        assert w.effects.seen == ["look:a", "look:a"]
        assert [call["repeats"] for call in w.calls(got.run)] == [1, 2, 3, 4, 5]
        assert w.mails()[0].body.startswith("Stopped, not finished: it asked for the same thing over and over")


async def test_case_52_a_result_that_changes_is_no_loop(tmp_path: Path) -> None:
    async with world(tmp_path, [*[say("", want("count", what="a"))] * 6, say("Done.")]) as w:
        from agents.tool import Risk, ToolCall, ToolContext, ToolResult
        from agents.toolbox import Toolbox
        from tests.agents.kit import Doing

        class Count(Doing):
            async def run(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
                await self.effects.had("count", "count")
                return ToolResult(str(len(self.effects.seen)))

        w.tools = Toolbox.of(Count(w.effects, "count", Risk.READ))
        await w.restart()
        got = await w.send()
        assert await w.ended(got.run) == "done"
        assert len(w.effects.seen) == 6


async def test_case_54_calls_in_parallel_cannot_pass_the_cap_together(tmp_path: Path) -> None:
    """Each call reserves about 0.05 EUR (4096 output tokens and the prompt at 10 EUR a million), the day has 0.17."""
    limits = Limits(cost_agent_day_eur=0.17, runs=10, runs_per_agent=10)
    go = asyncio.Event()
    async with world(tmp_path, [say("Done.", usage=Usage(100, 4096))], price=PRICE, limits=limits) as w:
        model = w.model
        complete = model.complete

        async def slow(request: object) -> ModelReply:
            await go.wait()
            return await complete(request)  # type: ignore[arg-type]  # the request is passed on as it came

        model.complete = slow  # type: ignore[method-assign]  # a slower model, for this test
        runs = [(await w.send(thread=f"thread-{number}")).run for number in range(10)]
        await w.until(lambda: len(w.rows("SELECT 1 FROM runs WHERE state = 'waiting_budget'")) == 7 or None)
        go.set()
        await w.until(lambda: len(w.rows("SELECT 1 FROM runs WHERE state = 'done'")) == 3 or None)
        assert len(runs) == 10
        [ledger] = w.rows("SELECT reserved_u, spent_u FROM ledger")
        assert ledger["reserved_u"] == 0
        assert ledger["spent_u"] <= 170_000


async def test_case_55_a_cap_pauses_with_a_notice_and_continue_goes_on(tmp_path: Path) -> None:
    turns = [say("", want("look", what=str(number))) for number in range(4)]
    async with world(tmp_path, [*turns, say("Done.")], limits=Limits(model_calls=3)) as w:
        got = await w.send()
        assert await w.wait_for(got.run, "waiting_budget")
        [notice] = w.mails()
        assert notice.kind is Kind.NOTICE
        assert notice.body.startswith("Paused: it has used its 3 model calls.")
        assert '"continue"' in notice.body
        word = await w.word("continue")
        assert word.outcome == "continued"
        assert await w.ended(got.run) == "done"
        assert requests(w) == 5


async def test_case_55_a_sum_raises_the_cap(tmp_path: Path) -> None:
    limits = Limits(cost_run_eur=0.03, cost_agent_day_eur=0.03, cost_day_eur=0.03)
    async with world(tmp_path, [say("Done.")], price=PRICE, limits=limits) as w:
        got = await w.send()
        await w.wait_for(got.run, "waiting_budget")
        assert "raise to 2 EUR" in w.mails()[0].body
        assert requests(w) == 0
        word = await w.word("raise to 2 EUR")
        assert (word.outcome, word.text) == ("raised", "Its limit is 2.00 EUR now.")
        assert await w.ended(got.run) == "done"


@pytest.mark.parametrize(
    ("said", "holds"),
    [("raise to 0,01", "0.03"), ("raise to 0.5 eur", "0.50"), (f"raise to {'9' * 400} EUR", "1000000.00")],
)
async def test_a_sum_is_told_as_it_holds_however_small_or_large(tmp_path: Path, said: str, holds: str) -> None:
    limits = Limits(cost_run_eur=0.03, cost_agent_day_eur=0.03, cost_day_eur=0.03)
    async with world(tmp_path, [say("Done.")], price=PRICE, limits=limits) as w:
        got = await w.send()
        await w.wait_for(got.run, "waiting_budget")
        assert (await w.word(said)).text == f"Its limit is {holds} EUR now."


async def test_the_tool_cap_pauses_before_the_tools_run(tmp_path: Path) -> None:
    calls = [want("look", what=str(number)) for number in range(3)]
    async with world(tmp_path, [say("", *calls), say("Done.")], limits=Limits(tool_calls=2)) as w:
        got = await w.send()
        await w.wait_for(got.run, "waiting_budget")
        assert w.effects.seen == []
        await w.word("continue")
        assert await w.ended(got.run) == "done"


async def test_an_unknown_price_is_not_free_and_tokens_still_count(tmp_path: Path) -> None:
    async with world(tmp_path, [say("Done.", usage=None)], price=None) as w:
        got = await w.send()
        await w.ended(got.run)
        footer = w.mails()[0].footer
        assert footer is not None
        assert footer.tokens > 0
        assert (footer.cost, footer.cost_known) == (Decimal(footer.tokens) * 10 / 1_000_000, False)
        [ledger] = w.rows("SELECT reserved_u, spent_u FROM ledger")
        assert (ledger["reserved_u"], ledger["spent_u"]) == (0, footer.tokens * 10)


async def test_a_task_for_a_specialist_is_a_run_of_its_own_with_its_own_activity(tmp_path: Path) -> None:
    scripts = {"Assistant": [say("", DELEGATE), say("Done: in short.")], "Summariser": [say("In short: all is well.")]}
    async with world(tmp_path, scripts) as w:
        got = await w.send()
        assert await w.ended(got.run) == "done"
        [call] = w.calls(got.run)
        assert (call["state"], call["result"]) == ("done", "In short: all is well.")
        assert len(w.mails()) == 1
        shown = {mail.run: mail for mail in w.mails(Kind.ACTIVITY)}
        child = shown[call["child"]]
        assert child.subject.startswith("[done] Summariser: A task")
        assert child.activity is not None
        assert child.activity.parent == got.run
        assert child.activity.lines[0].text == "started by Assistant"
        footer = w.mails()[0].footer
        assert footer is not None
        assert footer.model_calls == 3


async def test_case_57_a_task_that_ends_badly_is_not_reported_as_done(tmp_path: Path) -> None:
    scripts: Scripts = {
        "Assistant": [say("", DELEGATE), say("Not done.")],
        "Summariser": [ModelError(ModelFault.REFUSED, "no")],
    }
    async with world(tmp_path, scripts) as w:
        got = await w.send()
        assert await w.ended(got.run) == "done"
        [call] = w.calls(got.run)
        assert (call["state"], call["ok"]) == ("failed", 0)
        assert call["result"].startswith("The task was not finished (failed): the model provider refused")


async def test_case_57_a_child_at_the_shared_limit_pauses_and_continue_wakes_it(tmp_path: Path) -> None:
    scripts: Scripts = {
        "Assistant": [say("", DELEGATE), say("Done.")],
        "Summariser": [say("", want("look", what="a")), say("", want("look", what="b")), say("Short.")],
    }
    async with world(tmp_path, scripts, limits=Limits(model_calls=3)) as w:
        got = await w.send()
        child = await w.until(lambda: w.rows("SELECT id FROM runs WHERE state = 'waiting_budget'"))
        assert child[0]["id"] != got.run
        assert w.state(got.run) == "waiting_child"
        assert (await w.word("continue")).outcome == "continued"
        assert await w.ended(got.run) == "done"


async def test_case_58_a_gated_call_of_a_child_is_asked_about_and_survives_a_restart(tmp_path: Path) -> None:
    scripts: Scripts = {
        "Assistant": [say("", DELEGATE), say("Done.")],
        "Summariser": [say("", want("fire", what="a")), say("Fired.")],
    }
    async with world(tmp_path, scripts) as w:
        got = await w.send()
        request = await w.request()
        assert request.agent == "summariser"
        assert request.run != got.run
        await w.restart()
        await w.decide(request.id, "approve")
        assert await w.ended(got.run) == "done"
        assert w.effects.seen == ["fire:a"]
        assert w.calls(got.run)[0]["result"] == "Fired."


async def test_a_specialist_cannot_delegate_and_a_run_delegates_three_times_at_most(tmp_path: Path) -> None:
    def four(number: int) -> ModelReply:
        return say("", want("delegate", skill="summariser", task=f"Part {number}."))

    scripts: Scripts = {
        "Assistant": [four(1), four(2), four(3), four(4), say("Done.")],
        "Summariser": [say("", DELEGATE), say("Short.")],
    }
    async with world(tmp_path, scripts) as w:
        got = await w.send()
        assert await w.ended(got.run) == "done"
        assert [call["fault"] for call in w.calls(got.run)] == [None, None, None, "limit"]
        child = w.calls(got.run)[0]["child"]
        assert w.calls(child)[0]["fault"] == "unknown_tool"


@pytest.mark.parametrize("what", ["model", "tool", "wait", "retry", "send", "child"])
async def test_case_59_stop_ends_everything_and_nothing_is_spent_afterwards(tmp_path: Path, what: str) -> None:
    scripts: Scripts = {
        "model": [say("", want("look", what="a")), say("Done.")],
        "tool": [say("", want("look", what="a")), say("Done.")],
        "wait": [say("", want("fire", what="a")), say("Done.")],
        "retry": [ModelError(ModelFault.TRANSIENT, "503")],
        "send": [say("", want("send_mail", **MAIL)), say("Done.")],
        "child": [say("", DELEGATE), say("Done.")],
    }
    both: Scripts = {"Assistant": scripts[what], "Summariser": [say("", want("fire", what="a")), say("Short.")]}
    async with world(tmp_path, both) as w:
        got = await _until_busy(w, what)
        before = requests(w)
        word = await w.word("stop")
        assert (word.outcome, word.mailed) == ("stopped", True)
        assert await w.ended(got) == "cancelled"
        await w.runtime.idle()
        w.clock.advance(hours=30)
        await w.runtime.tick()
        await w.runtime.idle()
        assert requests(w) == before
        assert w.relay.taken == []
        assert w.effects.seen in ([], ["look:a"])
        assert w.rows("SELECT 1 FROM requests WHERE state = 'open'") == []
        assert w.rows("SELECT 1 FROM runs WHERE ended IS NULL") == []
        assert w.rows("SELECT 1 FROM tool_calls WHERE ended IS NULL") == []
        assert w.rows("SELECT 1 FROM model_calls WHERE state = 'reserved'") == []
        assert w.rows("SELECT sum(reserved_u) AS left FROM ledger")[0]["left"] == 0
        ends = w.mails(Kind.FAILURE, Kind.RESULT)
        assert [mail.body.splitlines()[0] for mail in ends] == ["Stopped: You stopped it."]


async def _until_busy(w: World, what: str) -> str:
    """Send a task and wait until the run is in the middle of the thing."""
    if what == "model":
        called = asyncio.Event()

        async def hang(request: object) -> ModelReply:
            assert isinstance(w.model, ScriptedModel)
            w.model.requests.append(request)  # type: ignore[arg-type]  # counted, never answered
            called.set()
            await asyncio.Event().wait()
            return say("never")

        w.model.complete = hang  # type: ignore[method-assign]  # a model that hangs
        got = await w.send()
        await asyncio.wait_for(called.wait(), 30)
    elif what == "tool":
        w.effects.hold["look"] = asyncio.Event()
        got = await w.send()
        await w.until(lambda: w.effects.seen or None)
    elif what == "send":
        w.relay.gate = asyncio.Event()
        got = await w.send()
        await w.decide(await w.request(), "approve")
        await asyncio.wait_for(w.relay.reached.wait(), 30)
        w.relay.gate.set()
        w.relay.gate = asyncio.Event()
    elif what == "retry":
        got = await w.send()
        await w.wait_for(got.run, "waiting_time")
    else:
        got = await w.send()
        await w.request()
    assert got.run is not None
    return got.run


async def test_case_59_an_effect_under_way_is_told_as_in_doubt(tmp_path: Path) -> None:
    async with world(tmp_path, [say("", want("fire", what="a")), say("Done.")]) as w:
        w.effects.hold["fire"] = asyncio.Event()
        got = await w.send()
        await w.decide(await w.request(), "approve")
        await w.until(lambda: w.effects.seen or None)
        await w.word("stop")
        assert await w.ended(got.run) == "cancelled"
        [mail] = w.mails(Kind.FAILURE)
        assert "Fire: may have happened at" in mail.body


async def test_four_runs_at_once_two_of_an_agent_and_the_others_get_their_turn(tmp_path: Path) -> None:
    async with world(tmp_path, [say("", want("look", what="a")), say("Done.")]) as w:
        w.effects.hold["look"] = asyncio.Event()
        mine = [(await w.send(thread=f"thread-{number}")).run for number in range(4)]
        other = (await w.send(thread="thread-9", agent="other")).run
        await w.until(lambda: len(w.effects.seen) == 3 or None)
        assert w.state(other) == "running"
        assert sorted(w.state(run) for run in mine) == ["queued", "queued", "running", "running"]
        w.effects.hold["look"].set()
        for run in [*mine, other]:
            assert await w.ended(run) == "done"


async def test_a_run_that_grows_too_old_expires_with_a_mail(tmp_path: Path) -> None:
    async with world(tmp_path, [say("", want("fire", what="a")), say("Done.")], limits=Limits(run_days=1)) as w:
        got = await w.send()
        await w.request()
        w.clock.advance(hours=25)
        await w.runtime.tick()
        assert await w.ended(got.run) == "expired"
        [mail] = w.mails(Kind.FAILURE)
        assert mail.body.startswith("Expired, not finished:")
        assert w.rows("SELECT state FROM requests") == [{"state": "cancelled"}]


async def test_work_is_measured_by_a_clock_that_nobody_sets(tmp_path: Path) -> None:
    """The wall clock is set a day ahead in a call, and the machine may have slept: neither is work."""

    class Measured(FakeClock):
        def __init__(self) -> None:
            super().__init__()
            self.ticks = 0

        def steady(self) -> int:
            return self.ticks

    async with world(tmp_path, [say("", want("look", what="a")), say("Done.")], limits=Limits(run_minutes=5)) as w:
        w.clock = clock = Measured()
        await w.restart()
        w.effects.hold["look"] = asyncio.Event()
        got = await w.send()
        await w.until(lambda: w.effects.seen or None)
        clock.advance(hours=24)
        clock.ticks += 90_000
        w.effects.hold["look"].set()
        assert await w.ended(got.run) == "done"
        assert w.rows("SELECT active_ms FROM runs") == [{"active_ms": 90_000}]


async def test_the_clock_of_this_machine_measures(tmp_path: Path) -> None:
    from bridge.app import WallClock

    clock = WallClock()
    before = clock.steady()
    assert 0 <= clock.steady() - before < 60_000


async def test_active_minutes_are_a_limit_and_continue_adds_as_many(tmp_path: Path) -> None:
    async with world(tmp_path, [say("", want("look", what="a")), say("Done.")], limits=Limits(run_minutes=1)) as w:
        w.effects.hold["look"] = asyncio.Event()
        got = await w.send()
        await w.until(lambda: w.effects.seen or None)
        w.clock.advance(seconds=61)
        w.effects.hold["look"].set()
        await w.wait_for(got.run, "waiting_budget")
        assert w.mails()[0].body.startswith("Paused: it has worked for 1 minutes.")
        await w.word("continue")
        assert await w.ended(got.run) == "done"


@pytest.mark.parametrize(
    ("limit", "said"),
    [("cost_agent_day_eur", "assistant could pass its"), ("cost_day_eur", "the agents could pass their")],
)
async def test_the_money_of_a_day_holds_across_runs_and_comes_back_with_the_next_day(
    tmp_path: Path, limit: str, said: str
) -> None:
    """Each call costs about 0.042 EUR; the day has 0.1."""
    spent = say("Done.", usage=Usage(100, 4096))
    limits = replace(Limits(), **{limit: 0.1})  # type: ignore[arg-type]  # both names are of sums of money
    async with world(tmp_path, [spent], price=PRICE, limits=limits) as w:
        states = []
        for number in range(3):
            got = await w.send(thread=f"thread-{number}")
            states.append(await w.wait_for(got.run, "done", "waiting_budget"))
        assert states == ["done", "waiting_budget", "waiting_budget"] or states == ["done", "done", "waiting_budget"]
        assert said in w.mails()[-1].body
        w.clock.advance(hours=24)
        got = await w.send(thread="thread-9")
        assert await w.ended(got.run) == "done"
