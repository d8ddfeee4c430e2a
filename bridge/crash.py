"""The crash probe: counts the points at which a crash would matter, and at a chosen one kills the process for real.

The rule: it is only ever installed by the hidden `debug_*` settings, for the tests that sweep every point.
"""

import os
import signal
import threading
from pathlib import Path


class CrashProbe:
    """`at` is the number of the point that kills (0: none); the names of all points are appended to `file`."""

    def __init__(self, at: int, file: Path | None) -> None:
        self._at = at
        self._file = file
        self._count = 0
        self._lock = threading.Lock()

    def point(self, name: str) -> None:
        """One point has been reached. Called from the loop and from the writer's thread."""
        with self._lock:
            self._count += 1
            if self._file is not None:
                with self._file.open("a", encoding="ascii") as file:
                    file.write(f"{self._count} {name}\n")
            if self._count == self._at:
                os.kill(os.getpid(), signal.SIGKILL)
