"""A store that is killed in the middle: what was acknowledged is there, what was not is whole or absent, and all is in
order. The child kills itself at a given commit, as the crash sweep of the whole server does."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mailstore import accounts
from tests.store.helpers import Clock, Desk, mail, open_store

ROOT = Path(__file__).resolve().parents[2]
CHILD = """
import asyncio, os, signal, sys
from pathlib import Path
from mailstore import housekeeping
from mailstore.flags import FlagOp
from tests.store.helpers import Clock, mail, make_desk, open_store

housekeeping.QUIET_SECONDS = 0.0  # what is left of what went is collected between the changes, and dies in between

class Probe:
    def __init__(self, at):
        self.left = at
    def point(self, name):
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

async def main(home, at):
    store = await open_store(home, Clock(), probe=Probe(at))
    desk = await make_desk(store, Clock())
    async def work(n):
        appended = await desk.append("INBOX", mail(f"letter {n}", "x" * n * 9000), key=f"key {n}")
        print("appended", n, appended.uid, flush=True)
    for n in range(0, 40, 4):
        await asyncio.gather(*(work(m) for m in range(n, n + 4)))
        await desk.flag("INBOX", [n + 1], "\\\\Seen")
        moved = await desk.move("INBOX", [n + 2], "Archive")
        print("moved", n + 2, moved.target_uids[0], flush=True)
        await desk.delete("INBOX", [n + 3])
        print("gone", n + 3, flush=True)

asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
"""


def run_child(home: Path, at: int) -> list[list[str]]:
    """What the child had acknowledged when it died."""
    command = [sys.executable, "-c", CHILD, str(home), str(at)]
    child = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert child.returncode == -signal.SIGKILL, child.stderr
    return [line.split() for line in child.stdout.splitlines()]


@pytest.mark.parametrize("at", [7, 14, 23, 30, 45, 60])
async def test_what_was_acknowledged_survives_and_all_is_in_order(tmp_path: Path, at: Any) -> None:
    said = await asyncio.to_thread(run_child, tmp_path / "home", at)
    clock = Clock()
    store = await open_store(tmp_path / "home", clock)
    (account,) = store.read(accounts.all)
    desk = Desk(store, account, clock)
    gone = {int(line[1]) for line in said if line[0] == "gone"}
    moved = {int(line[1]): int(line[2]) for line in said if line[0] == "moved"}
    for line in said:
        if line[0] == "appended":
            again = await desk.append("INBOX", mail("made again"), key=f"key {line[1]}")
            assert (again.created, again.uid) == (False, int(line[2]))
    assert gone.isdisjoint(desk.uids("INBOX"))
    assert set(moved).isdisjoint(desk.uids("INBOX"))
    assert set(moved.values()) <= set(desk.uids("Archive"))
    for name in ("INBOX", "Archive"):
        for uid in desk.uids(name):
            number = int(desk.raw(name, uid).split(b"letter ")[1].split(b"\r\n")[0])
            assert desk.raw(name, uid) == mail(f"letter {number}", "x" * number * 9000)
    assert await store.check() == []
    await store.housekeeping.settle()
    assert await store.check() == []
    left = store.read(lambda tx: tx._connection.execute("SELECT count(*) FROM email").fetchone()[0])
    assert left == len(desk.uids("INBOX")) + len(desk.uids("Archive"))
    await store.close()
