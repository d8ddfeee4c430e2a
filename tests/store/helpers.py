"""What the store's tests share: a store with one account, a clock that stands still, and short ways to say things."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from mailstore import accounts, changes, flags, lookup, mailboxes, messages
from mailstore.flags import FlagOp
from mailstore.model import Account, Appended, Copied, EmailId, FetchRow, Mailbox, Stored, Uid
from mailstore.store import Store
from mailstore.transaction import WriteTx

T = TypeVar("T")
START = 1_790_000_000_000  # September 2026


class Clock:
    """Time that moves only when told to."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> int:
        return self.now

    def pass_minutes(self, minutes: float) -> None:
        self.now += int(minutes * 60_000)


def mail(subject: str = "Hello", body: str = "Text.", *, message_id: str | None = None, **fields: str) -> bytes:
    """A small message. Field names are given with underscores: in_reply_to="<a@x>"."""
    head = {"From": "Ada <ada@example.org>", "To": "you@postroom.internal", "Subject": subject}
    if message_id is not None:
        head["Message-ID"] = message_id
    head.update({name.replace("_", "-").title(): value for name, value in fields.items()})
    lines = [f"{name}: {value}" for name, value in head.items()]
    return ("\r\n".join(lines) + "\r\n\r\n" + body + "\r\n").encode()


@dataclass
class Desk:
    """One account of a store, for tests that speak of its mailboxes by name."""

    store: Store
    account: Account
    clock: Clock
    events: list[Any] = field(default_factory=list)

    def box(self, name: str) -> Mailbox:
        found = self.store.read(lambda tx: mailboxes.find(tx, self.account.id, name))
        assert found is not None, name
        return found

    def read(self, fn: Callable[..., T]) -> T:
        return self.store.read(fn)

    async def write(self, fn: Callable[..., T]) -> T:
        """Every change a test makes knows itself what it did: the same as the log says of it."""

        def checked(tx: WriteTx) -> T:
            before = {box: lookup.status(tx, box).highest_modseq for box in mailboxes.all(tx, self.account.id)}
            result = fn(tx)
            there = {(box.id, box.uidvalidity) for box in mailboxes.all(tx, self.account.id)}
            for box, modseq in before.items():
                if (box.id, box.uidvalidity) in there:
                    assert changes.made(tx, box, modseq) == changes.since(tx, box, modseq), box.name
            return result

        return await self.store.write(checked)

    async def append(self, name: str, raw: bytes | None = None, *words: str, **more: Any) -> Appended:
        prepared = self.store.prepare(mail() if raw is None else raw)
        box = self.box(name)
        return await self.write(lambda tx: messages.append(tx, box, prepared, flags=words, **more))

    async def copy(self, source: str, uids: list[int], target: str) -> Copied:
        from_, to = self.box(source), self.box(target)
        return await self.write(lambda tx: messages.copy(tx, from_, _uids(uids), to))

    async def move(self, source: str, uids: list[int], target: str) -> Copied:
        from_, to = self.box(source), self.box(target)
        return await self.write(lambda tx: messages.move(tx, from_, _uids(uids), to))

    async def flag(self, name: str, uids: list[int], *words: str, op: FlagOp = FlagOp.ADD, **more: Any) -> Stored:
        box = self.box(name)
        return await self.write(lambda tx: flags.store(tx, box, _uids(uids), op, words, **more))

    async def expunge(self, name: str, uids: list[int] | None = None) -> list[Uid]:
        box = self.box(name)
        return await self.write(lambda tx: messages.expunge(tx, box, None if uids is None else _uids(uids)))

    async def delete(self, name: str, uids: list[int]) -> list[Uid]:
        """Mark and expunge, as clients delete."""
        await self.flag(name, uids, "\\Deleted")
        return await self.expunge(name, uids)

    async def select(self, name: str, session: object) -> list[int]:
        """What a session does at SELECT."""
        await self.store.sessions.opened(self.box(name).id, session)
        return self.uids(name)

    async def leave(self, name: str, session: object) -> None:
        """What a session does when it goes, and the sweep that follows."""
        self.store.sessions.closed(self.box(name).id, session)
        await self.store.idle()

    def uids(self, name: str) -> list[int]:
        return list(self.store.snapshot(self.box(name).id).uids)

    def flags(self, name: str, uid: int) -> set[str]:
        (row,) = self.fetch(name, [uid])
        names = {"\\Seen": 1, "\\Answered": 2, "\\Flagged": 4, "\\Draft": 8, "\\Deleted": 16}
        return {word for word, bit in names.items() if row.flags_bits & bit} | set(row.keywords)

    def fetch(self, name: str, uids: list[int], *renderings: str, header: bool = False) -> list[FetchRow]:
        return self.store.fetch(self.box(name), _uids(uids), renderings, header)

    def raw(self, name: str, uid: int) -> bytes:
        (row,) = self.fetch(name, [uid])
        return self.read(lambda tx: messages.body(tx, row.content))

    def email(self, name: str, uid: int) -> EmailId:
        (row,) = self.fetch(name, [uid])
        return row.email


def _uids(numbers: list[int]) -> list[Uid]:
    return [Uid(number) for number in numbers]


async def make_desk(store: Store, clock: Clock, name: str = "you", agents: tuple[str, ...] = ("Assistant",)) -> Desk:
    """An account in the store, whose events are collected."""
    account = await store.write(lambda tx: accounts.create(tx, name, f"{name}@postroom.internal", agents))
    return Desk(store, account, clock)


async def open_store(home: Path, clock: Clock, **more: Any) -> Store:
    await asyncio.to_thread(home.mkdir, exist_ok=True)
    return await Store.open(home, clock=clock, **more)
