"""An idle server has imported no heavy library: seen from outside, in the import list of a real `postroom serve`."""

import importlib.util
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.test_imports import HEAVY
from tests.house.tree import ROOT

SECONDS = 60
IMPORTED = re.compile(r"^import time:\s+\d+ \|\s+\d+ \|\s+(\S+)$")


def listed(line: str) -> str | None:
    """The module that a line of `-X importtime` names."""
    match = IMPORTED.match(line)
    return match[1] if match else None


def test_lines_of_the_import_list_are_understood() -> None:
    assert listed("import time:       123 |       4567 |     pydantic.main\n") == "pydantic.main"
    assert listed("import time: self [us] | cumulative | imported package") is None
    assert listed('2026-11-30T09:12:41.123Z info bridge "ready"') is None


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple["subprocess.Popen[str]", Path]]:
    """A server on free ports that lists its imports on standard error, and the file it writes when all listen."""
    ready = tmp_path / "ready.json"
    program = Path(sys.executable).with_name("postroom")
    ports = {f"POSTROOM_LISTEN__{name}": "0" for name in ("IMAP", "IMAPS", "SMTP", "SMTPS", "WEB")}
    process = subprocess.Popen(
        [
            sys.executable,
            "-X",
            "importtime",
            str(program),
            "serve",
            "--home",
            str(tmp_path / "home"),
            "--ready-file",
            str(ready),
        ],
        cwd=ROOT,
        env={**os.environ, **ports},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    watchdog = threading.Timer(SECONDS, process.kill)
    watchdog.start()
    yield process, ready
    watchdog.cancel()
    process.kill()
    process.wait()
    assert process.stderr is not None
    process.stderr.close()


if importlib.util.find_spec("bridge.app") is not None:

    def test_an_idle_server_holds_no_heavy_library(server: tuple["subprocess.Popen[str]", Path]) -> None:
        """Reads to the end of the server's life: it is told to stop at the first line after it is ready."""
        process, ready = server
        assert process.stderr is not None
        lines, stopped = [], False
        for line in process.stderr:
            lines.append(line)
            if not stopped and ready.exists():
                stopped = True
                process.send_signal(signal.SIGTERM)
        assert stopped, "the server was not ready, or logged nothing once it was: " + "".join(lines[-20:])
        modules = {module.partition(".")[0] for line in lines if (module := listed(line))}
        assert {"bridge", "mailstore", "agents", "config"} <= modules
        assert sorted(modules & set(HEAVY)) == []
