"""SIGKILL at every point the writer and the effects name: nothing accepted is lost, nothing happens twice, every run
ends in one mail.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SHARED_MEMORY = Path("/dev/shm")
LEAST_KILLS = {"send": 32, "reject": 16, "ask": 16, "delegate": 40, "parallel": 28, "unknown": 24, "stop": 16}
OF_TWO = {"two": 30, "two-unknown": 25, "two-delegate": 42, "two-no": 16}


@pytest.fixture
def folder() -> Iterator[Path]:
    """In memory where there is such a place: what SIGKILL leaves behind is the same, and no disk has to sync."""
    made = Path(tempfile.mkdtemp(dir=SHARED_MEMORY if SHARED_MEMORY.is_dir() else None))
    yield made
    shutil.rmtree(made)


def stage(
    scenario: str, folder: Path, *options: str, first: int = 1, last: int = 1000, module: str = "stage"
) -> dict[str, Any]:
    """Run one scenario in a process of its own, which forks for every kill."""
    command = [sys.executable, "-m", f"tests.crash.{module}", scenario, str(folder), str(first), str(last), *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@pytest.mark.parametrize("scenario", LEAST_KILLS)
def test_a_kill_at_every_point(scenario: str, folder: Path) -> None:
    report = stage(scenario, folder)
    assert report["wrong"] == []
    assert report["kills"] >= LEAST_KILLS[scenario]


def test_a_kill_at_every_point_between_the_approvals_of_two(folder: Path, count: Callable[[int, int], int]) -> None:
    """Before, between and behind the two, and around the taking in hand of what both approved."""
    for scenario in list(OF_TWO)[: count(1, len(OF_TWO))]:
        report = stage(scenario, folder / scenario)
        assert report["wrong"] == []
        assert report["kills"] >= OF_TWO[scenario]


@pytest.mark.parametrize(("scenario", "step", "least"), [("stand-in", 5, 10), ("sum", 11, 6)])
def test_a_kill_while_models_stand_in_for_others_or_sum_a_task_up(
    scenario: str, step: int, least: int, folder: Path, count: Callable[[int, int], int]
) -> None:
    report = stage(scenario, folder, "--step", str(count(step, 1)))
    assert report["wrong"] == []
    assert report["kills"] >= least


@pytest.mark.parametrize(("protocol", "first"), [("today", 15), ("older", 16)])
def test_a_kill_while_a_call_waits_for_what_its_server_asks(
    protocol: str, first: int, folder: Path, count: Callable[[int, int], int]
) -> None:
    report = stage(protocol, folder, "--step", str(count(5, 1)), first=count(first, 1), module="asking")
    assert report["wrong"] == []
    assert report["kills"] >= 4


def test_the_sweep_of_such_calls_notices_one_that_is_made_again(folder: Path) -> None:
    report = stage("older", folder, "--fault", "calls-again", first=15, module="asking")
    assert any("prime happened 2 times" in wrong for wrong in report["wrong"])


@pytest.mark.parametrize("scenario", ["send", "parallel"])
def test_a_second_kill_while_taking_up_the_work(scenario: str, folder: Path, count: Callable[[int, int], int]) -> None:
    for seed in range(count(1, 10)):
        report = stage(scenario, folder / str(seed), "--twice", str(seed), first=1 + seed % 2, last=1000)
        assert report["wrong"] == []
        assert report["kills"] >= LEAST_KILLS[scenario]


@pytest.mark.parametrize(
    ("fault", "scenario", "told"),
    [
        ("repeats-effects", "parallel", "fire happened 2 times"),
        ("resends-mail", "send", "mail happened 2 times"),
        ("forgets-calls", "parallel", "TimeoutError"),
        ("one-is-enough", "two", "two people must approve"),
    ],
)
def test_the_sweep_notices_a_planted_fault(fault: str, scenario: str, told: str, folder: Path) -> None:
    """Which functions share a commit, and so which number a point has, is the machine's to decide: one pass can step
    over the one point that shows the fault, three do not.
    """
    passes = (stage(scenario, folder / str(number), "--fault", fault, first=10) for number in range(3))
    assert any(told in wrong for report in passes for wrong in report["wrong"])
