"""The loop as a function: every state of a run and the one action it leads to."""

import dataclasses
from typing import Any

import pytest

from agents.budget import Caps, Totals
from agents.llm import ModelFault
from agents.loop import CallModel, Collect, Finish, Nothing, Pause, Start, TakeLetters, View, Wait, decide
from agents.states import ENDED, CallState, PlanKind, RunState, StepKind
from agents.store import Call, Try
from agents.tool import Risk

NOW = 1_000_000
NONE_USED = Totals(0, 0, 0, 0, False, 0, 0, 0)
CAPS = Caps(30, 60, 200_000, 500_000, 1_200_000, 2_000_000, 5_000_000)


def view(**more: Any) -> View:
    """A run that has just begun, with whatever is different."""
    start = View(
        state=RunState.RUNNING,
        cancelled=None,
        overdue=False,
        now=NOW,
        seq=1,
        last=StepKind.USER,
        text="",
        wants_calls=False,
        calls=(),
        tries=(),
        letters=0,
        empties=0,
        unknown_tools=0,
        bad_args=0,
        repeats=0,
        totals=NONE_USED,
        caps=CAPS,
    )
    return dataclasses.replace(start, **more)


def call(
    name: str, state: CallState, risk: Risk = Risk.READ, plan: PlanKind = PlanKind.ACT, not_before: int = 0
) -> Call:
    ended = state not in (CallState.WAITING_APPROVAL, CallState.APPROVED, CallState.STARTED, CallState.UNKNOWN)
    return Call(
        id=name,
        run="r",
        seq=1,
        idx=0,
        tool=name,
        def_hash="",
        args={},
        args_hash="",
        asked_hash="",
        raw_args="{}",
        risk=risk,
        plan=plan,
        state=state,
        gated=False,
        fault=None,
        repeats=1,
        attempt=0,
        idem_key=name,
        not_before=not_before,
        child=None,
        result="x" if ended else None,
        result_hash=None,
        whole=None,
        ok=True,
        note="",
        untrusted=False,
        source="",
        files="[]",
        created=0,
        started=None,
        ended=NOW if ended else None,
    )


def turn(*calls: Call, **more: Any) -> View:
    return view(last=StepKind.MODEL, wants_calls=True, calls=calls, seq=2, **more)


def test_a_new_run_asks_the_model() -> None:
    assert decide(view()) == CallModel(1, 0)


@pytest.mark.parametrize("state", sorted(ENDED))
def test_an_ended_run_does_nothing(state: RunState) -> None:
    assert decide(view(state=state, cancelled="x")) == Nothing()


@pytest.mark.parametrize(
    "more", [{}, {"letters": 3}, {"overdue": True}, {"repeats": 9}, {"last": StepKind.MODEL, "text": "Done."}]
)
def test_a_stop_goes_before_everything(more: dict[str, Any]) -> None:
    assert decide(view(cancelled="You stopped it.", **more)) == Finish(RunState.CANCELLED, "You stopped it.")


def test_age_goes_before_work() -> None:
    action = decide(turn(call("a", CallState.APPROVED), overdue=True))
    assert isinstance(action, Finish)
    assert action.state is RunState.EXPIRED


def test_words_without_calls_are_the_result() -> None:
    assert decide(view(last=StepKind.MODEL, text="Done: ok.", seq=2)) == Finish(RunState.DONE, "Done: ok.")


def test_letters_are_read_before_the_model_is_asked() -> None:
    assert decide(view(last=StepKind.RESULTS, letters=1)) == TakeLetters()


def test_letters_wait_while_calls_are_open() -> None:
    waiting = call("a", CallState.WAITING_APPROVAL, Risk.DANGER)
    assert decide(turn(waiting, letters=1)) == Wait(RunState.WAITING_APPROVAL)


def test_reads_run_side_by_side_before_anything_else_four_at_most() -> None:
    reads = [call(f"r{number}", CallState.APPROVED) for number in range(6)]
    effect = call("e", CallState.APPROVED, Risk.WRITE_USER)
    assert decide(turn(effect, *reads)) == Start(("r0", "r1", "r2", "r3"))


def test_effects_run_one_by_one_in_order() -> None:
    effects = [call(f"e{number}", CallState.APPROVED, Risk.WRITE_USER) for number in range(3)]
    assert decide(turn(*effects)) == Start(("e0",))


def test_a_call_in_its_time_of_grace_waits() -> None:
    later = call("a", CallState.APPROVED, Risk.DANGER, not_before=NOW + 5)
    assert decide(turn(later)) == Wait(RunState.WAITING_TIME, NOW + 5)


def test_all_results_are_collected_together() -> None:
    assert decide(turn(call("a", CallState.DONE), call("b", CallState.DENIED))) == Collect()


@pytest.mark.parametrize(
    ("calls", "state"),
    [
        ([("a", CallState.WAITING_APPROVAL, PlanKind.ACT)], RunState.WAITING_APPROVAL),
        ([("a", CallState.WAITING_APPROVAL, PlanKind.ASK)], RunState.WAITING_USER),
        ([("a", CallState.STARTED, PlanKind.DELEGATE)], RunState.WAITING_CHILD),
        ([("a", CallState.STARTED, PlanKind.MAIL)], RunState.WAITING_SEND),
        (
            [("a", CallState.UNKNOWN, PlanKind.ACT), ("b", CallState.WAITING_APPROVAL, PlanKind.ACT)],
            RunState.WAITING_UNKNOWN,
        ),
        (
            [("a", CallState.WAITING_APPROVAL, PlanKind.ASK), ("b", CallState.WAITING_APPROVAL, PlanKind.ACT)],
            RunState.WAITING_APPROVAL,
        ),
        ([("a", CallState.DONE, PlanKind.ACT), ("b", CallState.STARTED, PlanKind.DELEGATE)], RunState.WAITING_CHILD),
    ],
)
def test_what_a_run_waits_for(calls: list[tuple[str, CallState, PlanKind]], state: RunState) -> None:
    made = [call(name, one, Risk.SEND_OUT, plan) for name, one, plan in calls]
    assert decide(turn(*made)) == Wait(state)


@pytest.mark.parametrize("more", [{"repeats": 5}, {"unknown_tools": 3}, {"bad_args": 3}])
def test_a_run_that_goes_in_circles_is_stuck(more: dict[str, int]) -> None:
    action = decide(view(last=StepKind.RESULTS, **more))
    assert isinstance(action, Finish)
    assert action.state is RunState.STUCK


@pytest.mark.parametrize(("empties", "ends"), [(1, False), (2, False), (3, True)])
def test_empty_answers(empties: int, ends: bool) -> None:
    action = decide(view(last=StepKind.NOTE, empties=empties))
    assert isinstance(action, Finish if ends else CallModel)


def test_a_failed_try_waits_for_its_time() -> None:
    failed = Try("failed", ModelFault.TRANSIENT, "503", NOW + 7, NOW)
    assert decide(view(tries=(failed,))) == Wait(RunState.WAITING_TIME, NOW + 7)
    assert decide(view(tries=(failed,), now=NOW + 7)) == CallModel(1, 1)


def test_a_failed_try_that_is_not_repeated_ends_the_run() -> None:
    failed = Try("failed", ModelFault.AUTH, "bad key", None, NOW)
    assert decide(view(tries=(failed,))) == Finish(RunState.FAILED, "bad key")


def test_a_lost_try_is_made_again_at_once() -> None:
    assert decide(view(tries=(Try("lost", None, "", None, NOW),))) == CallModel(1, 1)


@pytest.mark.parametrize(
    ("used", "limit"),
    [({"model_calls": 30}, "model_calls"), ({"tokens": 200_001}, "tokens"), ({"active_ms": 1_200_000}, "time")],
)
def test_a_limit_pauses_before_the_model_is_asked(used: dict[str, Any], limit: str) -> None:
    action = decide(view(totals=dataclasses.replace(NONE_USED, **used)))
    assert isinstance(action, Pause)
    assert action.over.limit == limit


def test_a_limit_does_not_take_the_result_away() -> None:
    used = dataclasses.replace(NONE_USED, model_calls=30)
    assert decide(view(last=StepKind.MODEL, text="Done.", totals=used)) == Finish(RunState.DONE, "Done.")
