"""Reminders and schedules as a user meets them: asked for by mail, shown in Automations, fired at their time, obeyed.

The clock is set by hand; a fake one replaces the machine's before the program starts.
"""

import contextlib
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from bridge import app as composition
from mailstore import messages
from tests.post.desk import AGENT, Desk, Kept, Person, desk, opened

BERLIN = ZoneInfo("Europe/Berlin")
SCHEDULE = "schedule@postroom.internal"


class HandClock:
    """A wall clock that a test sets."""

    def __init__(self) -> None:
        self.at = 0
        self.set("2026-11-30 09:12")

    def set(self, local: str) -> None:
        self.at = int(datetime.fromisoformat(local).replace(tzinfo=BERLIN).timestamp() * 1000)

    def now(self) -> int:
        return self.at


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> HandClock:
    made = HandClock()
    monkeypatch.setattr(composition, "WallClock", lambda: made)
    return made


@contextlib.asynccontextmanager
async def at_home(tmp_path: Path) -> AsyncIterator[tuple[Desk, Person]]:
    async with desk(tmp_path, timezone="Europe/Berlin") as made:
        yield made, await made.person("ada")


async def later(made: Desk, clock: HandClock, local: str) -> None:
    """It is later now: the program looks at the clock."""
    clock.set(local)
    await made.app.runtime.tick()
    await made.settled()


async def armed(person: Person, subject: str = "Inbox summary", text: str = "every weekday at 8: list my mail") -> Kept:
    """A schedule set by mail and approved; its message in Automations."""
    await person.write(SCHEDULE, subject, text)
    await person.reply(await person.mail("Approve?"), "approve")
    await person.mail("Re:")
    return (await person.wait("Automations", lambda all: len(all) == 1))[0]


# Reminders


async def test_a_reminder_comes_as_unread_mail_in_its_thread_at_its_time(tmp_path: Path, clock: HandClock) -> None:
    async with at_home(tmp_path) as (made, ada):
        await ada.write(AGENT, "Plants", "Remind me tomorrow at 9:00 to water the plants.")
        done = await ada.mail("Re: Plants")
        assert "Tue 1 Dec 09:00 (Europe/Berlin)" in done.text
        [shown] = await ada.wait("Automations", lambda all: len(all) == 1)
        assert shown.message["Subject"] == "[active] Water the plants: once, on Tue 1 Dec 2026, 09:00"
        assert shown.seen
        await later(made, clock, "2026-12-01 08:59")
        assert not [kept for kept in ada.mails() if "Reminder" in kept.message["Subject"]]
        await later(made, clock, "2026-12-01 09:00")
        reminder = await ada.mail("Reminder: Water the plants")
        assert not reminder.seen
        assert reminder.text.startswith("Water the plants")
        assert "late" not in reminder.text
        assert reminder.message["In-Reply-To"] == done.message["Message-ID"]
        assert reminder.message["Postroom-Thread"] == done.message["Postroom-Thread"]
        assert await ada.wait("Automations", lambda all: not all) == []
        await later(made, clock, "2026-12-02 09:00")
        assert len([kept for kept in ada.mails() if "Reminder" in kept.message["Subject"]]) == 1


async def test_a_reminder_that_was_missed_says_how_late_it_is(tmp_path: Path, clock: HandClock) -> None:
    async with at_home(tmp_path) as (made, ada):
        await ada.write(AGENT, "Cake", "Remind me in two hours to take out the cake")
        await ada.mail("Re: Cake")
        await later(made, clock, "2026-11-30 14:32")
        reminder = await ada.mail("Reminder:")
        assert "This is 3 h 20 min late: it was due Mon 30 Nov 11:12" in reminder.text


async def test_a_recurring_reminder_names_the_next_one(tmp_path: Path, clock: HandClock) -> None:
    async with at_home(tmp_path) as (made, ada):
        await ada.write(AGENT, "Timesheet", "Every Friday at 16:00 remind me to send the timesheet")
        await ada.mail("Re: Timesheet")
        await later(made, clock, "2026-12-04 16:00")
        first = await ada.mail("Reminder:")
        assert "Every Friday, 16:00 (Europe/Berlin); next: Fri 11 Dec 16:00" in first.text
        await later(made, clock, "2026-12-11 16:00")
        await ada.mail("Reminder:", nth=2)
        await ada.wait("Automations", lambda all: "Last: Fri 11 Dec 16:00, reminded you" in all[0].text)


async def test_what_was_due_while_nothing_ran_comes_once_at_the_next_start(tmp_path: Path, clock: HandClock) -> None:
    async with at_home(tmp_path) as (_, ada):
        await ada.write(AGENT, "Stretch", "Remind me every day at 10:00 to stretch")
        await ada.mail("Re: Stretch")
        who = ada.identity
    clock.set("2026-12-03 12:00")
    for _ in range(2):
        async with desk(tmp_path, timezone="Europe/Berlin") as again:
            ada = Person(again, who)
            await ada.mail("Reminder:")
            await again.settled()
            found = [kept for kept in ada.mails() if "Reminder" in kept.message["Subject"]]
            assert len(found) == 1
            assert "This is 3 d 2 h late: it was due Mon 30 Nov 10:00" in found[0].text


# Schedules


async def test_a_schedule_in_plain_words_is_shown_then_armed_then_runs_in_one_thread(
    tmp_path: Path, clock: HandClock
) -> None:
    async with at_home(tmp_path) as (made, ada):
        await ada.write(SCHEDULE, "Inbox summary", "each working morning at eight: list my unread mail")
        request = await ada.mail("Approve?")
        assert request.message["Subject"].startswith('Approve? Monday to Friday, 08:00, "Inbox summary" [A-')
        assert "Tue 1 Dec 08:00, Wed 2 Dec 08:00, Thu 3 Dec 08:00" in request.text
        assert "Europe/Berlin" in request.text
        assert "each working morning at eight" in request.text
        assert [kept.uid for kept in ada.mails("Action")]
        assert ada.mails("Automations") == []
        await ada.reply(request, "approve")
        told = await ada.mail("Re: Inbox summary")
        assert "Armed." in told.text
        await later(made, clock, "2026-12-01 08:00")
        first = await ada.mail("Re: Inbox summary", nth=2)
        await later(made, clock, "2026-12-02 08:00")
        second = await ada.mail("Re: Inbox summary", nth=3)
        threads = {kept.message["Postroom-Thread"] for kept in (request, told, first, second)}
        assert len(threads) == 1
        assert second.message["In-Reply-To"] == first.message["Message-ID"]
        assert "assistant@" in str(first.message["From"])
        await ada.wait("Automations", lambda all: "Wed 2 Dec 08:00, done" in all[0].text)


async def test_a_rejected_schedule_is_not_armed(tmp_path: Path, clock: HandClock) -> None:
    async with at_home(tmp_path) as (_, ada):
        await ada.write(SCHEDULE, "Noise", "every hour: list my mail")
        await ada.reply(await ada.mail("Approve?"), "reject: too often")
        told = await ada.mail("Re: Noise")
        assert told.text.startswith("Not scheduled.")
        assert ada.mails("Automations") == []


async def test_other_words_change_the_proposal(tmp_path: Path, clock: HandClock) -> None:
    async with at_home(tmp_path) as (_, ada):
        await ada.write(SCHEDULE, "Mail", "every hour: list my mail")
        await ada.reply(await ada.mail("Approve?"), "I would rather have it every day at 18:00")
        changed = await ada.mail('Every day, 18:00, "Mail"')
        assert "| Task       List my mail" in changed.text
        await ada.reply(changed, "every day at 19:00: show what is urgent")
        assert "| Task       Show what is urgent" in (await ada.mail('Every day, 19:00, "Mail"')).text


async def test_an_edit_is_shown_again_and_what_is_armed_is_what_was_shown(tmp_path: Path, clock: HandClock) -> None:
    async with at_home(tmp_path) as (_, ada):
        await ada.write(SCHEDULE, "Wochenbericht", "jeden Freitag um 16 Uhr: Liste meine ungelesenen Mails auf")
        await ada.reply(await ada.mail("Approve?"), "edit\nlate: skip\nwhen: 0 17 * * 5")
        changed = await ada.mail('Every Friday, 17:00, "Wochenbericht"')
        assert "| Late       skip" in changed.text
        await ada.reply(changed, "approve")
        told = await ada.mail("Re: Wochenbericht")
        assert told.text.startswith("Armed, as you changed it. It is set. Next: Fri 4 Dec 17:00")
        [shown] = await ada.wait("Automations", lambda all: len(all) == 1)
        assert "A time that was missed is left out." in shown.text
        assert "You wrote" not in shown.text  # the words were of another hour


async def test_a_mail_without_a_time_is_answered_with_how_to_say_one(tmp_path: Path, clock: HandClock) -> None:
    async with at_home(tmp_path) as (_, ada):
        await ada.write(SCHEDULE, "Hello", "please be so kind")
        told = await ada.mail("Re: Hello")
        assert told.text.startswith("Not scheduled: no time could be read")
        await ada.write(SCHEDULE, "Sevens", "every 7 minutes: list my mail")
        assert "every 7 minutes does not fit an hour" in (await ada.mail("Re: Sevens")).text


async def test_a_missed_run_says_how_late_it_is(tmp_path: Path, clock: HandClock) -> None:
    async with at_home(tmp_path) as (made, ada):
        await armed(ada)
        await later(made, clock, "2026-12-01 11:00")
        assert (await ada.mail("Inbox summary (3 h late)")).message["Subject"] == "Re: Inbox summary (3 h late)"


# Words


async def test_the_words_of_a_schedules_message(tmp_path: Path, clock: HandClock) -> None:
    async with at_home(tmp_path) as (made, ada):
        shown = await armed(ada)
        assert str(shown.message["From"]).endswith("<schedule@postroom.internal>")
        await ada.reply(shown, "pause")
        told = await ada.mail("Re: [active]")
        assert told.text.startswith("Paused:")
        [shown] = await ada.wait("Automations", lambda all: "[paused]" in all[0].message["Subject"])
        assert "$Trigger-paused" in shown.keywords
        await later(made, clock, "2026-12-01 08:00")
        assert not [kept for kept in ada.mails() if "assistant@" in str(kept.message["From"])]
        await ada.reply(shown, "Run now.")
        await ada.mail("Re: Inbox summary", nth=2)
        [shown] = ada.mails("Automations")
        await ada.reply(shown, "resume")
        await ada.wait("Automations", lambda all: "[active]" in all[0].message["Subject"])
        await later(made, clock, "2026-12-02 08:00")
        await ada.mail("Re: Inbox summary", nth=3)
        await ada.reply(ada.mails("Automations")[0], "make it nicer")
        assert "none of the words" in (await ada.mail("Re: [active]", nth=2)).text
        await ada.reply(shown, "delete")  # an older state of the message
        await ada.wait("Automations", lambda all: not all)
        await ada.reply(shown, "resume")
        assert "is over, or was deleted" in (await ada.mail("Re: [paused]", nth=4)).text
        await later(made, clock, "2026-12-03 08:00")
        assert len([kept for kept in ada.mails() if "assistant@" in str(kept.message["From"])]) == 2


async def test_another_account_cannot_say_a_word_to_it(tmp_path: Path, clock: HandClock) -> None:
    async with at_home(tmp_path) as (made, ada):
        shown = await armed(ada)
        eve = await made.person("eve")
        await eve.reply(shown, "delete", to=SCHEDULE)
        await made.settled()
        assert "[active]" in ada.mails("Automations")[0].message["Subject"]


async def test_trash_switches_off_restoring_pauses_and_expunging_deletes(tmp_path: Path, clock: HandClock) -> None:
    async with at_home(tmp_path) as (made, ada):
        shown = await armed(ada)
        await ada.move(shown, "Automations", "Trash")
        await later(made, clock, "2026-12-01 08:00")
        assert not [kept for kept in ada.mails() if "assistant@" in str(kept.message["From"])]
        [thrown] = [kept for kept in ada.mails("Trash") if "[active]" in kept.message["Subject"]]
        await ada.move(thrown, "Trash", "Automations")
        [shown] = await ada.wait("Automations", lambda all: bool(all) and "[paused]" in all[0].message["Subject"])
        kept = made.app.runtime.automations
        assert len(made.app.store.read(lambda tx: kept.all(tx, ada.identity.account))) == 1
        await ada.move(shown, "Automations", "Trash")
        [thrown] = [kept for kept in ada.mails("Trash") if "[paused]" in kept.message["Subject"]]
        trash = ada.mailbox("Trash")
        await made.app.store.write(lambda tx: messages.expunge(tx, trash, [thrown.uid], only_deleted=False))
        assert made.app.store.read(lambda tx: kept.all(tx, ada.identity.account)) == []


async def test_an_expunged_message_deletes_at_once(tmp_path: Path, clock: HandClock) -> None:
    async with at_home(tmp_path) as (made, ada):
        shown = await armed(ada)
        box = ada.mailbox("Automations")
        await made.app.store.write(lambda tx: messages.expunge(tx, box, [shown.uid], only_deleted=False))
        kept = made.app.runtime.automations
        assert made.app.store.read(lambda tx: kept.all(tx, ada.identity.account)) == []
        await later(made, clock, "2026-12-01 08:00")
        assert not [kept for kept in ada.mails() if "assistant@" in str(kept.message["From"])]


async def test_a_mail_accepted_before_a_crash_sets_one_reminder(tmp_path: Path, clock: HandClock) -> None:
    """Taken in, and nothing done yet; then two starts."""
    async with at_home(tmp_path) as (made, ada):
        who = ada.identity
    async with opened(tmp_path, made.sink, 1, work=False, timezone="Europe/Berlin") as dead:
        await Person(dead, who).write(AGENT, "Milk", "remind me tomorrow at 9 to buy milk")
    for _ in range(2):
        async with opened(tmp_path, made.sink, 1, timezone="Europe/Berlin") as alive:
            ada = Person(alive, who)
            await ada.mail("Re: Milk")
            await ada.wait("Automations", lambda all: len(all) == 1)
            await alive.settled()
            assert len(ada.mails("Automations")) == 1
