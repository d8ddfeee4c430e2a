"""Who answers at schedule@, as a model: what it proposes for which words, and what it says of each result."""

import json
from typing import Any

import pytest

from agents import prompt
from agents.clerk import PROFILE, Clerk
from agents.llm import AssistantMessage, Message, ModelRequest, ResultMessage, SentCall, UserMessage
from agents.tools.schedule import NAME, SPEC
from config.zone import zone
from tests.agents.kit import FakeClock
from tests.agents.triggers.clock import moment

BERLIN = zone("Europe/Berlin")
assert BERLIN is not None
CLERK = Clerk(FakeClock(moment("2026-11-30 08:12")), BERLIN)  # 09:12 in Berlin


def letter(words: str, subject: str = "") -> UserMessage:
    return UserMessage(f"Subject: {subject}\nDate: Mon 2026-11-30 09:12 (Europe/Berlin)\n\n{words}", words)


async def reply(*messages: Message) -> Any:
    return await CLERK.complete(ModelRequest("", messages, (SPEC,), 100, "schedule"))


async def proposed(words: str, subject: str = "") -> dict[str, Any]:
    said = await reply(letter(words, subject))
    assert said.text == ""
    [call] = said.calls
    assert call.name == NAME
    args: dict[str, Any] = json.loads(call.raw_args)
    return args


@pytest.mark.parametrize(
    ("words", "subject", "when", "task", "title", "act"),
    [
        ("every weekday at 8: list my mail", "Inbox", "0 8 * * 1-5", "List my mail", "Inbox", "run"),
        ("list my mail\nand what waits", "every weekday at 8", "0 8 * * 1-5", "List my mail\nand what waits",
         "List my mail", "run"),
        ("every Friday at 16:00 remind me to call mum", "", "0 16 * * 5", "Call mum", "Call mum", "remind"),
        ("remind me to call mum", "tomorrow at 10", "2026-12-01T10:00", "Call mum", "Call mum", "remind"),
        ("erinnere mich morgen um 10 Uhr an den Zahnarzt", "", "2026-12-01T10:00", "Den Zahnarzt", "Den Zahnarzt",
         "remind"),
        ("in 20 minutes", "Look at the oven", "2026-11-30T09:32", "Look at the oven", "Look at the oven", "run"),
        ("", "every weekday at 8 list my mail", "0 8 * * 1-5", "List my mail", "list my mail", "run"),
        ("every day at 7: x", "Re: AW: Inbox", "0 7 * * *", "X", "Inbox", "run"),
    ],
)  # packed, to be seen at a glance  # fmt: skip
async def test_what_is_proposed(words: str, subject: str, when: str, task: str, title: str, act: str) -> None:
    args = await proposed(words, subject)
    assert (args["when"], args["task"], args["act"]) == (when, task, act)
    assert args["title"].lower() == title.lower()
    assert args["zone"] == "Europe/Berlin"
    assert set(args) <= set(SPEC.schema["properties"])


@pytest.mark.parametrize(
    ("words", "subject", "told"),
    [
        ("please be so kind", "Hello", "no time could be read"),
        ("every day at 8", "", "says when, but not what"),
        ("every 7 minutes: look", "", "every 7 minutes does not fit an hour"),
        ("on the 31st of February: sing", "", "there is no day 31.2."),
        ("", "", "no time could be read"),
    ],
)
async def test_what_cannot_be_read_is_answered_with_examples(words: str, subject: str, told: str) -> None:
    said = await reply(letter(words, subject))
    assert said.calls == ()
    assert said.text.startswith("Not scheduled")
    assert told in said.text
    assert "every weekday at 8" in said.text


def after(result: str, ok: bool) -> tuple[Message, ...]:
    """A proposal and what became of it."""
    args = {"when": "0 8 * * 1-5", "task": "List my mail", "title": "Inbox", "act": "run"}
    asked = AssistantMessage("", (SentCall("c1", NAME, args),))
    return letter("every weekday at 8: list my mail", "Inbox"), asked, ResultMessage("c1", NAME, result, ok)


@pytest.mark.parametrize(
    ("words", "subject", "when", "task", "title"),
    [
        ("webhook deploy: say what broke", "Deploys", "webhook deploy", "Say what broke", "Deploys"),
        ("say what broke", "webhook deploy:", "webhook deploy", "Say what broke", "Say what broke"),
        ("when mail comes to the hook backup", "Say what failed", "hook backup", "Say what failed", "Say what failed"),
        ("watch the mailbox office: say when someone wants to meet tomorrow at 9", "", "mailbox office",
         "Say when someone wants to meet tomorrow at 9", "Say when someone wants to meet tomorrow at 9"),
    ],
)  # packed, to be seen at a glance  # fmt: skip
async def test_what_sets_a_task_off(words: str, subject: str, when: str, task: str, title: str) -> None:
    said = await reply(letter(words, subject))
    [call] = said.calls
    args = json.loads(call.raw_args)
    assert (args["when"], args["task"], args["title"], args["act"]) == (when, task, title, "run")
    assert "zone" not in args
    assert set(args) <= set(SPEC.schema["properties"])


async def test_a_trigger_without_a_task_is_asked_for_one() -> None:
    assert "but not what is to be done" in (await reply(letter("watch the mailbox office"))).text


async def test_an_approved_one_is_armed() -> None:
    said = await reply(*after("It is set. Next: Tue 1 Dec 08:00 (Europe/Berlin)", True))
    assert said.text.startswith("Armed. It is set. Next: Tue 1 Dec 08:00 (Europe/Berlin)")


async def test_a_changed_one_is_armed_as_changed() -> None:
    said = await reply(*after(prompt.result_changed("It is set. Next: Fri 4 Dec 17:00", {"when": "0 17 * * 5"}), True))
    assert said.text.startswith("Armed, as you changed it. It is set. Next: Fri 4 Dec 17:00")


@pytest.mark.parametrize("result", [prompt.result_rejected("no"), prompt.result_expired(), prompt.result_cancelled()])
async def test_a_refused_one_is_not(result: str) -> None:
    assert (await reply(*after(result, False))).text.startswith("Not scheduled. Not done:")


@pytest.mark.parametrize(
    ("words", "when", "task"),
    [
        ("rather every day at 18:00", "0 18 * * *", "List my mail"),
        ("every day at 19:00: only what is urgent", "0 19 * * *", "Only what is urgent"),
        ("lieber montags um 9", "0 9 * * 1", "List my mail"),
    ],
)
async def test_other_words_are_another_proposal(words: str, when: str, task: str) -> None:
    [call] = (await reply(*after(prompt.result_answered(words), False))).calls
    args = json.loads(call.raw_args)
    assert (args["when"], args["task"], args["title"]) == (when, task, "Inbox")


async def test_words_without_a_time_end_it() -> None:
    said = await reply(*after(prompt.result_answered("what is this?"), False))
    assert (said.calls, said.text.startswith("Not scheduled")) == ((), True)


def test_it_has_one_tool_and_no_specialist() -> None:
    assert (PROFILE.tools, PROFILE.skills) == ((NAME,), ())
    assert (CLERK.demo, CLERK.endpoint) == (True, None)
