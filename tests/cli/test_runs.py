"""`postroom runs`, `costs` and `models`: what a terminal shows of what agents did, and of what it cost."""

import asyncio
import json
from pathlib import Path

import pytest

from agents import ids
from bridge.cli import costs
from bridge.cli.common import open_store
from bridge.sink import Sink
from config.load import load
from config.paths import open_folder
from mailstore import accounts
from tests.cli.conftest import Cli
from tests.fakes.fake_llm import fake_llm
from tests.post.desk import AGENT, NOTES, asked, opened


def work(home: Path) -> None:
    """A data folder in which the main job was done, and one task failed to be allowed."""

    async def do() -> None:
        sink = Sink()
        port = await sink.start()
        async with opened(home, sink, port) as desk:
            ada = await desk.person("ada")
            await ada.reply(await asked(ada), "approve")
            await ada.mail("Re: Notes from Tuesday")
            await ada.write(AGENT, "Evil\x1b[2J", f"Summarise this:\n\n{NOTES}")
            await ada.mail("Re: Evil")
            await ada.settled()
        await sink.close()

    asyncio.run(do())


def spend(home: Path, *spent: tuple[str, str, int]) -> None:
    """Ledger entries: day, agent, millionths of a EUR."""
    open_folder(home)

    async def put() -> None:
        async with open_store(load(home=home, environ={})) as store:
            account = await store.write(lambda tx: accounts.create(tx, "ada", "ada@postroom.internal", ()))
            for day, agent, amount in spent:
                who = {"day": day, "account": account.id, "agent": agent}

                def enter(tx: object, who: dict[str, object] = who, amount: int = amount) -> None:
                    tx.run("agents.ledger.reserve", **who, amount=amount)  # type: ignore[attr-defined]  # a WriteTx
                    tx.run("agents.ledger.settle", **who, reserved=amount, spent=amount, tokens=amount)  # type: ignore[attr-defined]  # the same

                await store.write(enter)

    asyncio.run(put())


def test_runs_and_one_as_a_story(cli: Cli, home: Path) -> None:
    work(home)
    listed = cli("runs")
    assert listed.code == 0, listed.err
    assert [line.split()[6:8] for line in listed.out.splitlines() if "Notes from Tuesday" in line]
    assert "\x1b" not in listed.out
    told = json.loads(cli("runs", "list", "--json", "--agent", "assistant").out)
    assert {each["agent"] for each in told} == {"assistant"}
    [main] = [each for each in told if each["subject"] == "Notes from Tuesday"]
    assert (main["state"], main["cost"], main["cost_known"]) == ("done", 0, True)
    story = cli("runs", "show", main["id"][-8:]).out
    order = [
        "Notes from Tuesday [done]",
        "Summarise the attached notes and send",
        "wants read_attachment",
        "wants send_mail",
    ]
    order += [
        "Send mail to maya@example.org [A-",
        "approved by ada@postroom.internal via laptop",
        "send_mail (",
        "ended as done",
    ]
    assert [story.find(words) for words in order] == sorted(story.find(words) for words in order)
    assert -1 not in [story.find(words) for words in order]
    whole = json.loads(cli("runs", "show", main["id"], "--json").out)
    assert [entry["at"] for entry in whole["story"]] == sorted(entry["at"] for entry in whole["story"])


def test_a_run_of_nobody_and_a_state_that_is_none(cli: Cli, home: Path) -> None:
    spend(home)
    assert "there is no run %" in cli("runs", "show", "%").err
    assert "there is no run" in cli("runs", "show", ids.new_id(0)).err
    assert "'busy' is no state of a run" in cli("runs", "list", "--state", "busy").err
    assert cli("runs", "--json").out.strip() == "[]"


def test_options_stand_behind_the_command(cli: Cli, home: Path) -> None:
    told = cli("models", "--json", "test", "demo", home=home)
    assert (told.code, "options stand behind the command" in told.err) == (2, True)


def test_costs_as_a_table_bars_and_json(cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from datetime import datetime, timedelta
    from zoneinfo import ZoneInfo

    today = datetime.now(ZoneInfo("Pacific/Kiritimati")).date()  # fourteen hours ahead of UTC: mostly another day
    before, long_ago = (today - timedelta(days=days) for days in (1, 90))
    entries = [(today, "assistant", 500_000), (today, "other", 250_000), (before, "assistant", 375_000)]
    spend(home, *((day.isoformat(), agent, amount) for day, agent, amount in entries), (long_ago.isoformat(), "old", 1))
    (home / "postroom.toml").write_text('timezone = "Pacific/Kiritimati"\n')
    shown = cli("costs")
    assert shown.code == 0, shown.err
    assert "day (Pacific/Kiritimati)" in shown.out
    rows = [line.split() for line in shown.out.splitlines() if line.startswith("20")]
    assert [before.isoformat(), "assistant", "0", "375,000", "0.3750"] in rows
    assert [today.isoformat(), "█" * 40, "0.7500"] in [row for row in rows if "█" in row[1]] or "0.7500" in shown.out
    assert [row for row in rows if row[0] == before.isoformat() and row[1] == "█" * 20]
    assert "Today 0.7500 of 5.00 EUR for all agents, 2.00 EUR for one." in shown.out
    assert "old" not in shown.out
    told = json.loads(cli("costs", "--json", "--days", "365").out)
    assert [(each["agent"], each["cost"]) for each in told["days"]] == [
        ("old", 0.000001),
        ("assistant", 0.375),
        ("assistant", 0.5),
        ("other", 0.25),
    ]


def test_nothing_was_spent(cli: Cli, home: Path) -> None:
    spend(home)
    assert "nothing was spent" in cli("costs").out


@pytest.mark.parametrize(
    ("part", "drawn"), [(0, ""), (8, "█" * 40), (4, "█" * 20), (0.001, "▏"), (1, "█" * 5), (1.1, "█████▌")]
)
def test_a_bar_is_as_long_as_its_amount(part: float, drawn: str) -> None:
    assert costs.bar(part, 8) == drawn


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the provider library's own, as in any process but a test's
async def test_a_model_that_works_and_one_that_does_not(cli: Cli, home: Path) -> None:
    async with fake_llm() as fake:
        open_folder(home)
        lines = [
            f'[models.{tag}]\nmodel = "openai/{mode}"\napi_base = "{fake.base}"\n'
            for tag, mode in [("good", "text"), ("bad", "404")]
        ]
        (home / "postroom.toml").write_text(
            "".join(lines) + '[agents.assistant]\nmodel = "good"\nfallbacks = ["bad", "demo"]\n'
        )
        shown = await asyncio.to_thread(cli, "models")
        assert "LiteLLM's list" in shown.out
        assert [line.split()[-1] for line in shown.out.splitlines() if line.startswith(("good", "bad"))] == [
            "assistant"
        ] * 2
        works = await asyncio.to_thread(cli, "models", "test", "good")
        assert works.code == 0, works.out + works.err
        assert (works.code, "good (openai/text at" in works.out, 'It said "hello"' in works.out) == (0, True, True)
        fails = await asyncio.to_thread(cli, "models", "test", "bad")
        assert fails.code == 1
        assert "The provider does not know the model 'openai/404'" in fails.out
        told = json.loads((await asyncio.to_thread(cli, "models", "test", "bad", "--json")).out)
        assert told["fault"] == "gone"
        assert (await asyncio.to_thread(cli, "models", "test", "god")).err.startswith(
            "postroom: there is no model 'god'"
        )
