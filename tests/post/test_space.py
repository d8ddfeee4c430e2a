"""A full disk under a whole Postroom: refused at the door, waited for inside, told once when there is space again.

The disk is full by a probe that fails every COMMIT as SQLite does then; tests/crash does it to a real server.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bridge.post.space import HOUR_MS, body
from bridge.submissions import Receipt, Refused
from mailstore.errors import Full
from tests.post.desk import AGENT, NOTES, Desk, Person, desk

SEND = "Summarise the attached notes and send the summary to maya@example.org"
TOLD = "The disk was full"


class FullDisk:
    """A probe of the writer. While `full`, nothing can be committed; `hit` is set at each try."""

    def __init__(self) -> None:
        self.full = False
        self.hit = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def point(self, name: str) -> None:
        if self.full and name.startswith("commit.before"):
            self._loop.call_soon_threadsafe(self.hit.set)
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error

    async def fill(self) -> None:
        """Nothing fits from now on."""
        self.full = True
        self.hit.clear()

    async def noticed(self) -> None:
        """Wait until something did not fit."""
        async with asyncio.timeout(10):
            await self.hit.wait()


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[Desk]:
    async with desk(tmp_path / "home") as made:
        made.app.space._look_seconds = 0.05
        yield made


@pytest.fixture
async def disk(house: Desk) -> FullDisk:
    made = FullDisk()
    house.app.store.db._writer._probe = made
    return made


@pytest.fixture
async def ada(house: Desk, disk: FullDisk) -> Person:
    return await house.person("ada")


async def test_mail_is_refused_and_everybody_is_told_once(house: Desk, ada: Person, disk: FullDisk) -> None:
    ben = await house.person("ben")
    mail = ada.compose(AGENT, "Notes", "List my mail")
    await disk.fill()
    for _ in range(3):
        refused = await ada.submit(mail)
        assert isinstance(refused, Refused)
        assert (refused.code, refused.status) == (452, "4.3.1")
    disk.full = False
    for person in (ada, ben):
        told = await person.mail(TOLD)
        assert "Nothing that was accepted is lost" in told.text
    assert ada.mails("Sent") == []
    assert isinstance(await ada.submit(mail), Receipt)
    await ada.mail("Re: Notes")
    await ada.settled()
    assert sum(TOLD in kept.message["Subject"] for kept in ada.mails()) == 1


async def test_a_disk_that_fills_up_again_is_told_of_once_an_hour(house: Desk, ada: Person, disk: FullDisk) -> None:
    for _ in range(2):
        await disk.fill()
        await ada.submit(ada.compose(AGENT, "Notes", "List my mail"))
        disk.full = False
        async with asyncio.timeout(10):
            await house.app.space.free()
    await ada.mail(TOLD)
    await ada.settled()
    told = [kept for kept in ada.mails() if TOLD in kept.message["Subject"]]
    assert len(told) <= 2  # two if a new hour has just begun


@pytest.mark.parametrize("phase", ["connect", "end"])
async def test_a_run_waits_and_goes_on(house: Desk, ada: Person, disk: FullDisk, phase: str) -> None:
    """At `connect` the disk is full before the mail may leave, at `end` when its fate is to be written down."""
    await ada.write(AGENT, "Notes", SEND, files={"notes.txt": NOTES})
    request = await ada.mail("Approve?")
    held = house.sink.hold(phase)
    await ada.reply(request, "approve")
    await held.reached.wait()
    await disk.fill()
    held.release()
    await disk.noticed()
    assert len(house.sink.messages) == (0 if phase == "connect" else 1)
    disk.full = False
    result = await ada.mail("Re: Notes")
    assert result.message["Postroom-State"] == "done"
    await ada.settled()
    assert len(house.sink.messages) == 1
    assert not any("Did this happen" in kept.message["Subject"] for kept in ada.mails())
    assert await house.app.store.check() == []


async def test_a_stop_does_not_wait_for_space(tmp_path: Path) -> None:
    async with asyncio.timeout(20):
        async with desk(tmp_path / "home") as house:
            disk = FullDisk()
            house.app.store.db._writer._probe = disk
            ada = await house.person("ada")
            await ada.write(AGENT, "Notes", SEND, files={"notes.txt": NOTES})
            await disk.fill()
            await disk.noticed()
        async with desk(tmp_path / "home") as house:
            back = Person(house, ada.identity)
            await back.mail("Approve?")


async def test_before_anything_works_a_full_disk_is_an_error(house: Desk, ada: Person, disk: FullDisk) -> None:
    house.app.space.watched = False
    await disk.fill()
    with pytest.raises(Full):
        await house.app.runtime._db.write(lambda tx: tx.value("bridge.arrivals.waiting"))


def test_the_mail_says_when_and_what_to_do() -> None:
    text = body(0, HOUR_MS)
    assert "was full from" in text
    assert "What to do:" in text
