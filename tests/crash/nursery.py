"""A process that forks warm `postroom serve` processes on demand, so that hundreds of them can be killed in minutes.

python -m tests.crash.nursery DESCRIPTOR

The rule: it imports everything a server imports and does nothing else: no loop, no thread, no open file of ours. What
it forks runs the ordinary command line from its beginning; only the time of the imports is saved. Orders come over the
socket DESCRIPTOR, one JSON line with the write end of a pipe each; the child's standard error goes to that pipe, and
after its death a last line "exit STATUS" (negative: the signal), so that the end of the pipe is the end of the process.
"""

import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import sys
import threading
import traceback
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

from bridge.cli.program import run
from tests.crash.faults import FAULTS

WARM = (
    "agents.runtime agents.discover agents.models.demo apscheduler.schedulers.asyncio bridge.app "
    "bridge.control.accounts uvloop"
).split()
"""What a server imports as it starts; `agents.tools` and `agents.models` are found by walking, as it finds them."""


def main() -> None:
    """Take orders until the socket is closed."""
    sock = socket.socket(fileno=int(sys.argv[1]))
    for name in WARM:
        importlib.import_module(name)
    for package in ("agents.tools", "agents.models", "bridge.imap.ext"):
        for module in pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}."):
            if module.name != "agents.models.litellm_provider":
                importlib.import_module(module.name)
    assert threading.active_count() == 1, threading.enumerate()
    gc.collect()
    gc.freeze()
    _Nursery(sock).run()


@dataclass(frozen=True)
class _Order:
    """A server to be started: the arguments of `postroom`, variables on top of the environment, a fault to plant."""

    arguments: list[str]
    environment: dict[str, str]
    fault: str


class _Nursery:
    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._pipes: dict[int, int] = {}
        self._buried, self._wake = socket.socketpair()
        for end in (self._buried, self._wake):
            end.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(self._wake.fileno(), warn_on_full_buffer=False)

    def run(self) -> None:
        self._sock.sendall(b"\n")  # warm
        while True:
            ready, _, _ = select.select([self._sock, self._buried], [], [])
            if self._buried in ready:
                with suppress(BlockingIOError):
                    self._buried.recv(4096)
                self._bury()
            if self._sock in ready:
                data, descriptors, _, _ = socket.recv_fds(self._sock, 1 << 16, 1)
                if not data:
                    self._close()
                    return
                self._start(_Order(**json.loads(data)), descriptors[0])

    def _start(self, order: _Order, pipe: int) -> None:
        pid = os.fork()
        if pid == 0:
            self._serve(order, pipe)
        self._pipes[pid] = pipe
        self._sock.sendall(f"{pid}\n".encode())

    def _serve(self, order: _Order, pipe: int) -> NoReturn:
        """The child's whole life."""
        status = 70
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            null = os.open(os.devnull, os.O_RDWR)
            for descriptor, target in ((null, 0), (null, 1), (pipe, 2)):
                os.dup2(descriptor, target)
            for other in (*self._pipes.values(), pipe, self._sock.fileno()):
                os.close(other)
            os.environ.update(order.environment)
            if order.fault:
                FAULTS[order.fault]()
            status = run(order.arguments)
        except BaseException:  # the end of a process: what ended it must be in its log
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)

    def _close(self) -> None:
        """Whoever gave the orders is gone, perhaps killed: no server is to outlive them."""
        for pid in self._pipes:
            os.kill(pid, signal.SIGKILL)

    def _bury(self) -> None:
        """Tell of every child that has died."""
        while self._pipes:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            pipe = self._pipes.pop(pid)
            with suppress(BrokenPipeError):
                os.write(pipe, f"exit {os.waitstatus_to_exitcode(status)}\n".encode())
            os.close(pipe)


if __name__ == "__main__":
    main()
