"""The tools `remind_me` and `schedule` over the calendar, on a real database: what they take, show and put down."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agents import discover, gate, schema, trigger, trigger_secret
from agents.offer import Offer
from agents.planner import Planner
from agents.profile import Profile
from agents.tool import Tool, ToolCall, ToolContext, ToolFailed, Within
from agents.trigger import Trigger
from config.settings import Settings
from mailstore.sqlite import Database
from tests.agents.kit import SERIES, FakeClock, FakeMail
from tests.agents.triggers.clock import moment

SETTINGS = Settings(Path("/x"), timezone="Europe/Berlin")
TASK = {"when": "0 8 * * 1-5", "task": "list my mail", "title": "Inbox summary"}


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(moment("2026-11-30 08:12"))


@pytest.fixture
def tools(clock: FakeClock) -> dict[str, Tool]:
    planner = Planner(SETTINGS, clock)
    return {tool.spec.name: tool for tool in discover.tools(Offer(schedule=planner, calendar=planner))}


@pytest.fixture
async def db(tmp_path: Path) -> AsyncIterator[Database]:
    made = await Database.open(tmp_path / "postroom.db", [SERIES])
    yield made
    await made.close()


def context(clock: FakeClock, tainted: bool = False, agent: str = "assistant") -> ToolContext:
    return ToolContext(1, agent, "7", "run-1", 0, tainted, (), "", FakeMail(), clock)


async def apply(
    db: Database, tool: Tool, args: dict[str, Any], ctx: ToolContext, key: str = "k"
) -> tuple[str, Trigger]:
    assert schema.faults(tool.spec.schema, args) == []
    assert isinstance(tool.plan(args), Within)
    result = await db.write(lambda tx: tool.apply(tx, ToolCall("c", "run-1", key, tool.spec.name, args), ctx))
    row = db.read(lambda tx: tx.one("agents.triggers.by_key", account=1, key=key))
    assert row is not None
    return result.text, trigger.to_trigger(row)


async def test_a_reminder_is_a_row_in_the_users_zone(db: Database, tools: dict[str, Tool], clock: FakeClock) -> None:
    args = {"text": "Water the plants", "at": "2026-12-01T09:00"}
    text, item = await apply(db, tools["remind_me"], args, context(clock))
    assert text == "The reminder is set. Next: Tue 1 Dec 09:00 (Europe/Berlin)"
    assert (item.act, item.kind, item.thread, item.due_at) == ("remind", "once", "7", moment("2026-12-01 08:00"))


@pytest.mark.parametrize(
    ("every", "coming"),
    [
        ("hour", "Mon 30 Nov 10:00, Mon 30 Nov 11:00, Mon 30 Nov 12:00"),
        ("weekday", "Mon 30 Nov 10:00, Tue 1 Dec 10:00, Wed 2 Dec 10:00"),
        ("month", "Mon 30 Nov 10:00, Wed 30 Dec 10:00, Sat 30 Jan 10:00"),
    ],
)
async def test_a_reminder_again_and_again(
    db: Database, tools: dict[str, Tool], clock: FakeClock, every: str, coming: str
) -> None:
    args = {"text": "x", "at": "2026-11-30T10:00", "every": every}
    text, _ = await apply(db, tools["remind_me"], args, context(clock))
    assert text == f"The reminder is set. Next: {coming} (Europe/Berlin)"


async def test_a_reminder_in_the_past_is_refused_and_nothing_is_written(
    db: Database, tools: dict[str, Tool], clock: FakeClock
) -> None:
    with pytest.raises(ToolFailed, match="that time has passed"):
        await apply(db, tools["remind_me"], {"text": "x", "at": "2026-11-30T09:00"}, context(clock))
    assert db.read(lambda tx: tx.value("agents.triggers.count", account=1)) == 0


async def test_the_mark_of_the_run_goes_into_the_row(db: Database, tools: dict[str, Tool], clock: FakeClock) -> None:
    _, item = await apply(db, tools["remind_me"], {"text": "x", "at": "2026-12-01T09:00"}, context(clock, tainted=True))
    assert item.taint
    _, other = await apply(db, tools["schedule"], TASK, context(clock, tainted=True), key="k2")
    assert other.taint


async def test_a_schedule_is_what_was_shown(db: Database, tools: dict[str, Tool], clock: FakeClock) -> None:
    tool = tools["schedule"]
    said = tool.describe(TASK)
    assert said.subject == 'Monday to Friday, 08:00, "Inbox summary"'
    fields = {field.name: field.value for field in said.fields}
    assert fields["Next runs"] == "Tue 1 Dec 08:00, Wed 2 Dec 08:00, Thu 3 Dec 08:00"
    assert (fields["Zone"], fields["Late"], fields["Overlap"]) == ("Europe/Berlin", "once", "skip")
    text, item = await apply(db, tool, TASK, context(clock))
    assert fields["Next runs"] in text
    assert (item.spec, item.zone, item.late, item.overlap) == ("0 8 * * 1-5", "Europe/Berlin", "once", "skip")
    assert (item.agent, item.title, item.text) == ("assistant", "Inbox summary", "list my mail")


async def test_a_schedule_that_the_clerk_sets_is_done_by_an_agent(
    db: Database, tools: dict[str, Tool], clock: FakeClock
) -> None:
    _, item = await apply(db, tools["schedule"], TASK, context(clock, agent="schedule"))
    assert item.agent == "assistant"


async def test_the_same_call_again_sets_nothing_again(db: Database, tools: dict[str, Tool], clock: FakeClock) -> None:
    for _ in range(2):
        await apply(db, tools["schedule"], TASK, context(clock))
    assert db.read(lambda tx: tx.value("agents.triggers.count", account=1)) == 1


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"when": "soon"}, '"soon" is neither a time like'),
        ({"when": "tomorrow at 9"}, "give \"tomorrow at 9\" as a date and time, such as 2026-12-01T09:00"),
        ({"when": "0 0 31 2 *"}, "names a day that never comes"),
        ({"zone": "Europe/Atlantis"}, '"Europe/Atlantis" is no time zone'),
        ({"agent": "nobody"}, 'there is no "nobody"; there is assistant'),
    ],
)  # packed, to be seen at a glance  # fmt: skip
def test_what_cannot_be_planned_is_said_before_anyone_is_asked(
    tools: dict[str, Tool], change: dict[str, str], told: str
) -> None:
    with pytest.raises(ToolFailed) as fault:
        tools["schedule"].plan({**TASK, **change})
    assert told in fault.value.text


def test_plain_words_that_recur_are_taken(tools: dict[str, Tool]) -> None:
    args = {**TASK, "when": "every Monday at 9"}
    assert isinstance(tools["schedule"].plan(args), Within)
    assert tools["schedule"].describe(args).fields[0].value == "every Monday, 09:00"


@pytest.mark.parametrize(("name", "tainted", "verdict"), [
    ("remind_me", False, gate.Verdict.RUN),
    ("schedule", False, gate.Verdict.ASK),
    ("schedule", True, gate.Verdict.ASK),
])  # packed, to be seen at a glance  # fmt: skip
def test_a_reminder_is_free_and_a_schedule_asks(
    tools: dict[str, Tool], name: str, tainted: bool, verdict: gate.Verdict
) -> None:
    tool = tools[name]
    profile = Profile("assistant", "Assistant", "")
    ruling = gate.rule(tool, Within(), TASK, profile, gate.Setting(tainted, ""), lambda: False)
    assert ruling.verdict is verdict


def test_without_a_calendar_neither_is_offered() -> None:
    assert {"remind_me", "schedule"}.isdisjoint(tool.spec.name for tool in discover.tools(Offer()))


HOOK = {"when": "hook backup", "task": "say what failed", "title": "Backups"}


async def test_a_trigger_is_shown_without_times_and_set_in_line(
    db: Database, tools: dict[str, Tool], clock: FakeClock
) -> None:
    tool = tools["schedule"]
    said = tool.describe(HOOK)
    assert said.subject == 'Whenever mail comes to its hook "backup", "Backups"'
    fields = {field.name: field.value for field in said.fields}
    assert set(fields) == {"When", "Title", "Task", "Overlap"}
    _, item = await apply(db, tool, HOOK, context(clock))
    assert (item.kind, item.name, item.late, item.overlap) == ("hook", "backup", "all", "queue")
    assert (item.due_at, item.wake_at, item.state) == (None, None, "active")


async def test_the_address_of_a_hook_is_told_where_no_model_hears_it(
    db: Database, tools: dict[str, Tool], clock: FakeClock
) -> None:
    text, item = await apply(db, tools["schedule"], HOOK, context(clock, agent="schedule"))
    address = text.split()[-1]
    token = address.partition("@")[0].removeprefix("hook+backup.")
    assert db.read(lambda tx: trigger_secret.open_by(tx, 1, "hook", "backup", token)).trigger == item
    other = {**HOOK, "when": "hook second"}
    text, item = await apply(db, tools["schedule"], other, context(clock), key="k2")
    assert (
        text == "It is set. In a terminal, `postroom triggers secret hook second` makes its address and shows it once."
    )
    webhook = {**HOOK, "when": "webhook deploy"}
    text, item = await apply(db, tools["schedule"], webhook, context(clock, agent="schedule"), key="k3")
    assert "makes its secret and shows it once. Webhooks are off until the settings say" in text


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"act": "remind"}, "only times can remind"),
        ({"when": "mailbox office"}, 'describe no mailbox "office"'),
        ({"when": "hook a.b"}, "is no name for a hook"),
    ],
)
def test_a_trigger_that_cannot_be_is_said_before_anyone_is_asked(
    tools: dict[str, Tool], change: dict[str, str], told: str
) -> None:
    with pytest.raises(ToolFailed, match=told):
        tools["schedule"].plan({**HOOK, **change})
