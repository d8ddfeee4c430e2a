"""A watched outside mailbox sets a trigger off, against a real IMAP server: another Postroom, which drops connections,
makes the mailbox anew, and may have no IDLE.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agents import trigger
from agents.trigger import New
from bridge import watch
from config.secrets import Secret
from config.settings import Imap, Limits, WatchedMailbox
from mailstore import mailboxes, threads
from tests.post.desk import PATIENCE, Desk, Kept, Person, counts, desk

MAIL = b"From: Bob <bob@far.example>\r\nSubject: %s\r\nMessage-ID: <%s@far.example>\r\n\r\nThe printer burns.\r\n"


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "WAITS", (0.05,))
    monkeypatch.setattr(watch, "IDLE_SECONDS", 2)


@dataclass(slots=True)
class Two:
    """The house that watches, its owner Ada, and the far house where Bob's mail comes in."""

    house: Desk
    ada: Person
    far: Desk
    eve: Person
    ident: str

    async def arrives(self, subject: str, raw: bytes = b"") -> None:
        await self.eve.append("Office", raw or MAIL % (subject.encode(), subject.encode()))

    async def watching(self, times: int = 1) -> None:
        """The place that counts is known: nothing that comes from here on is old."""

        def known() -> int:
            rows = self.house.app.store.read(lambda tx: tx.value("bridge.outside.places"))
            return int(rows or 0)

        await self.ada.wait("Automations", lambda all: known() == times)

    async def word(self, word: str) -> None:
        kept = self.house.app.runtime.automations
        await self.house.app.store.write(lambda tx: kept.obey(tx, trigger.get(tx, self.ident), word, f"k.{word}"))

    async def renumber(self) -> None:
        """The server makes the mailbox anew: new numbers under a new UIDVALIDITY, and every session of it ends."""
        box = self.eve.mailbox("Office")
        await self.far.app.store.write(lambda tx: mailboxes.delete(tx, box))
        await self.far.app.store.write(lambda tx: mailboxes.create(tx, self.eve.identity.account, "Office"))

    def runs(self) -> int:
        return sum(counts(self.house, self.ada).values())


async def watched(house: Desk, ada: Person, spec: str = "mailbox office", task: str = "Say what it is about.") -> str:
    account = ada.identity.account

    def make(tx: Any) -> str:
        thread = str(threads.new(tx, account))
        new = New(account, "assistant", thread, "run", spec, "UTC", "Office mail", task, "k", overlap="queue")
        return trigger.create(tx, house.app.clock.now(), new).id

    return await house.app.store.write(make)


@asynccontextmanager
async def two(
    home: Path, idle: bool = True, owner: str = "", old: int = 0, password: str = "", **more: Any
) -> AsyncIterator[Two]:
    extensions: Any = "default" if idle else ("UIDPLUS",)
    async with desk(home / "far", require_tls=False, imap=Imap(extensions=extensions)) as far:
        eve = await far.person("eve")
        await far.app.store.write(lambda tx: mailboxes.create(tx, eve.identity.account, "Office"))
        for number in range(old):
            await eve.append("Office", MAIL % (b"old", str(number).encode()))
        right = await far.app.auth.add_generated(eve.identity.account, "watch")
        assert far.app.ports is not None
        office = WatchedMailbox(
            "office",
            account=owner or "ada",
            host="127.0.0.1",
            port=far.app.ports.imap,
            tls="none",
            username="eve",
            password=Secret("env:FAR", environ={"FAR": password or right}),
            mailbox="Office",
            max_bytes=5000,
            poll_seconds=1,
        )
        async with desk(home / "near", mailboxes={"office": office}, **more) as house:
            ada = await house.person("ada")
            yield Two(house, ada, far, eve, await watched(house, ada))


def subjects(mails: list[Kept]) -> list[str]:
    return [kept.message["Subject"] for kept in mails]


async def test_each_new_mail_is_one_run_with_the_mail_as_untrusted_material_and_nothing_old_is(tmp_path: Path) -> None:
    async with two(tmp_path, old=2) as at:
        await at.watching()
        await at.arrives("one")
        result = await at.ada.mail("Re: Office mail")
        await at.arrives("two")
        second = await at.ada.mail("Re: Office mail", nth=2)
        assert second.message["Postroom-Thread"] == result.message["Postroom-Thread"]
        await at.ada.settled()
        assert at.runs() == 2
        assert subjects(at.ada.mails("Archive")) == ["one", "two"]
        assert [kept.seen for kept in at.eve.mails("Office")] == [False] * 4
        where = {"account": at.ada.identity.account, "thread": result.message["Postroom-Thread"]}
        last = at.house.app.store.read(lambda tx: tx.one("agents.runs.last_of_thread", **where))
        assert last is not None
        assert last["taint"] == 1


async def test_a_server_without_idle_is_looked_at_every_so_often(tmp_path: Path) -> None:
    async with two(tmp_path, idle=False) as at:
        await at.watching()
        await at.arrives("one")
        await at.ada.mail("Re: Office mail")
        assert at.runs() == 1


async def test_a_line_that_breaks_is_made_again_and_nothing_is_missed_or_repeated(tmp_path: Path) -> None:
    async with two(tmp_path) as at:
        await at.watching()
        for number in range(1, 4):
            at.far.app.end_sessions(1)
            await at.arrives(f"mail {number}")
            await at.ada.mail("Re: Office mail", nth=number)
            at.far.app.end_sessions(1)
        await at.ada.settled()
        assert at.runs() == 3


async def test_a_mailbox_made_anew_is_a_new_beginning_that_is_told(tmp_path: Path) -> None:
    async with two(tmp_path) as at:
        await at.watching()
        await at.arrives("before")
        await at.ada.mail("Re: Office mail")
        await at.renumber()
        await at.arrives("old in the new one")
        at.far.app.end_sessions(1)
        told = await at.ada.wait("INBOX", lambda all: "Office mail" in subjects(all))
        assert (
            "was made anew by its server"
            in next(kept for kept in told if kept.message["Subject"] == "Office mail").text
        )
        await at.arrives("after")
        await at.ada.mail("Re: Office mail", nth=2)
        await at.ada.settled()
        assert at.runs() == 2
        assert subjects(at.ada.mails("Archive")) == ["before", "after"]


async def test_what_came_in_a_pause_counts_for_nothing_and_a_deleted_message_ends_the_watch(tmp_path: Path) -> None:
    async with two(tmp_path) as at:
        await at.watching()
        await at.word("pause")
        assert at.house.app.store.read(lambda tx: tx.value("bridge.outside.places")) == 0
        await at.arrives("in the pause")
        await at.word("resume")
        await at.watching()
        await at.arrives("after it")
        await at.ada.mail("Re: Office mail")
        await at.ada.settled()
        assert subjects(at.ada.mails("Archive")) == ["after it"]
        [shown] = at.ada.mails("Automations")
        await at.ada.expunge(shown, "Automations")
        assert at.house.app.store.read(lambda tx: tx.value("bridge.outside.places")) == 0
        await at.arrives("too late")
        assert at.house.app.store.read(lambda tx: trigger.find(tx, at.ident)) is None


async def test_a_mail_too_large_is_told_and_the_next_one_counts(tmp_path: Path) -> None:
    async with two(tmp_path) as at:
        await at.watching()
        await at.arrives("large", MAIL % (b"large", b"large") + b"x" * 6000)
        told = await at.ada.wait("INBOX", lambda all: "Office mail" in subjects(all))
        assert "larger than 5000 bytes" in told[0].text
        await at.arrives("small")
        await at.ada.mail("Re: Office mail")
        assert at.runs() == 1


async def test_our_own_mail_come_back_and_a_machines_answer_to_it_set_nothing_off(tmp_path: Path) -> None:
    async with two(tmp_path) as at:
        await at.watching()
        await at.arrives("one")
        own = (await at.ada.mail("Re: Office mail")).message["Message-ID"].encode()
        echo = b"From: ada@example.net\r\nSubject: echo\r\nMessage-ID: %s\r\n\r\nour own\r\n" % own
        away = MAIL.replace(b"\r\n\r\n", b"\r\nIn-Reply-To: %s\r\nAuto-Submitted: auto-replied\r\n\r\n" % own)
        await at.arrives("echo", echo)
        await at.arrives("away", away % (b"away", b"away"))
        await at.arrives("two")
        await at.ada.mail("Re: Office mail", nth=2)
        await at.ada.settled()
        assert at.runs() == 2


class Bell(logging.Handler):
    """Rings when the watch says that it cannot go on now."""

    def __init__(self) -> None:
        super().__init__()
        self.rung = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def emit(self, record: logging.LogRecord) -> None:
        if getattr(record, "why", "") == "NotNow":
            self._loop.call_soon_threadsafe(self.rung.set)


async def test_more_in_an_hour_than_may_be_waits_out_there_and_is_not_lost(tmp_path: Path) -> None:
    async with two(tmp_path, limits=Limits(fires_per_hour=1)) as at:
        await at.watching()
        await at.arrives("one")
        await at.ada.mail("Re: Office mail")
        bell = Bell()
        watch.log.addHandler(bell)
        try:
            await at.arrives("two")
            async with asyncio.timeout(PATIENCE):
                await bell.rung.wait()
        finally:
            watch.log.removeHandler(bell)
        where = f"trigger {at.ident} eve@127.0.0.1/Office"
        place = at.house.app.store.read(lambda tx: tx.one("bridge.outside.place", mailbox=where))
        assert place is not None
        assert place["next_uid"] == 2
        assert (at.runs(), subjects(at.ada.mails("Archive"))) == (1, ["one"])


async def test_a_mailbox_of_somebody_else_or_of_no_settings_stops_the_trigger_and_says_so(tmp_path: Path) -> None:
    async with two(tmp_path, owner="ben") as at:
        told = await at.ada.mail("Re: Office mail")
        assert told.text.startswith('Stopped: "Office mail" cannot go on: there is no mailbox "office" of yours')
        assert at.house.app.store.read(lambda tx: trigger.get(tx, at.ident)).state == "failed"


async def test_a_mailbox_that_cannot_be_read_for_a_while_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "TELL_AFTER", 1)
    async with two(tmp_path, password="wrong") as at:
        told = await at.ada.wait("INBOX", lambda all: "Office mail" in subjects(all))
        assert 'The watched mailbox "office" could not be read for a while: it refuses the login.' in told[0].text
        [shown] = await at.ada.wait("Automations", lambda all: "cannot read the mailbox" in all[0].text)
        assert shown.message["Subject"].startswith("[active]")
        await at.word("delete")


async def test_an_account_that_is_removed_is_not_watched_for_any_more(tmp_path: Path) -> None:
    async with two(tmp_path) as at:
        await at.watching()
        kept = at.house.app.runtime.automations
        await at.house.app.store.write(lambda tx: kept.forget(tx, at.ada.identity.account))
        assert at.house.app.store.read(lambda tx: tx.value("bridge.outside.places")) == 0
        assert at.ada.mails("Automations") == []


class Answers:
    """Who is handed the mail of a client that answers from a list."""

    def __init__(self) -> None:
        self.at = watch.Place(1, 5)
        self.taken: list[int] = []

    def place(self) -> watch.Place:
        return self.at

    async def take(self, raw: bytes | None, place: watch.Place) -> None:
        self.at = place
        self.taken.append(place.next_uid - 1)


class Told:
    """A client whose server tells of mail while it answers a search: IDLE would not tell of it again."""

    def __init__(self, *searches: list[int]) -> None:
        self._searches = list(searches)
        self._told = False
        self._imap = self

    def response(self, name: str) -> tuple[str, list[Any]]:
        said, self._told = self._told, False
        return name, [b"7"] if said else [None]

    def search(self, criteria: list[str]) -> list[int]:
        found = self._searches.pop(0)
        self._told = bool(self._searches)
        return found

    def fetch(self, uids: list[int], items: list[str]) -> dict[int, dict[bytes, Any]]:
        return {uid: {b"RFC822.SIZE": 10, b"BODY[]": b"Subject: x\r\n\r\n"} for uid in uids}


async def test_mail_that_is_told_of_while_the_mailbox_is_read_is_read_too() -> None:
    far = WatchedMailbox("office", host="far.example", username="eve")
    reader = Answers()
    made = watch.Watch(far, reader, 1000)
    made._loop = asyncio.get_running_loop()
    made._client = Told([], [5, 6], [7])
    assert await asyncio.to_thread(made._read_new)
    assert reader.taken == [5, 6, 7]
    made._client = Told([])
    assert not await asyncio.to_thread(made._read_new)
