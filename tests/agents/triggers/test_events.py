"""Triggers that something outside sets off, on a real runtime: once for a key, in line, bounded, untrusted, told."""

import asyncio
import sqlite3
from contextlib import closing
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from agents import trigger, trigger_secret
from agents.letter import Kind
from agents.llm import UserMessage
from agents.rule import SpecFault
from agents.trigger import New, Trigger
from agents.trigger_event import MOST_WAITING, Delivery, Taken
from config.settings import Limits
from tests.agents import invariants
from tests.agents.kit import World, world
from tests.agents.script import ScriptedModel, say, want

DONE = [say("Done.")]
HOLD = [say("", want("look", what="a")), say("Done.")]
EVENTS = "0004_events.sql"
CAME = Delivery("one", "d1", "a webhook", '{"build": "red"}')


async def put(w: World, spec: str = "webhook deploy", **more: Any) -> Trigger:
    new = New(1, "assistant", "thread-9", "run", spec, "UTC", "Deploys", "Say what broke", more.pop("key", "k1"))
    new = replace(new, **{"late": "all", "overlap": "queue", **more})
    return await w.db.write(lambda tx: trigger.create(tx, w.clock.now(), new))


async def come(w: World, item: Trigger, delivery: Delivery = CAME, **more: Any) -> Taken:
    made = replace(delivery, **more)
    return await w.db.write(lambda tx: w.runtime.automations.deliver(tx, trigger.get(tx, item.id), made))


async def say_to(w: World, item: Trigger, word: str) -> str:
    return await w.db.write(lambda tx: w.runtime.automations.obey(tx, trigger.get(tx, item.id), word, f"key-{word}"))


def now_is(w: World, item: Trigger) -> Trigger:
    return w.db.read(lambda tx: trigger.get(tx, item.id))


async def test_what_comes_begins_one_run_with_the_task_as_words_and_the_rest_untrusted(tmp_path: Path) -> None:
    async with world(tmp_path, DONE) as w:
        taken = await come(w, await put(w))
        assert taken.outcome == "begun"
        assert await w.ended(taken.run) == "done"
        [run] = w.rows("SELECT * FROM runs")
        assert (run["id"], run["origin"], run["thread"], run["taint"]) == (taken.run, "hook", "thread-9", 1)
        assert isinstance(w.model, ScriptedModel)
        [asked] = w.model.requests
        message = asked.messages[-1]
        assert isinstance(message, UserMessage)
        assert message.words == "Say what broke"
        assert "Say what broke\n\n<untrusted" in message.text
        assert '{"build": "red"}' in message.text
        assert invariants.broken(w, ended=True) == []


async def test_the_same_key_runs_once_and_with_other_bytes_is_refused(tmp_path: Path) -> None:
    async with world(tmp_path, DONE) as w:
        item = await put(w)
        first = await come(w, item)
        assert await come(w, item) == Taken("again", first.run)
        assert (await come(w, item, digest="d2")).outcome == "other"
        assert len(w.rows("SELECT 1 FROM runs")) == 1


async def test_without_a_key_the_same_bytes_are_one_for_ten_minutes(tmp_path: Path) -> None:
    async with world(tmp_path, DONE) as w:
        item = await put(w)
        first = await come(w, item, key="")
        assert await come(w, item, key="") == Taken("again", first.run)
        await w.ended(first.run)
        w.clock.advance(seconds=601)
        assert (await come(w, item, key="")).outcome == "begun"


async def test_what_comes_while_a_run_goes_on_waits_in_line_under_its_own_run(tmp_path: Path) -> None:
    async with world(tmp_path, HOLD) as w:
        w.effects.hold["look"] = asyncio.Event()
        item = await put(w)
        first = await come(w, item)
        await w.until(lambda: w.effects.seen)
        second, third = await come(w, item, key="two"), await come(w, item, key="three")
        assert (second.outcome, third.outcome) == ("waiting", "waiting")
        assert await come(w, item, key="two") == Taken("again", second.run)
        w.effects.hold["look"].set()
        for taken in (first, second, third):
            assert await w.ended(taken.run) == "done"
        order = [row["id"] for row in w.rows("SELECT id FROM runs ORDER BY created, rowid")]
        assert order == [first.run, second.run, third.run]


@pytest.mark.parametrize(("refusable", "outcome"), [(True, "busy"), (False, "skipped")])
async def test_skip_refuses_whoever_can_come_again_and_notes_the_others(
    tmp_path: Path, refusable: bool, outcome: str
) -> None:
    async with world(tmp_path, HOLD) as w:
        w.effects.hold["look"] = asyncio.Event()
        item = await put(w, overlap="skip")
        first = await come(w, item)
        await w.until(lambda: w.effects.seen)
        assert (await come(w, item, key="two", refusable=refusable)).outcome == outcome
        w.effects.hold["look"].set()
        await w.ended(first.run)
        again = await come(w, item, key="two", refusable=refusable)
        assert again.outcome == ("begun" if refusable else "again")


async def test_replace_ends_the_run_before_and_what_waits(tmp_path: Path) -> None:
    async with world(tmp_path, HOLD) as w:
        w.effects.hold["look"] = asyncio.Event()
        item = await put(w, overlap="replace")
        first = await come(w, item)
        await w.until(lambda: w.effects.seen)
        second, third = await come(w, item, key="two"), await come(w, item, key="three")
        w.effects.hold["look"].set()
        assert await w.ended(first.run) == "cancelled"
        assert await w.ended(third.run) == "done"
        assert {row["id"] for row in w.rows("SELECT id FROM runs")} == {first.run, third.run}
        assert second.outcome == "waiting"


async def test_an_hour_has_a_limit(tmp_path: Path) -> None:
    async with world(tmp_path, DONE, limits=Limits(fires_per_hour=2)) as w:
        item = await put(w)
        outcomes = [(await come(w, item, key=str(number))).outcome for number in range(3)]
        assert outcomes[2] == "often"
        w.clock.advance(hours=1.01)
        assert (await come(w, item, key="2")).outcome in ("begun", "waiting")


async def test_a_line_has_an_end(tmp_path: Path) -> None:
    async with world(tmp_path, HOLD, limits=Limits(fires_per_hour=1000)) as w:
        w.effects.hold["look"] = asyncio.Event()
        item = await put(w)
        await come(w, item)
        await w.until(lambda: w.effects.seen)
        outcomes = {(await come(w, item, key=str(number))).outcome for number in range(MOST_WAITING)}
        assert outcomes == {"waiting"}
        assert (await come(w, item, key="more")).outcome == "full"
        await say_to(w, item, "delete")
        w.effects.hold["look"].set()


async def test_what_cannot_begin_is_tried_three_times_then_told_and_stops(tmp_path: Path) -> None:
    async with world(tmp_path, DONE) as w:
        item = await put(w, agent="nobody")
        assert (await come(w, item)).outcome == "waiting"
        for seconds in (61, 301):
            assert w.mails(Kind.FAILURE) == []
            w.clock.advance(seconds=seconds)
            await w.runtime.tick()
        [told] = w.mails(Kind.FAILURE)
        assert told.body.startswith(
            'Not done: "Deploys" could not begin, 3 times: there is no agent "nobody" any more.'
        )
        assert "(1) was handed to nobody" in told.body
        assert now_is(w, item).state == "failed"
        assert (await come(w, item, key="two")).outcome == "off"
        assert "Active again" in await say_to(w, item, "resume")
        assert (await come(w, item)).outcome == "waiting"
        assert (await come(w, item)).outcome == "again"


async def test_what_comes_meanwhile_uses_up_no_try(tmp_path: Path) -> None:
    async with world(tmp_path, DONE) as w:
        item = await put(w, agent="nobody")
        outcomes = [(await come(w, item, key=str(number))).outcome for number in range(5)]
        assert outcomes == ["waiting"] * 5
        assert (now_is(w, item).state, now_is(w, item).attempts) == ("active", 1)
        for seconds in (61, 301):
            w.clock.advance(seconds=seconds)
            await w.runtime.tick()
        [told] = w.mails(Kind.FAILURE)
        assert "(5) was handed to nobody" in told.body


async def test_words(tmp_path: Path) -> None:
    async with world(tmp_path, DONE) as w:
        item = await put(w)
        assert await say_to(w, item, "pause") == 'Paused: "Deploys" does not happen until you answer with "resume".'
        assert (await come(w, item)).outcome == "off"
        assert "Active again" in await say_to(w, item, "resume")
        assert await say_to(w, item, "run now") == 'Begun now: "Deploys".'
        await w.until(lambda: w.rows("SELECT 1 FROM runs WHERE origin = 'schedule' AND ended IS NOT NULL"))
        assert "Deleted" in await say_to(w, item, "delete")
        assert w.rows("SELECT 1 FROM fires") == []


async def test_what_was_accepted_before_a_pause_is_done_when_it_goes_on(tmp_path: Path) -> None:
    async with world(tmp_path, HOLD) as w:
        w.effects.hold["look"] = asyncio.Event()
        item = await put(w)
        first = await come(w, item)
        await w.until(lambda: w.effects.seen)
        second = await come(w, item, key="two")
        await say_to(w, item, "pause")
        w.effects.hold["look"].set()
        await w.ended(first.run)
        assert len(w.rows("SELECT 1 FROM runs")) == 1
        await say_to(w, item, "resume")
        assert await w.ended(second.run) == "done"


async def test_one_message_that_tells_what_it_is(tmp_path: Path) -> None:
    async with world(tmp_path, DONE) as w:
        item = await put(w)
        taken = await come(w, item)
        await w.ended(taken.run)
        shown = w.mails(Kind.AUTOMATION)[-1]
        assert shown.subject == '[active] Deploys: whenever its webhook "deploy" is called'
        assert "What comes is handed over as untrusted text." in shown.body
        assert "`postroom triggers secret webhook deploy`" in shown.body
        assert "Webhooks are off until the settings say" in shown.body
        assert "Next:" not in shown.body


async def test_a_clock_that_jumps_and_a_restart_leave_it_as_it_is(tmp_path: Path) -> None:
    async with world(tmp_path, DONE) as w:
        item = await put(w)
        w.clock.advance(hours=1000)
        await w.runtime.tick()
        await w.restart()
        assert now_is(w, item).state == "active"
        assert (await come(w, item)).outcome == "begun"


@pytest.mark.parametrize("spec", ["webhook Dep.loy", "hook a/b", "mailbox -x", "webhook " + "a" * 41])
async def test_a_name_that_fits_no_address_is_refused(tmp_path: Path, spec: str) -> None:
    async with world(tmp_path, DONE) as w:
        with pytest.raises(SpecFault, match="is no name"):
            await put(w, spec)


async def test_a_name_is_given_once_in_an_account_and_kind(tmp_path: Path) -> None:
    async with world(tmp_path, DONE) as w:
        first = await put(w)
        with pytest.raises(SpecFault, match="already"):
            await put(w, key="k2")
        await put(w, "hook deploy", key="k3")
        await say_to(w, first, "delete")
        await put(w, key="k4")


# Secrets


async def test_a_secret_opens_its_trigger_alone_and_a_new_one_takes_its_place(tmp_path: Path) -> None:
    async with world(tmp_path, DONE) as w:
        item = await put(w)
        kept = w.runtime.automations
        one, two = trigger_secret.new_secret(), trigger_secret.new_secret()

        def opened(account: int | None, kind: str, name: str, secret: str) -> tuple[bool, bool]:
            found = w.db.read(lambda tx: kept.open_by(tx, account, kind, name, secret))
            return found.trigger is not None, found.named

        assert opened(1, "webhook", "deploy", "") == (False, True)
        await w.db.write(lambda tx: trigger_secret.give(tx, w.clock.now(), item, one))
        assert opened(1, "webhook", "deploy", one) == (True, True)
        assert opened(1, "webhook", "deploy", two) == (False, True)
        assert opened(2, "webhook", "deploy", one) == (False, False)
        assert opened(1, "hook", "deploy", one) == (False, False)
        assert opened(None, "webhook", "deploy", one) == (False, False)
        await w.db.write(lambda tx: trigger_secret.give(tx, w.clock.now(), item, two))
        assert opened(1, "webhook", "deploy", one) == (False, True)
        assert opened(1, "webhook", "deploy", two) == (True, True)


def holds(folder: Path, secret: str) -> bool:
    return any(secret.encode() in file.read_bytes() for file in folder.rglob("*") if file.is_file())


async def test_a_secret_is_nowhere_in_the_database(tmp_path: Path) -> None:
    async with world(tmp_path, DONE) as w:
        item, secret = await put(w), trigger_secret.new_secret()
        await w.db.write(lambda tx: trigger_secret.give(tx, w.clock.now(), item, secret))
        await w.close()
        assert not holds(tmp_path, secret)
        await w.open()


@pytest.mark.parametrize(
    ("spec", "secret", "told"),
    [
        ("webhook deploy", "fifteen letters", "16 to 256"),
        ("webhook deploy", "a" * 257, "16 to 256"),
        ("webhook deploy", "sixteen letters\n", "16 to 256"),
        ("hook deploy", "sixteen letters!!", "small letters and digits"),
        ("mailbox deploy", "a" * 20, "has no secret"),
    ],
)
async def test_a_secret_that_cannot_be_kept_is_refused(tmp_path: Path, spec: str, secret: str, told: str) -> None:
    async with world(tmp_path, DONE) as w:
        item = await put(w, spec)
        with pytest.raises(SpecFault, match=told):
            await w.db.write(lambda tx: trigger_secret.give(tx, w.clock.now(), item, secret))


def test_the_migration_keeps_triggers_and_their_times(tmp_path: Path) -> None:
    """Dropping a table deletes its rows, and with them what refers to them."""
    folder = resources.files("agents") / "sql"
    steps = sorted(file.name for file in folder.iterdir() if file.name[:4].isdigit())
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("PRAGMA foreign_keys=ON")
        for name in steps[:3]:
            connection.executescript((folder / name).read_text())
        connection.execute(
            "INSERT INTO triggers (id, account, agent, thread, act, kind, spec, zone, title, text, state, due_at,"
            " due_key, wake_at, key, created, updated) VALUES ('t', 1, 'a', '1', 'run', 'cron', '0 9 * * *',"
            " 'UTC', 'T', 'x',"
            " 'active', 5, 'k', 5, 'key', 1, 1)"
        )
        connection.execute("INSERT INTO fires VALUES ('t', 'k0', 1, 1, 'fired', 'r')")
        connection.executescript(f"BEGIN;{(folder / EVENTS).read_text()}COMMIT;")
        assert connection.execute("SELECT id, kind, name FROM triggers").fetchall() == [("t", "cron", "")]
        assert connection.execute("SELECT key, state, run, hash FROM fires").fetchall() == [("k0", "fired", "r", "")]
        connection.execute("DELETE FROM triggers")
        assert connection.execute("SELECT * FROM fires").fetchall() == []


def test_a_delivery_costs_the_same_however_much_came_before() -> None:
    """No query that a delivery asks goes through all that its trigger ever had."""
    folder = resources.files("agents") / "sql"
    asked = ("under_way", "waiting", "how_many_wait", "lately", "delivered", "delivered_lately", "forget_fires")
    queries = dict(block.split("\n", 1) for block in (folder / "triggers.sql").read_text().split("-- name: ")[1:])
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript((folder / "schema.sql").read_text())
        for name in asked:
            params = dict.fromkeys(("trigger", "key", "hash", "since", "before"), 1)
            plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {queries[name]}", params)]
            fires = [line for line in plan if "fires" in line or " f " in line]
            narrow = (
                "fires_waiting",
                "fires_at (trigger=? AND at",
                "fires_hash (trigger=? AND hash=?",
                "key=?",
                "run=?",
            )
            assert fires, name
            assert all(any(part in line for part in narrow) for line in fires), (name, plan)
            assert not any(line.startswith("SCAN") for line in plan), (name, plan)
