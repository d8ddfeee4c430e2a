"""A full disk under a real server: the kernel itself answers its writes with "no space left on device".

strace stands in for the kernel: it attaches to the running server, fails every write to the database's files with
ENOSPC, and detaches again, which is the space coming back. tests/post/test_space.py has the cases one by one.
"""

import shutil
import signal
import smtplib
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from imapclient.exceptions import IMAPClientError

from mailstore.store import FILE
from tests.crash import verdict
from tests.crash.histories import Town
from tests.crash.lives import ADDRESS, BOUND, Life
from tests.crash.user import KINDS, Connections, Errand, Posted, User, alive, compose

pytestmark = pytest.mark.interop

TOLD = "The disk was full"


@contextmanager
def full_disk(life: Life, home: Path) -> Iterator[None]:
    """No space on the disk of the database, as long as this lasts."""
    if shutil.which("strace") is None:
        pytest.fail("strace is not installed: apt-get install strace")
    files = [argument for name in (FILE, f"{FILE}-wal") for argument in ("-P", str(home / name))]
    failing = ["-e", "trace=pwrite64,fallocate", "-e", "inject=pwrite64,fallocate:error=ENOSPC"]
    process = subprocess.Popen(
        ["strace", "-f", "-p", str(life.pid), *files, *failing, "-o", "/dev/null"], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    with process.stderr:
        assert "attached" in process.stderr.readline()
        try:
            yield
        finally:
            process.send_signal(signal.SIGINT)
            process.stderr.read()
            process.wait(BOUND)


def test_a_full_disk_refuses_waits_and_is_told_of_once(town: Town) -> None:
    with town.house() as house:
        life = house.live()
        first, later = Errand(KINDS["send"], 1), Errand(KINDS["delegate"], 2)
        user = User(house, [first])
        draft = Posted(compose(ADDRESS, "A draft", "Not kept.\n"), tries=1)
        with alive(life), Connections(life) as desk:
            desk.submit(first.posted[0])
            with full_disk(life, house.home):  # while the agent is at work on the first errand
                with pytest.raises(smtplib.SMTPDataError) as refused:
                    desk.submit(later.posted[0])
                assert refused.value.smtp_code == 452
                with pytest.raises(IMAPClientError, match=r"\[UNAVAILABLE\] The disk is full"):
                    desk.put("Drafts", draft)
        assert not later.posted[0].accepted
        user.errands.append(later)
        assert user.live(life)  # both are done: the first went on by itself, the second was sent again
        subjects: list[str] = []
        with alive(life), Connections(life) as desk:
            while not any(TOLD in subject for subject in subjects):
                subjects += [str(mail["Subject"]) for _, mail in desk.newer(len(subjects))]
                desk.idle()
        assert life.stop() == 0
        assert sum(TOLD in subject for subject in subjects) == 1
        assert verdict.faults(user) == []
