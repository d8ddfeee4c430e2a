"""SIGKILL at every point of two days of schedules: each time is had once, and each run ends in one mail. By day at each
third point, at night at all.
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
LEAST_KILLS = 50


@pytest.fixture
def folder() -> Iterator[Path]:
    """In memory where there is such a place: what SIGKILL leaves behind is the same, and no disk has to sync."""
    made = Path(tempfile.mkdtemp(dir=SHARED_MEMORY if SHARED_MEMORY.is_dir() else None))
    yield made
    shutil.rmtree(made)


def sweep(folder: Path, *options: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.crash.firing", str(folder), "1", "1000", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def test_a_kill_at_every_point(folder: Path, count: Callable[[int, int], int]) -> None:
    step = count(3, 1)
    report = sweep(folder, "--step", str(step))
    assert report["wrong"] == []
    assert report["kills"] >= LEAST_KILLS // step


def test_a_second_kill(folder: Path, count: Callable[[int, int], int]) -> None:
    for seed in range(count(1, 10)):
        report = sweep(folder / str(seed), "--step", str(count(4, 1)), "--twice", str(seed))
        assert report["wrong"] == []


def test_the_sweep_notices_a_planted_fault(folder: Path) -> None:
    report = sweep(folder, "--fault", "forgets-times")
    assert report["wrong"]
