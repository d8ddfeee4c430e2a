"""A server that watches a mailbox and is killed between seeing a mail and acting on it: the mail begins one run.

The mailbox is that of another Postroom, a process of its own, which lives on.
"""

import asyncio
import signal
import smtplib
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from imapclient import IMAPClient

from agents import trigger
from agents.trigger import New
from bridge.app import App
from config.load import load
from config.paths import open_folder
from mailstore import accounts, threads
from mailstore.sqlite import WriteTx
from tests.crash.histories import Town
from tests.crash.lives import ADDRESS, BOUND, PASSWORD, USER, House, Life, build, settings

SEEN = ("commit.before _Reader.take:1", "commit.after _Reader.take:1")
LATER = ("commit.before Runtime.start:1", "commit.before Runner.claim:1", "commit.after Runner._advance:1")
FAR = """
[mailboxes.office]
host = "127.0.0.1"
port = {port}
tls = "none"
username = "ada"
password = "env:FAR"
"""


def send(life: Life, subject: str) -> None:
    """A mail comes in at the far server."""
    with smtplib.SMTP("127.0.0.1", life.ports["smtp"], timeout=BOUND) as line:
        line.login(USER, PASSWORD)
        head = f"From: {ADDRESS}\r\nTo: {ADDRESS}\r\nSubject: {subject}\r\nMessage-ID: <{subject}@far>\r\n"
        line.sendmail(ADDRESS, [ADDRESS], f"{head}\r\nThe printer burns.\r\n")


def place(life: Life) -> tuple[int, int]:
    """Where the far mailbox begins to count."""
    with IMAPClient("127.0.0.1", life.ports["imap"], ssl=False, timeout=BOUND) as line:
        line.login(USER, PASSWORD)
        told = line.folder_status("INBOX", ["UIDVALIDITY", "UIDNEXT"])
        return int(told[b"UIDVALIDITY"]), int(told[b"UIDNEXT"])


def prepare(house: House, far: Life) -> None:
    """The watch stands, and knows what is old."""
    uidvalidity, next_uid = place(far)

    def make(tx: WriteTx) -> None:
        account = accounts.all(tx)[0].id
        thread = str(threads.new(tx, account))
        new = New(
            account, "assistant", thread, "run", "mailbox office", "UTC", "Office", "Say it.", "k", overlap="queue"
        )
        item = trigger.create(tx, 1, new)
        where = f"trigger {item.id} ada@127.0.0.1/INBOX"
        tx.run("bridge.outside.read_to", mailbox=where, uidvalidity=uidvalidity, next_uid=next_uid)

    async def main() -> None:
        app = await App.open(load(home=house.home, environ={}), open_folder(house.home))
        await app.store.write(make)
        await app.close()

    asyncio.run(main())


def result(life: Life) -> None:
    """Wait for the run's mail."""
    with IMAPClient("127.0.0.1", life.ports["imap"], ssl=False, timeout=BOUND) as line:
        line.login(USER, PASSWORD)
        line.select_folder("INBOX", readonly=True)
        line.idle()
        while True:
            line.idle_check(timeout=2)
            line.idle_done()
            if line.search(["SUBJECT", "Re: Office"]):
                return
            assert life.status is None, life.text()
            line.idle()


def found(home: Path, sql: str) -> int:
    with closing(sqlite3.connect(home / "postroom.sqlite3")) as file:
        return int(file.execute(sql).fetchone()[0])


def far_of(town: Town, home: House) -> Life:
    build(home.folder / "far", settings(home.sink.port))
    return town.nursery.start(home.folder / "far", home.folder / "far.json")


def played(town: Town, point: str) -> None:
    with town.house() as house:
        far = far_of(town, house)
        assert far.ready(), far.text()
        with (house.home / "postroom.toml").open("a") as file:
            file.write(FAR.format(port=far.ports["imap"]))
        prepare(house, far)
        send(far, "burning")
        first = house.live(POSTROOM_DEBUG_CRASH_AT=point, FAR=PASSWORD)
        assert first.ended(), f"it was not killed at {point}: {first.text()}"
        assert first.status == -signal.SIGKILL, first.text()
        second = house.live(FAR=PASSWORD)
        assert second.ready(), second.text()
        result(second)
        assert second.stop() == 0
        assert far.stop() == 0
        assert found(house.home, "SELECT count(*) FROM runs") == 1
        assert found(house.home, "SELECT count(*) FROM fires") == 1
        assert found(house.home, "SELECT count(*) FROM outbox WHERE kind = 'result'") == 1
        assert found(house.home, "SELECT next_uid FROM watched") == found(house.folder / "far", LAST) + 1


LAST = "SELECT max(uid) FROM placement AS p JOIN mailboxes AS m ON m.id = p.mailbox WHERE m.name = 'INBOX'"


@pytest.mark.parametrize("point", [*SEEN, *(pytest.param(point, marks=pytest.mark.nightly) for point in LATER)])
def test_killed_between_seeing_and_acting(town: Town, point: str) -> None:
    played(town, point)
