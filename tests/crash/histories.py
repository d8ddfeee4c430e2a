"""Plays errands on a house over several lives of its server, each killed where it is told, until all is over.

The rule: a history ends only when every errand is over and the last server stopped cleanly; then the verdict is taken.
"""

import shutil
import signal
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from bridge.sink import Sink
from tests.crash import verdict
from tests.crash.lives import House, Life, Nursery, Outside, build, settings
from tests.crash.user import KINDS, PATIENCE, Errand, Gone, User

MORE_LIVES: Final = 3


@dataclass(frozen=True)
class Town:
    """What many houses share: a warm nursery, the outside world, and a data folder to be copied."""

    nursery: Nursery
    outside: Outside
    folder: Path
    relay: int = 9

    @contextmanager
    def house(self) -> Iterator[House]:
        """A fresh house; gone afterwards."""
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        sink = Sink()
        port = self.outside.do(sink.start())
        shutil.copytree(self.folder / "home", folder / "home")
        (folder / "home" / "postroom.toml").write_text(settings(port))
        house = House(folder, self.nursery, self.outside, sink)
        try:
            yield house
        finally:
            house.close()
            shutil.rmtree(folder)


@contextmanager
def town() -> Iterator[Town]:
    """In memory where there is such a place: what SIGKILL leaves behind is the same, and no disk has to sync."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="postroom-crash-", dir=memory if memory.is_dir() else None))
    build(folder / "home", settings(9))
    nursery, outside = Nursery(), Outside()
    try:
        yield Town(nursery, outside, folder)
    finally:
        nursery.close()
        outside.close()
        shutil.rmtree(folder)


@dataclass
class Told:
    """What became of a history: the points its lives died at, those its first life came by (as "model.after:3"), what
    the lives logged, and what did not hold.
    """

    killed: list[str] = field(default_factory=list)
    points: list[str] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def say(self, kind: str) -> str:
        """All that is wrong, with what was logged before it."""
        return "\n".join([f"{kind}, killed at {self.killed}:", *self.faults, "the log:", *self.log[-60:]])


def play(town: Town, kind: str, crashes: Iterable[str] = (), *, fault: str = "", patience: float = PATIENCE) -> Told:
    """One errand; the first lives die at these points, the last lives on. `fault` is planted into each."""
    told = Told()
    with town.house() as house:
        user = User(house, [Errand(KINDS[kind], 1)], patience)
        if kind == "cut":
            house.outside.call(partial(house.sink.cut, "end", keep=True))
        try:
            for at in (*crashes, *("" for _ in range(MORE_LIVES))):
                if _play_life(user, at, fault, told):
                    break
            else:
                told.faults.append("it never comes to an end")
            told.faults += verdict.faults(user)
        except AssertionError as error:
            told.faults.append(str(error))
    told.faults += [f"logged: {line}" for line in told.log if " error " in line or "Traceback" in line]
    return told


def _play_life(user: User, at: str, fault: str, told: Told) -> bool:
    """One life that dies at this point (empty: at none); whether all is over."""
    points = user.house.folder / "points"
    points.unlink(missing_ok=True)
    life = user.house.live(fault, POSTROOM_DEBUG_CRASH_AT=at, POSTROOM_DEBUG_POINTS_FILE=str(points))
    try:
        over = lived(user, life)
    finally:
        told.log += life.log
    names = points.read_text().splitlines()
    told.points = told.points or names
    if at and life.status == -signal.SIGKILL:
        told.killed.append(at)
    elif life.status != 0:
        raise AssertionError(f"the server ended with {life.status}")
    return over


def lived(user: User, life: Life) -> bool:
    """One life, to its end; whether all is over."""
    try:
        user.live(life)
        return life.stop() == 0
    except Gone:
        return False
    finally:
        if life.status is None:
            life.kill()
