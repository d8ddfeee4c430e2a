"""What the system says about a server: processor time and memory of a process and all its children.

The rule: the kernel's figures from /proc, so Linux only; elsewhere `known` is False and nobody asks.
"""

import os
import sys
import time
from pathlib import Path
from typing import Final

known: Final = sys.platform == "linux"
CALM_MILLIS: Final = 20.0
CALM_ROUNDS: Final = 3


def spent(pid: int) -> float:
    """Processor time so far, in ms."""
    ticks = 0
    for each in _tree(pid):
        fields = _stat(each)
        ticks += sum(map(int, fields[11:15])) if fields else 0  # its own, and that of children which have ended
    return ticks * 1000 / os.sysconf("SC_CLK_TCK")


def own_memory(pid: int) -> int:
    """Memory in kB, shared pages counted in equal parts (PSS)."""
    return sum(_rollup(each, "Pss:") for each in _tree(pid))


def resident(pid: int) -> int:
    """Resident memory in kB (RSS)."""
    return sum(_rollup(each, "Rss:") for each in _tree(pid))


def quiet(pid: int) -> None:
    """Return when a server has finished what it does behind the answers (an index of words)."""
    used, calm = -1.0, 0
    while calm < CALM_ROUNDS:
        now = spent(pid)
        calm = calm + 1 if now - used <= CALM_MILLIS else 0
        used = now
        time.sleep(1)


def _tree(pid: int) -> list[int]:
    """A process and its children, their children, and so on."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _stat(int(entry.name))):
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    found, waiting = [], [pid]
    while waiting:
        each = waiting.pop()
        found.append(each)
        waiting += children.get(each, [])
    return found


def _stat(pid: int) -> list[str]:
    """The fields of /proc/pid/stat behind the name of the program; empty when the process has gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _rollup(pid: int, name: str) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith(name))
