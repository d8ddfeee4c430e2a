"""Triggers on a real runtime: when they fire, what late, overlapping and broken ones do, and clocks that jump."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agents import trigger
from agents.letter import Kind, Outgoing
from agents.rule import SpecFault
from agents.trigger import MOST, New, Trigger
from tests.agents import invariants
from tests.agents.kit import World, world
from tests.agents.script import say, want
from tests.agents.triggers.clock import moment

DONE = [say("Done.")]
HOLD = [say("", want("look", what="a")), say("Done.")]


async def put(w: World, spec: str = "0 9 * * *", act: str = "run", **more: Any) -> Trigger:
    """A trigger set at 2026-11-30 08:00 UTC, in the thread of the kit's letters."""
    w.clock.at = moment("2026-11-30 08:00")
    new = New(1, "assistant", "thread-1", act, spec, "UTC", "Summary", "list my mail", more.pop("key", "k1"), **more)
    return await w.db.write(lambda tx: trigger.create(tx, w.clock.now(), new))


async def at(w: World, when: str) -> None:
    """It is that time; the program looks at the clock and does what follows."""
    w.clock.at = moment(when)
    await w.runtime.tick()
    await w.runtime.idle()


def runs(w: World) -> list[dict[str, Any]]:
    return w.rows("SELECT * FROM runs WHERE origin = 'schedule' ORDER BY rowid")


def fires(w: World) -> list[tuple[str, str]]:
    return [(row["key"], row["state"]) for row in w.rows("SELECT key, state FROM fires ORDER BY at, key")]


def now_is(w: World, ident: str) -> Trigger:
    return w.db.read(lambda tx: trigger.get(tx, ident))


def reminders(w: World) -> list[Outgoing]:
    return w.mails(Kind.REMINDER)


def automations(w: World) -> list[Outgoing]:
    return w.mails(Kind.AUTOMATION)


async def test_a_new_schedule_does_not_fire_at_once_and_then_once_a_day(tmp_path: Path) -> None:
    async with world(tmp_path, DONE) as w:
        await put(w)
        await at(w, "2026-11-30 08:59")
        assert runs(w) == []
        for day in ("2026-11-30", "2026-12-01"):
            for _ in range(3):
                await at(w, f"{day} 09:00")
        assert len(runs(w)) == 2
        assert fires(w) == [("2026-11-30T09:00", "fired"), ("2026-12-01T09:00", "fired")]
        assert {run["thread"] for run in runs(w)} == {"thread-1"}
        assert [mail.subject for mail in w.mails(Kind.RESULT)] == ["Re: Summary", "Re: Summary"]
        assert invariants.broken(w, ended=True) == []


async def test_the_timer_fires_by_itself(tmp_path: Path) -> None:
    """No tick by hand: the clock stands just before the time, and the loop's own timer does the rest."""
    async with world(tmp_path, DONE) as w:
        item = await put(w, act="remind")
        w.clock.at = moment("2026-11-30 09:00")
        w.runtime._bells.clock()  # as after any commit
        await w.until(lambda: reminders(w))
        assert now_is(w, item.id).due_key == "2026-12-01T09:00"


async def test_the_same_key_is_the_same_trigger(tmp_path: Path) -> None:
    async with world(tmp_path, DONE) as w:
        assert (await put(w)).id == (await put(w)).id
        assert len(w.rows("SELECT 1 FROM triggers")) == 1


async def test_what_never_comes_and_what_is_too_much_is_refused(tmp_path: Path) -> None:
    async with world(tmp_path, DONE) as w:
        with pytest.raises(SpecFault, match="has passed"):
            await put(w, "2026-11-30T07:00")
        for number in range(MOST):
            await put(w, key=f"n{number}")
        with pytest.raises(SpecFault, match="delete some first"):
            await put(w, key="more")


async def test_a_single_time_is_over_after_it(tmp_path: Path) -> None:
    async with world(tmp_path, DONE) as w:
        item = await put(w, "2026-11-30T09:30", "remind")
        await at(w, "2026-11-30 09:30")
        assert len(reminders(w)) == 1
        assert (now_is(w, item.id).state, now_is(w, item.id).wake_at) == ("done", None)
        assert automations(w) == []


async def test_a_single_time_that_passed_while_it_was_being_set_comes_at_once(tmp_path: Path) -> None:
    async with world(tmp_path, DONE) as w:
        await put(w, "2026-11-30T07:59", "remind")
        await w.until(lambda: reminders(w))
        assert "late" not in reminders(w)[0].body


# Late


@pytest.mark.parametrize(
    ("late", "keys", "mails"),
    [
        ("once", [("2026-11-30T09:00", "fired")], 1),
        ("skip", [("2026-11-30T09:00", "skipped")], 0),
        (
            "all",
            [("2026-11-30T09:00", "fired"), ("2026-12-01T09:00", "fired"), ("2026-12-02T09:00", "fired")],
            3,
        ),
    ],
)
async def test_times_that_were_missed(tmp_path: Path, late: str, keys: list[tuple[str, str]], mails: int) -> None:
    async with world(tmp_path, DONE) as w:
        item = await put(w, act="remind", late=late)
        await at(w, "2026-12-02 12:20")
        assert fires(w) == keys
        assert len(reminders(w)) == mails
        assert now_is(w, item.id).due_key == "2026-12-03T09:00"
        if late == "once":
            assert "This is 2 d 3 h late: it was due Mon 30 Nov 09:00" in reminders(w)[0].body


async def test_no_more_than_ten_missed_times_are_made_up_for(tmp_path: Path) -> None:
    async with world(tmp_path, DONE) as w:
        await put(w, "* * * * *", "remind", late="all")
        await at(w, "2026-11-30 12:00")
        assert len(reminders(w)) == 10


async def test_a_late_run_says_so_in_its_subject_and_to_its_agent(tmp_path: Path) -> None:
    async with world(tmp_path, DONE) as w:
        await put(w)
        await at(w, "2026-11-30 12:20")
        [mail] = w.mails(Kind.RESULT)
        assert mail.subject == "Re: Summary (3 h 20 min late)"
        assert isinstance(w.model.requests, list)  # type: ignore[attr-defined]  # the kit's scripted model
        assert "(This is 3 h 20 min late" in w.model.requests[0].messages[0].text  # type: ignore[attr-defined]  # as above


# Overlap


async def held(w: World, overlap: str) -> Trigger:
    """A schedule whose first run is still at work when its second time comes."""
    w.effects.hold["look"] = asyncio.Event()
    item = await put(w, "*/5 * * * *", overlap=overlap)
    w.clock.at = moment("2026-11-30 08:05")
    await w.runtime.tick()
    await w.until(lambda: w.effects.seen)
    w.clock.at = moment("2026-11-30 08:10")
    await w.runtime.tick()
    return item


async def test_a_time_is_left_out_while_the_run_before_goes_on(tmp_path: Path) -> None:
    async with world(tmp_path, HOLD) as w:
        item = await held(w, "skip")
        assert fires(w)[1] == ("2026-11-30T08:10", "skipped")
        w.effects.hold["look"].set()
        await w.ended(runs(w)[0]["id"])
        assert len(runs(w)) == 1
        assert now_is(w, item.id).due_key == "2026-11-30T08:15"


async def test_a_time_waits_for_the_run_before(tmp_path: Path) -> None:
    async with world(tmp_path, HOLD) as w:
        await held(w, "queue")
        w.clock.at = moment("2026-11-30 08:15")
        await w.runtime.tick()
        assert [state for _, state in fires(w)] == ["fired", "waiting", "skipped"]
        w.effects.hold["look"].set()
        await w.until(lambda: len(runs(w)) == 2 and all(run["ended"] for run in runs(w)))
        assert [state for _, state in fires(w)] == ["fired", "fired", "skipped"]
        assert invariants.broken(w, ended=True) == []


async def test_a_time_replaces_the_run_before(tmp_path: Path) -> None:
    async with world(tmp_path, HOLD) as w:
        await held(w, "replace")
        w.effects.hold["look"].set()
        await w.until(lambda: len(runs(w)) == 2 and all(run["ended"] for run in runs(w)))
        assert [run["state"] for run in runs(w)] == ["cancelled", "done"]


# Failures


async def test_three_attempts_then_a_failure_mail_and_the_next_time_stands(tmp_path: Path) -> None:
    async with world(tmp_path, DONE) as w:
        item = await put(w)
        await w.db.write(lambda tx: damage(tx, item, "agent", "nobody"))
        await at(w, "2026-11-30 09:00")
        assert now_is(w, item.id).attempts == 1
        await at(w, "2026-11-30 09:00")  # too early for the second
        assert now_is(w, item.id).attempts == 1
        await at(w, "2026-11-30 09:01")
        assert w.mails(Kind.FAILURE) == []
        await at(w, "2026-11-30 09:06")
        [mail] = w.mails(Kind.FAILURE)
        assert 'there is no agent "nobody" any more' in mail.body
        assert fires(w) == [("2026-11-30T09:00", "failed")]
        assert (now_is(w, item.id).due_key, now_is(w, item.id).attempts) == ("2026-12-01T09:00", 0)


def damage(tx: Any, item: Trigger, column: str, value: str) -> None:
    """A row as the program does not write it (an agent that was there then, a zone that was known)."""
    tx._connection.execute(f"UPDATE triggers SET {column} = ? WHERE id = ?", (value, item.id))


async def test_a_zone_that_is_no_more_stops_its_trigger_and_says_so(tmp_path: Path) -> None:
    async with world(tmp_path, DONE) as w:
        item = await put(w)
        await w.db.write(lambda tx: damage(tx, item, "zone", "No/Where"))
        for when in ("09:00", "09:01", "09:06"):
            await at(w, f"2026-11-30 {when}")
        assert 'the time zone "No/Where" is not known' in w.mails(Kind.FAILURE)[0].body
        assert now_is(w, item.id).state == "failed"


async def test_a_fault_of_one_trigger_keeps_no_other_back(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with world(tmp_path, DONE) as w:
        broken = await put(w, key="broken")
        await put(w, act="remind", key="sound")
        await w.db.write(lambda tx: damage(tx, broken, "spec", "soon"))
        w.clock.at = moment("2026-11-30 09:00")
        with pytest.raises(SpecFault):
            await w.runtime.tick()
        assert len(reminders(w)) == 1
        assert "a trigger could not fire" in caplog.text


# Clocks


async def test_a_clock_set_back_repeats_nothing_and_waits_for_nothing(tmp_path: Path) -> None:
    async with world(tmp_path, DONE) as w:
        item = await put(w, act="remind")
        await at(w, "2026-11-30 09:00")
        await at(w, "2027-06-01 09:00")  # set far ahead by mistake
        assert now_is(w, item.id).due_key == "2027-06-02T09:00"
        before = len(reminders(w))
        await at(w, "2026-11-30 08:30")  # and back
        assert now_is(w, item.id).due_key == "2026-12-02T09:00"  # the 30th was had, the 1st of December made up for
        await at(w, "2026-11-30 09:00")
        assert len(reminders(w)) == before


async def test_a_machine_that_slept_fires_at_the_next_look(tmp_path: Path) -> None:
    """The loop's clock stood still, the wall clock went on: whatever wakes the timer finds what is due."""
    async with world(tmp_path, DONE) as w:
        await put(w, "0 9 * * *", "remind")
        w.clock.at = moment("2026-11-30 16:00")
        w.runtime._timer.fire()
        await w.until(lambda: reminders(w))
        assert "7 h late" in reminders(w)[0].body


# Starts


@pytest.mark.parametrize("lag", ["08:30", "09:00", "15:00"])
async def test_a_restart_at_any_time_fires_once(tmp_path: Path, lag: str) -> None:
    async with world(tmp_path, DONE) as w:
        await put(w, act="remind")
        w.clock.at = moment(f"2026-11-30 {lag}")
        await w.restart()
        await at(w, "2026-11-30 15:00")
        await w.restart()
        assert len(reminders(w)) == 1


# Trust


async def test_a_mark_follows_into_the_run_of_a_schedule(tmp_path: Path) -> None:
    async with world(tmp_path, DONE) as w:
        await put(w, taint=True)
        await at(w, "2026-11-30 09:00")
        assert [run["taint"] for run in runs(w)] == [1]
        assert "had read untrusted text" in automations(w)[-1].body


async def test_one_message_a_trigger_the_newest_waits_alone(tmp_path: Path) -> None:
    async with world(tmp_path, DONE) as w:
        item = await put(w)
        await at(w, "2026-11-30 09:00")
        [shown] = automations(w)
        assert shown.series == item.series
        assert "Last: Mon 30 Nov 09:00, done" in shown.body
        assert not shown.unread


@pytest.mark.parametrize(
    ("word", "says", "state"),
    [
        ("pause", "Paused", "paused"),
        ("resume", "is active; next: Mon 30 Nov 09:00", "active"),
        ("run now", "Begun now", "active"),
        ("delete", "Deleted", None),
    ],
)
async def test_words(tmp_path: Path, word: str, says: str, state: str | None) -> None:
    async with world(tmp_path, DONE) as w:
        item = await put(w)
        kept = w.runtime.automations
        told = await w.db.write(lambda tx: kept.obey(tx, item, word, "mail-1"))
        assert says in told
        found = w.db.read(lambda tx: trigger.find(tx, item.id))
        assert (found.state if found else None) == state
        if word == "run now":
            again = await w.db.write(lambda tx: kept.obey(tx, item, word, "mail-1"))
            assert "by this mail before" in again
            await w.runtime.idle()
            assert len(runs(w)) == 1
