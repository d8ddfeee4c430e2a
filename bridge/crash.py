"""The crash probe: counts the points at which a crash would matter, and at a chosen one kills the process for real.

The rule: it is only ever installed by the hidden `debug_*` settings, for the tests that sweep every point.
"""

import os
import signal
import threading
from collections import Counter
from pathlib import Path


class CrashProbe:
    """`at` is the point that kills, as "NAME:N" the Nth one of this name, or empty; the names of all points are
    appended to `file`, one a line. A commit is a point for each function that shares it, as "commit.before FUNCTION":
    which functions share one differs from run to run, how often each is committed hardly does.
    """

    def __init__(self, at: str, file: Path | None) -> None:
        name, _, number = at.rpartition(":")
        self._at = (name, int(number)) if at else None
        self._file = file
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def point(self, name: str) -> None:
        """One point has been reached. Called from the loop and from the writer's thread."""
        head, *functions = name.split()
        names = [f"{head} {function}" for function in dict.fromkeys(functions)] or [head]
        with self._lock:
            self._counts.update(names)
            if self._file is not None:
                with self._file.open("a", encoding="ascii") as file:
                    file.writelines(f"{one}:{self._counts[one]}\n" for one in names)
            if any(self._at == (one, self._counts[one]) for one in names):
                os.kill(os.getpid(), signal.SIGKILL)
