"""SIGKILL at the points that the writer and the effects name, of real servers with real mail clients.

For each point: the errand runs until the server dies there, a new server starts on the same folder, the client does
what clients do, and in the end everything has to hold (see `verdict`). By day a choice of the points, at night all.
"""

import random
from collections.abc import Sequence

import pytest

from tests.conftest import NIGHTLY
from tests.crash.histories import Told, Town, play
from tests.crash.user import KINDS

EFFECTS = {
    "send": {"mail.before", "mail.data_sent", "mail.after"}
    | {f"relay.{phase}.{when}" for phase in ("connect", "data") for when in ("before", "after")},
    "cut": {"mail.data_sent", "relay.data.before", "mail.after"},
    "delegate": {"tool.read_attachment.before", "tool.read_attachment.after"},
}
"""What must be among the points of an errand, beside commits and model calls."""


def chosen(points: Sequence[str], budget: int, dice: random.Random) -> list[int]:
    """Numbers of points: the first and last of each name, then others by lot, up to the budget (0: all)."""
    every = range(1, len(points) + 1)
    if not budget:
        return list(every)
    ends = {points.index(name) + 1 for name in points}
    ends |= {len(points) - points[::-1].index(name) for name in points}
    rest = [number for number in every if number not in ends]
    return sorted(ends | set(dice.sample(rest, min(len(rest), max(0, budget - len(ends))))))


def test_the_choice_holds_each_name_first_and_last() -> None:
    points = ["a", "b", "a", "b", "c", "a", "b", "a", "d"]
    assert chosen(points, 1, random.Random(1)) == [1, 2, 5, 7, 8, 9]
    assert len(chosen(points, 8, random.Random(1))) == 8
    assert chosen(points, 0, random.Random(1)) == list(range(1, 10))


def sound(town: Town, kind: str, *crashes: int) -> Told:
    """Play, and see that everything holds."""
    told = play(town, kind, crashes)
    assert told.faults == [], told.say(kind)
    return told


@pytest.mark.parametrize("kind", KINDS)
def test_a_kill_at_each_point(kind: str, town: Town) -> None:
    points = sound(town, kind).points
    assert {"commit.before", "commit.after", "model.before", "model.after"} <= set(points)
    assert EFFECTS.get(kind, set()) <= set(points)
    numbers = chosen(points, 0 if NIGHTLY else 8, random.Random(kind))
    killed = [name for number in numbers for name in sound(town, kind, number).killed]
    assert len(killed) >= len(numbers) * 3 // 4  # how commits are grouped differs a little from life to life


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["send", "cut"])
def test_a_second_kill_while_the_first_is_taken_up(kind: str, town: Town) -> None:
    points = sound(town, kind).points
    dice = random.Random(kind)
    for number in chosen(points, 0, dice):
        sound(town, kind, number, dice.randint(1, 30))


PLANTED = [
    ("answers early", "delegate", "commit.before", 5, "nothing came for"),
    ("sends again", "send", "relay.data.after", 1, "2 mails left, where 1 to 1 may"),
    ("delivers twice", "delegate", "commit.after", -3, "INBOX holds"),
]
"""A fault, an errand that shows it, which occurrence of which point it shows at, and what is told."""


@pytest.mark.parametrize(("fault", "kind", "name", "nth", "words"), PLANTED)
def test_a_planted_fault_is_noticed(fault: str, kind: str, name: str, nth: int, words: str, town: Town) -> None:
    points = play(town, kind, fault=fault, patience=3).points
    numbers = [number for number, one in enumerate(points, 1) if one == name]
    at = numbers[nth - 1 if nth > 0 else nth]
    near = sorted(range(max(1, at - 6), at + 7), key=lambda number: abs(number - at))
    told = (play(town, kind, [number], fault=fault, patience=3) for number in near)
    assert any(words in fault for one in told for fault in one.faults)
