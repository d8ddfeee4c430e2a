"""Schedules through the control socket: listed, shown, obeyed, and nobody else's."""

from typing import Any

import pytest

from agents import trigger
from agents.trigger import New, Trigger
from bridge.app import App
from bridge.control.protocol import ControlError
from mailstore import accounts, threads
from tests.control.conftest import Ask


async def put(app: App, name: str = "you", act: str = "remind") -> Trigger:
    """A schedule of an account."""
    account = app.store.read(lambda tx: accounts.find(tx, name, app.settings.domain))
    assert account is not None
    thread = await app.store.write(lambda tx: threads.new(tx, account.id))
    zone, key = "Europe/Berlin", f"k.{name}"
    new = New(account.id, "assistant", str(thread), act, "0 8 * * 1-5", zone, "Tea", "Drink tea", key)
    return await app.store.write(lambda tx: trigger.create(tx, app.clock.now(), new))


async def refused(asked: Any) -> ControlError:
    with pytest.raises(ControlError) as caught:
        await asked
    return caught.value


async def test_what_is_listed_and_shown(app: App, ask: Ask) -> None:
    await ask("account.add", name="you")
    assert await ask("triggers") == {"account": "you", "triggers": []}
    item = await put(app)
    [listed] = (await ask("triggers"))["triggers"]
    assert (listed["id"], listed["state"], listed["when"]) == (item.id, "active", "Monday to Friday, 08:00")
    shown = await ask("trigger", id=item.id[-8:])
    assert (shown["title"], shown["text"], shown["late"], shown["overlap"]) == ("Tea", "Drink tea", "once", "skip")
    assert shown["upcoming"].count("08:00") == 3


async def test_words(app: App, ask: Ask) -> None:
    await ask("account.add", name="you")
    item = await put(app)
    for word, says, state in (
        ("pause", "Paused", "paused"),
        ("run now", "Begun now", "paused"),
        ("resume", "Active again", "active"),
    ):
        assert says in (await ask("trigger.word", id=item.id, word=word))["text"]
        assert (await ask("trigger", id=item.id))["state"] == state
    assert "Deleted" in (await ask("trigger.word", id=item.id, word="delete"))["text"]
    assert (await refused(ask("trigger", id=item.id))).message.startswith("account you has no trigger")
    trail = [entry.what for entry in app.store.read(lambda tx: app.runtime.trail(tx, item.account))]
    assert trail[:5] == ["trigger.deleted", "trigger.delete", "trigger.resume", "trigger.run_now", "trigger.pause"]


async def test_an_account_that_is_removed_takes_its_schedules_along(app: App, ask: Ask) -> None:
    await ask("account.add", name="you")
    await ask("account.add", name="eve")
    await put(app)
    kept = await put(app, "eve")
    await ask("account.remove", name="you", confirm="you")
    rows = app.store.read(lambda tx: [row["id"] for row in tx.all("agents.triggers.due", now=2**60)])
    assert rows == [kept.id]


async def test_a_schedule_of_somebody_else_and_a_word_that_is_none(app: App, ask: Ask) -> None:
    await ask("account.add", name="you")
    await ask("account.add", name="eve")
    item = await put(app)
    assert (await refused(ask("trigger", account="eve", id=item.id))).message.startswith("account eve has no trigger")
    assert (await refused(ask("trigger.word", account="eve", id=item.id, word="delete"))).kind == "not-found"
    assert "is no word" in (await refused(ask("trigger.word", account="you", id=item.id, word="explode"))).message
