"""The gate: what runs by itself, what asks, and that nothing opens it by accident."""

from typing import Any

import pytest

from agents.gate import Setting, Verdict, effective_risk, grantable, rule
from agents.llm import ToolSpec
from agents.profile import Profile
from agents.tool import Act, Ask, BaseTool, Risk

CLEAN = Setting(False, "")
MARKED = Setting(True, "read https://example.org/a please")
PROFILE = Profile("assistant", "Assistant", "")


def tool(risk: Risk, *, open_world: bool = False, **hints: Any) -> BaseTool:
    made = BaseTool(ToolSpec("t", "d", {}, hints))
    made.risk = risk
    made.open_world = open_world
    return made


def verdict(
    risk: Risk, setting: Setting, *, grant: bool = False, args: dict[str, Any] | None = None, **more: Any
) -> Verdict:
    return rule(tool(risk, **more), Act(), args or {}, PROFILE, setting, lambda: grant).verdict


@pytest.mark.parametrize(
    ("risk", "clean", "granted", "marked"),
    [
        (Risk.READ, "run", "run", "run"),
        (Risk.WRITE_OWN, "run", "run", "run"),
        (Risk.SEND, "run", "run", "run"),
        (Risk.WRITE_USER, "ask", "run", "ask"),
        (Risk.SEND_OUT, "ask", "run", "ask"),
        (Risk.DANGER, "ask", "ask", "ask"),
    ],
)
def test_the_table(risk: Risk, clean: str, granted: str, marked: str) -> None:
    assert verdict(risk, CLEAN) == clean
    assert verdict(risk, CLEAN, grant=True) == granted
    assert verdict(risk, MARKED, grant=True) == marked


def test_every_risk_is_in_the_table() -> None:
    assert {Risk.READ, Risk.WRITE_OWN, Risk.SEND, Risk.WRITE_USER, Risk.SEND_OUT, Risk.DANGER} == set(Risk)


def test_a_question_always_asks() -> None:
    assert rule(tool(Risk.READ), Ask("why?"), {}, PROFILE, CLEAN, lambda: True).verdict is Verdict.ASK


def test_a_leave_is_not_used_up_where_it_does_not_count() -> None:
    used: list[int] = []

    def use() -> bool:
        used.append(1)
        return True

    for risk, setting in ((Risk.READ, CLEAN), (Risk.DANGER, CLEAN), (Risk.SEND_OUT, MARKED)):
        rule(tool(risk), Act(), {}, PROFILE, setting, use)
    assert used == []


@pytest.mark.parametrize(
    ("hints", "risk", "effective"),
    [
        ({"readOnlyHint": True}, Risk.DANGER, Risk.DANGER),
        ({"destructiveHint": False}, Risk.WRITE_USER, Risk.WRITE_USER),
        ({"destructiveHint": True}, Risk.WRITE_OWN, Risk.WRITE_USER),
        ({"destructiveHint": True}, Risk.SEND_OUT, Risk.SEND_OUT),
    ],
)
def test_hints_only_raise(hints: dict[str, bool], risk: Risk, effective: Risk) -> None:
    assert effective_risk(tool(risk, **hints)) is effective


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ({"url": "https://example.org/a"}, "run"),
        ({"url": "https://example.org/b"}, "ask"),
        ({"urls": ["https://example.org/a", "https://evil.example"]}, "ask"),
        ({"deep": {"er": "secret"}}, "ask"),
        ({"count": 3}, "run"),
    ],
)
def test_in_a_marked_run_the_open_world_hears_only_the_users_words(args: dict[str, Any], expected: str) -> None:
    assert verdict(Risk.READ, MARKED, args=args, open_world=True) == expected
    assert verdict(Risk.READ, CLEAN, args=args, open_world=True) == "run"


@pytest.mark.parametrize("risk", list(Risk))
def test_no_leave_is_offered_in_a_marked_run(risk: Risk) -> None:
    assert not grantable(risk, tainted=True)
