"""Reads what strace wrote: which call began and ended in what order, over all threads of a process.

The rule: order is the order of lines. A call that strace shows in two parts began with the first and ended with the
second.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

READS: Final = ("read", "readv", "recvfrom", "recvmsg")
WRITES: Final = ("write", "writev", "sendto", "sendmsg", "sendmmsg")
STORES: Final = ("pwrite64", "pwritev", "write", "writev")
SYNCS: Final = ("fsync", "fdatasync")
OPTIONS: Final = ("-f", "-y", "-qq", "-s", "4200", "-e", "signal=none")
"""Threads too, paths of descriptors, and so much of each string that a whole page of the database is shown."""

_LINE = re.compile(r"(?P<pid>\d+) +(?:<\.\.\. (?P<resumed>\w+) resumed>|(?P<name>\w+)\()(?P<rest>.*)$")
_RESULT = re.compile(r"\) += (?P<result>-?\d+)(?: .*)?$")
_FILE = re.compile(r"\d+<(?P<file>[^>]*)>")


@dataclass
class Call:
    """A system call. `file` is the path, or socket:[number]; `text` is what strace shows of its arguments; `begin` and
    `end` are numbers of lines.
    """

    name: str
    file: str
    text: str
    begin: int
    end: int
    result: int | None = None

    @property
    def on_socket(self) -> bool:
        return self.file.startswith(("socket:", "TCP"))


def command(trace: str) -> list[str]:
    """The strace that runs what stands behind."""
    calls = ",".join(dict.fromkeys((*READS, *WRITES, *STORES, *SYNCS)))
    return ["strace", *OPTIONS, "-e", f"trace={calls}", "-o", trace]


def parse(lines: Iterable[str]) -> list[Call]:
    """All calls, in the order in which they began. A call that never ended has its end after everything."""
    calls: list[Call] = []
    open_calls: dict[str, Call] = {}
    for number, line in enumerate(lines):
        found = _LINE.match(line.rstrip("\n"))
        if found is None:
            continue
        pid, rest = found["pid"], found["rest"]
        if found["resumed"]:
            call = open_calls.pop(pid, None)
            if call is None:
                continue
            call.text += rest
        else:
            file = _FILE.match(rest)
            call = Call(found["name"], file["file"] if file else "", rest, number, 1 << 62)
            calls.append(call)
        if rest.endswith("<unfinished ...>"):
            open_calls[pid] = call
            continue
        call.end = number
        result = _RESULT.search(rest)
        call.result = int(result["result"]) if result else None
    return calls


@dataclass(frozen=True)
class Promise:
    """What must be on the disk before something is said: `asked` came in, then `kept` is written to the log of the
    database and synced, and only then `said` goes out. All three are texts of the calls.
    """

    asked: str
    kept: str
    said: str


def fault(calls: Sequence[Call], promise: Promise) -> str:
    """How a trace breaks a promise; empty when it holds it."""
    asked = _first(calls, READS, promise.asked, -1, socket=True)
    if asked is None:
        return f"nobody asked: no {promise.asked} came in"
    said = _first(calls, WRITES, promise.said, asked.end, socket=True)
    if said is None:
        return f"nothing was said: no {promise.said} went out"
    kept = _first(calls, STORES, promise.kept, asked.end, socket=False)
    if kept is None or kept.end > said.begin:
        return "it was said before it was written"
    synced = (c for c in calls if c.name in SYNCS and c.file == kept.file and c.begin > kept.end and c.result == 0)
    if not any(call.end < said.begin for call in synced):
        return "it was said before the disk had it"
    return ""


def _first(calls: Sequence[Call], names: Sequence[str], text: str, after: int, *, socket: bool) -> Call | None:
    return next(
        (
            call
            for call in calls
            if call.begin > after
            and call.name in names
            and text in call.text
            and (call.on_socket if socket else call.file.endswith("-wal"))
        ),
        None,
    )
