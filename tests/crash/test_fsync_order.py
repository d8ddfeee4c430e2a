"""The disk has it before anybody is told: read from the system calls of a running server (DECISIONS 2).

SIGKILL cannot show a missing sync, because the kernel keeps what was written. The order of the calls can: the log of
the database is synced before the 250, before the OK of APPEND, and before a relay gets the body. The same server with
synchronous=NORMAL must break each promise, or the test would prove nothing.
"""

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.paths import DataFolder, holder
from tests.crash.histories import Town
from tests.crash.lives import ADDRESS, House, arguments, launch, program
from tests.crash.syscalls import Call, Promise, command, fault, parse
from tests.crash.user import KINDS, Connections, Errand, Posted, User, alive, compose

pytestmark = pytest.mark.interop

PROMISES = {
    "the 250 of a submission": Promise("Subject: Errand 1", "Subject: Errand 1", '"250 '),
    "the OK of an APPEND": Promise("kept-by-append", "kept-by-append", " OK [APPENDUID "),
    "the body to the relay": Promise('"354 ', "data_sent", "maya.1@example.org"),
}
HURRIED = [sys.executable, "-m", "tests.crash.hurried"]


def traced(house: House, server: list[str]) -> list[Call]:
    """What a server does while a mail is submitted, one is appended and one is relayed."""
    if shutil.which("strace") is None:
        pytest.fail("strace is not installed: apt-get install strace")
    trace, ready = house.folder / "trace", house.folder / "ready.json"
    life = launch([*command(str(trace)), *server, *arguments(house.home, ready)], ready)
    assert life.ready(), life.text()
    try:
        assert User(house, [Errand(KINDS["send"], 1)]).live(life)
        with alive(life), Connections(life) as desk:
            desk.put("Drafts", Posted(compose(ADDRESS, "A draft", "kept-by-append"), tries=1))
    finally:
        pid = holder(DataFolder(house.home))  # the server itself: strace would keep the signal to itself
        if pid:
            os.kill(pid, signal.SIGTERM)
        assert life.ended(), life.text()
    with trace.open(encoding="ascii", errors="replace") as lines:
        return parse(lines)


@pytest.fixture(scope="module")
def durable(town: Town) -> Iterator[list[Call]]:
    with town.house() as house:
        yield traced(house, program())


@pytest.fixture(scope="module")
def hurried(town: Town) -> Iterator[list[Call]]:
    with town.house() as house:
        yield traced(house, HURRIED)


@pytest.mark.parametrize("promise", PROMISES)
def test_the_disk_has_it_first(promise: str, durable: list[Call]) -> None:
    assert fault(durable, PROMISES[promise]) == ""


@pytest.mark.parametrize("promise", PROMISES)
def test_a_store_that_does_not_wait_for_the_disk_is_noticed(promise: str, hurried: list[Call]) -> None:
    assert fault(hurried, PROMISES[promise]) == "it was said before the disk had it"


def test_only_the_log_of_the_database_counts(durable: list[Call]) -> None:
    """The text index is another file, written when it is quiet; its syncs promise nothing and are not counted."""
    logs = {Path(call.file).name for call in durable if call.file.endswith("-wal")}
    assert "postroom.sqlite3-wal" in logs
    assert logs <= {"postroom.sqlite3-wal", "textindex.sqlite3-wal"}
