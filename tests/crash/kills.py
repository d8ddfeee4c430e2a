"""Kills a forked process at every point that it names, goes on in the next, and reports what did not hold.

The rule: the parent imports everything once and never runs a loop or a thread, so that a fork is clean; each process
that is not killed checks everything at its end.
"""

import argparse
import asyncio
import json
import os
import random
import shutil
import signal
import traceback
from collections.abc import Awaitable, Callable, Collection, Mapping
from pathlib import Path

LIMIT = 120.0


class Killer:
    """Counts points, and kills the process at one of them."""

    def __init__(self, at: int, seen: Path) -> None:
        self.left = at
        self.seen = seen

    def point(self, name: str) -> None:
        self.left -= 1
        if self.left == 0:
            with self.seen.open("a") as file:
                file.write(name + "\n")
            os.kill(os.getpid(), signal.SIGKILL)


Part = Callable[[Path, Killer | None], Awaitable[list[str]]]
"""What one process does in a folder: plays, or goes on, and returns what does not hold in the end."""


Faults = Mapping[str, Callable[[], None]]
"""What can be planted to see that a sweep notices it, by name."""


def arguments(faults: Faults, scenarios: Collection[str] = ()) -> argparse.ArgumentParser:
    """What every sweep takes on its command line; first one of the scenarios, if there are several."""
    made = argparse.ArgumentParser()
    if scenarios:
        made.add_argument("scenario", choices=scenarios)
    made.add_argument("folder", type=Path)
    made.add_argument("first", type=int)
    made.add_argument("last", type=int)
    made.add_argument("--step", type=int, default=1)
    made.add_argument("--twice", type=int, help="kill a second time, at random points of this seed")
    made.add_argument("--fault", choices=faults, help="plant a fault first")
    return made


def report(given: argparse.Namespace, part: Part, faults: Faults, within: int) -> None:
    """Sweep as the command line says, and print what came of it. `within` points a second kill happens."""
    if given.fault:
        faults[given.fault]()
    dice = random.Random(given.twice)

    def again_at() -> int | None:
        return dice.randint(1, within) if given.twice is not None else None

    kills, wrong = sweep(given.folder, range(given.first, given.last, given.step), again_at, part)
    print(json.dumps({"kills": kills, "wrong": wrong}))


def sweep(folder: Path, points: range, again_at: Callable[[], int | None], part: Part) -> tuple[int, list[str]]:
    """Kill at each point, go on (perhaps with a second kill), check. Returns how many kills there were and the first
    thing that did not hold.
    """
    kills = 0
    for point in points:
        home = folder / str(point)
        home.mkdir(parents=True)
        first = status = _forked(home, point, part)
        kills += status == 9
        if status == 9 and (second := again_at()) is not None:
            status = _forked(home, second, part)
            kills += status == 9
        if status == 9:
            status = _forked(home, None, part)
        if status != 0:
            killed = (home / "killed").read_text().split() if (home / "killed").exists() else []
            return kills, [f"killed at {killed} (point {point}): {(home / 'wrong').read_text()}"]
        shutil.rmtree(home)
        if first == 0:
            break  # there is no such point any more
    return kills, []


def _forked(home: Path, at: int | None, part: Part) -> int:
    """Fork a child and wait for it. 0: it ended well, 1: something did not hold, 9: it was killed."""
    pid = os.fork()
    if pid == 0:
        os._exit(_child(home, at, part))
    _, status = os.waitpid(pid, 0)
    return 9 if os.WIFSIGNALED(status) else os.waitstatus_to_exitcode(status)


def _child(home: Path, at: int | None, part: Part) -> int:
    async def main() -> list[str]:
        async with asyncio.timeout(LIMIT):
            return await part(home, Killer(at, home / "killed") if at is not None else None)

    try:
        wrong = asyncio.run(main())
    except BaseException:  # a report from the forked process, whatever went wrong in it
        wrong = [traceback.format_exc()]
    if wrong:
        (home / "wrong").write_text("\n".join(wrong))
    return 1 if wrong else 0
