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

WHEN = ("before", "after")
EFFECTS = {
    "send": ("mail", "relay.connect", "relay.data", "tool.read_attachment"),
    "cut": ("mail", "relay.connect"),
    "delegate": ("tool.read_attachment",),
}
"""Effects that must be among the points of an errand, beside those of every errand."""

COMMITS = (
    "Runtime.start",
    "Intake.act",
    "Runner.claim",
    "Runner._advance",
    "Runner._keep.<locals>.both",
    "Courier.deliver",
)
"""Functions whose commits must be among the points of every errand."""


def name_of(point: str) -> str:
    return point.rpartition(":")[0]


def by_day(points: Sequence[str], dice: random.Random) -> list[str]:
    """Of each effect the first and last point; of the commits of each function one: before or after, first or last."""
    first = {name_of(point): point for point in reversed(points)}
    last = {name_of(point): point for point in points}
    picked = {point for name in first if not name.startswith("commit.") for point in (first[name], last[name])}
    for function in {name.partition(" ")[2]: None for name in first if name.startswith("commit.")}:
        picked.add(dice.choice((first, last))[f"commit.{dice.choice(('before', 'after'))} {function}"])
    return [point for point in points if point in picked]


def test_the_choice_by_day() -> None:
    points = ["model.before:1", "model.after:1", *(f"commit.{when} f:{n}" for n in range(1, 5) for when in WHEN)]
    points += ["commit.before g:1", "commit.after g:1", "model.before:2", "model.before:3"]
    seen: set[str] = set()
    for seed in range(40):
        picked = by_day(points, random.Random(seed))
        assert len(picked) == 5
        assert {"model.before:1", "model.after:1", "model.before:3"} < set(picked)
        seen |= set(picked)
    assert len(seen) == 3 + 4 + 2
    assert not seen & {"model.before:2", "commit.before f:2", "commit.after f:3"}


def sound(town: Town, kind: str, *crashes: str) -> Told:
    """Play, and see that everything holds."""
    told = play(town, kind, crashes)
    assert told.faults == [], told.say(kind)
    return told


@pytest.mark.parametrize("kind", KINDS)
def test_a_kill_at_each_point(kind: str, town: Town) -> None:
    points = sound(town, kind).points
    names = {name_of(point) for point in points}
    assert {f"{effect}.{when}" for effect in ("model", *EFFECTS.get(kind, ())) for when in WHEN} <= names
    assert {f"commit.{when} {function}" for function in COMMITS for when in WHEN} <= names
    picked = points if NIGHTLY else by_day(points, random.Random(kind))
    killed = [point for at in picked for point in sound(town, kind, at).killed]
    assert len(killed) >= len(picked) * 3 // 4  # how often housekeeping and the clock commit is a matter of time


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["send", "cut"])
def test_a_second_kill_while_the_first_is_taken_up(kind: str, town: Town) -> None:
    dice = random.Random(kind)
    points = sound(town, kind).points
    commits = [point for point in points if point.startswith("commit.")]
    for at in points:
        sound(town, kind, at, dice.choice(commits))


PLANTED = [
    ("answers early", "delegate", "commit.before Accept.accept:1", "nothing came for"),
    ("sends again", "send", "relay.data.after:1", "2 mails left, where 1 to 1 may"),
    ("delivers twice", "drop", "commit.after deliver_twice.<locals>.deliver:1", "INBOX holds"),
]
"""A fault, an errand that shows it when its server dies at this point, and what is told."""


@pytest.mark.parametrize(("fault", "kind", "at", "words"), PLANTED)
def test_a_planted_fault_is_noticed(fault: str, kind: str, at: str, words: str, town: Town) -> None:
    told = play(town, kind, [at], fault=fault, patience=3)
    assert told.killed, told.say(kind)
    assert any(words in wrong for wrong in told.faults), told.say(kind)
