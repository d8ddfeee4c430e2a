"""Plays errands on a house over several lives of its server, each killed where it is told, until all is over.

The rule: a history ends only when every errand is over and the last server stopped cleanly; then the verdict is taken.
"""

import shutil
import signal
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bridge.sink import Sink
from tests.crash import verdict
from tests.crash.lives import House, Life, Nursery, Outside, build, settings
from tests.crash.user import KINDS, Errand, Gone, User

MOST_LIVES: Final = 20


@dataclass(frozen=True)
class Town:
    """What many houses share: a warm nursery, the outside world, and a data folder to be copied."""

    nursery: Nursery
    outside: Outside
    folder: Path
    relay: int = 9

    @contextmanager
    def house(self) -> Iterator[House]:
        """A fresh house; gone afterwards, unless something did not hold."""
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        sink = Sink()
        port = self.outside.do(sink.start())
        shutil.copytree(self.folder / "home", folder / "home")
        (folder / "home" / "postroom.toml").write_text(settings(port))
        house = House(folder, self.nursery, self.outside, sink)
        try:
            yield house
            shutil.rmtree(folder)
        finally:
            house.close()


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
    """What became of a history: the points its lives died at, and what did not hold."""

    killed: list[str] = field(default_factory=list)
    points: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    lives: int = 0


def play(town: Town, kind: str, crashes: Iterable[int] = ()) -> Told:
    """One errand; the first lives die at these points, the last lives on."""
    told = Told()
    with town.house() as house:
        user = User(house, [Errand(KINDS[kind], 1)])
        if kind == "cut":
            house.outside.call(lambda: house.sink.cut("end", keep=True))
        waiting = list(crashes)
        while True:
            told.lives += 1
            assert told.lives <= MOST_LIVES, "it never comes to an end"
            points = house.folder / f"points-{told.lives}"
            at = waiting.pop(0) if waiting else 0
            life = house.live(POSTROOM_DEBUG_CRASH_AT=str(at), POSTROOM_DEBUG_POINTS_FILE=str(points))
            over = lived(user, life)
            names = [line.split()[1] for line in points.read_text().splitlines()] if points.exists() else []
            told.points = told.points or names
            if life.status == -signal.SIGKILL and at:
                told.killed.append(names[-1])
            elif life.status is not None and life.status != 0:
                told.faults.append(f"the server ended with {life.status}:\n{life.text()}")
            if over or told.faults:
                break
        told.faults += verdict.faults(user)
        told.faults += [f"logged: {line}" for line in life.log if " error " in line or "Traceback" in line]
        if told.faults:
            raise AssertionError(f"{kind}, killed at {told.killed}, kept in {house.folder}:\n" + "\n".join(told.faults))
    return told


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
