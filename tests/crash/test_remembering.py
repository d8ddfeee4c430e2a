"""SIGKILL at the points of a task that keeps a note, forgets one and writes a file: each is had once."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LEAST_KILLS = 8


def sweep(folder: Path, *options: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.crash.remembering", str(folder), *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def test_a_kill_at_every_point(tmp_path: Path, count: Callable[[int, int], int]) -> None:
    report = sweep(tmp_path, "1", "1000", "--step", str(count(4, 1)))
    assert report["wrong"] == []
    assert report["kills"] >= LEAST_KILLS


def test_a_second_kill(tmp_path: Path, count: Callable[[int, int], int]) -> None:
    for seed in range(count(1, 10)):
        report = sweep(tmp_path / str(seed), "3", "1000", "--step", str(count(9, 1)), "--twice", str(seed))
        assert report["wrong"] == []


def test_the_sweep_notices_planted_faults(tmp_path: Path) -> None:
    assert sweep(tmp_path / "a", "1", "2", "--fault", "keeps-twice")["wrong"]
    assert sweep(tmp_path / "b", "20", "1000", "--fault", "appends")["wrong"]
