"""A watched mailbox, against a scripted IMAP server: read-only, each mail once, again after the line broke."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bridge import watch
from bridge.watch import Place, Watch
from config.secrets import Secret
from config.settings import Outside

BOUND = 30.0


@dataclass
class Far:
    """A mail server of one mailbox, as little of IMAP as the watch needs; it notes every command."""

    mails: dict[int, bytes] = field(default_factory=dict)
    uidvalidity: int = 7
    idles: bool = True
    leaving: dict[int, str] = field(default_factory=dict)
    """Mails that somebody else deletes just before this item of them is asked for."""

    commands: list[str] = field(default_factory=list)
    lines: list[asyncio.StreamWriter] = field(default_factory=list)
    idle: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.lines.append(writer)
        capabilities = b"IMAP4rev1 IDLE" if self.idles else b"IMAP4rev1"
        writer.write(b"* OK [CAPABILITY %s] here\r\n" % capabilities)
        idling = b""
        try:
            while line := await reader.readline():
                text = line.decode().strip()
                if text == "DONE":
                    self.idle.clear()
                    writer.write(idling + b" OK done\r\n")
                    continue
                tag, _, command = text.partition(" ")
                self.commands.append(command)
                idling = tag.encode()
                writer.write(self.answer(tag, command, capabilities))
        except ConnectionError:
            return
        finally:
            writer.close()

    def answer(self, tag: str, command: str, capabilities: bytes) -> bytes:
        word = command.upper().split()
        done = f"{tag} OK done\r\n".encode()
        match word:
            case ["CAPABILITY"]:
                return b"* CAPABILITY %s\r\n" % capabilities + done
            case ["EXAMINE" | "SELECT", *_]:
                top = max(self.mails, default=0) + 1
                codes = f"* OK [UIDVALIDITY {self.uidvalidity}] v\r\n* OK [UIDNEXT {top}] n\r\n"
                return f"* {len(self.mails)} EXISTS\r\n{codes}".encode() + done
            case ["UID", "SEARCH", *rest]:
                first = int(rest[-1].partition(":")[0]) if ":" in rest[-1] else 1
                found = [uid for uid in self.mails if uid >= first] or ([max(self.mails)] if self.mails else [])
                return f"* SEARCH {' '.join(map(str, found))}\r\n".encode() + done
            case ["UID", "FETCH", uid, what]:
                return self.fetched(int(uid), what) + done
            case ["IDLE"]:
                asyncio.get_running_loop().call_later(0.05, self.idle.set)
                return b"+ idling\r\n"
            case ["LOGOUT"]:
                return b"* BYE\r\n" + done
        return done

    def fetched(self, uid: int, what: str) -> bytes:
        if self.leaving.get(uid, "-") in what:
            del self.mails[uid], self.leaving[uid]
        if (raw := self.mails.get(uid)) is None:
            return b""
        number = sorted(self.mails).index(uid) + 1
        if "SIZE" in what:
            return f"* {number} FETCH (UID {uid} RFC822.SIZE {len(raw)})\r\n".encode()
        return b"* %d FETCH (UID %d BODY[] {%d}\r\n%s)\r\n" % (number, uid, len(raw), raw)

    def arrive(self, raw: bytes) -> None:
        """A mail comes in; who idles is told."""
        self.mails[max(self.mails, default=0) + 1] = raw
        for line in self.lines:
            if not line.is_closing():
                line.write(f"* {len(self.mails)} EXISTS\r\n".encode())

    def cut(self) -> None:
        for line in self.lines:
            line.transport.abort()


@dataclass
class Kept:
    """bridge.watch.Reader that keeps what it is handed."""

    taken: list[bytes | None] = field(default_factory=list)
    known: Place | None = None
    bell: asyncio.Condition = field(default_factory=asyncio.Condition)

    def place(self) -> Place | None:
        return self.known

    def forget(self) -> None:
        self.known = None

    async def take(self, raw: bytes | None, place: Place) -> None:
        async with self.bell:
            self.taken.append(raw)
            self.known = place
            self.bell.notify_all()

    async def has(self, *wanted: bytes | None) -> None:
        async with asyncio.timeout(BOUND), self.bell:
            await self.bell.wait_for(lambda: self.taken == list(wanted))


@asynccontextmanager
async def watching(far: Far, kept: Kept, largest: int = 1000, **more: object) -> AsyncIterator[Watch]:
    server = await asyncio.start_server(far.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    password = Secret("env:FAR", environ={"FAR": "secret"})
    settings = Outside(host="127.0.0.1", port=port, tls="none", username="ada", password=password, **more)  # type: ignore[arg-type]  # by name
    made = Watch(settings, kept, largest)
    made.start()
    try:
        yield made
    finally:
        await made.close()
        server.close()


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "WAITS", (0.05,))


async def test_only_new_mail_is_handed_over_each_once_and_nothing_is_changed() -> None:
    far, kept = Far({1: b"old"}), Kept()
    async with watching(far, kept):
        await kept.has(None)
        assert kept.known == Place(7, 2)
        await asyncio.wait_for(far.idle.wait(), BOUND)
        far.arrive(b"one")
        await kept.has(None, b"one")
        await asyncio.wait_for(far.idle.wait(), BOUND)
        far.arrive(b"two")
        await kept.has(None, b"one", b"two")
        assert kept.known == Place(7, 4)
    writing = ("STORE", "COPY", "MOVE", "EXPUNGE", "APPEND", "SELECT", "DELETE", "CREATE")
    assert [one for one in far.commands if one.upper().startswith(writing) or " STORE" in one.upper()] == []
    assert all("PEEK" in one.upper() for one in far.commands if "BODY" in one.upper())


async def test_a_broken_line_is_made_again_and_nothing_is_missed_or_repeated() -> None:
    far, kept = Far(), Kept()
    async with watching(far, kept):
        await kept.has(None)
        await asyncio.wait_for(far.idle.wait(), BOUND)
        far.cut()
        far.arrive(b"in between")
        await kept.has(None, b"in between")
        assert len(far.lines) >= 2


async def test_what_came_while_we_were_away_is_read_at_the_start() -> None:
    far, kept = Far({1: b"known", 2: b"new", 3: b"newer"}), Kept(known=Place(7, 2))
    async with watching(far, kept):
        await kept.has(b"new", b"newer")


async def test_numbers_that_began_anew_are_read_from_yesterday_on() -> None:
    far, kept = Far({1: b"recent"}, uidvalidity=8), Kept(known=Place(7, 900))
    async with watching(far, kept):
        await kept.has(None, b"recent")
        assert kept.known == Place(8, 2)


async def test_a_mail_that_is_too_large_is_passed_over() -> None:
    far, kept = Far(), Kept(known=Place(7, 1))
    async with watching(far, kept, largest=10):
        await asyncio.wait_for(far.idle.wait(), BOUND)
        far.arrive(b"x" * 11)
        await kept.has(None)
        assert kept.known == Place(7, 2)


@pytest.mark.parametrize("item", ["SIZE", "BODY"])
async def test_a_mail_that_goes_away_meanwhile_is_not_taken_for_a_large_one(item: str) -> None:
    far, kept = Far({1: b"one", 2: b"two"}, leaving={1: item}), Kept(known=Place(7, 1))
    async with watching(far, kept):
        await kept.has(b"two")
        assert (far.leaving, kept.known) == ({}, Place(7, 3))


async def test_a_watch_that_was_given_up_and_taken_up_again_begins_anew() -> None:
    """As by `pause` and `resume` between two looks: without a place nothing would ever be new."""
    far, kept = Far({1: b"known"}), Kept(known=Place(7, 2))
    async with watching(far, kept):
        await asyncio.wait_for(far.idle.wait(), BOUND)
        kept.forget()
        far.arrive(b"in between")
        await kept.has(None)
        assert kept.known == Place(7, 3)
        far.arrive(b"after")
        await kept.has(None, b"after")


async def test_a_server_without_idle_is_looked_at_every_so_often() -> None:
    far, kept = Far(idles=False), Kept(known=Place(7, 1))
    async with watching(far, kept, poll_seconds=1):
        far.arrive(b"one")
        await kept.has(b"one")
        assert "IDLE" not in far.commands


async def test_closing_does_not_wait_for_the_idle_to_end(tmp_path: Path) -> None:
    far, kept = Far(), Kept()
    async with watching(far, kept) as made:
        await asyncio.wait_for(far.idle.wait(), BOUND)
        await asyncio.wait_for(made.close(), BOUND / 2)
