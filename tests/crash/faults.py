"""Faults planted into a server before it starts, to see that the tests with killed servers notice them."""

import asyncio
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final
from uuid import uuid4

from agents import sender
from agents.letter import Outgoing
from agents.office import Office
from agents.ports import WriteTx
from agents.states import OutboxState
from bridge.identity import Identity
from bridge.post.accept import Accept
from bridge.post.compose import compose
from bridge.post.courier import Courier
from bridge.post.ports import ref
from bridge.submissions import Envelope, Receipt, Refused

LATE: Final = 0.1


def answer_early() -> None:
    """The 250 goes out before the mail is kept."""
    keep = Accept.accept
    waiting: set[asyncio.Task[Receipt | Refused]] = set()

    async def accept(self: Accept, identity: Identity, envelope: Envelope) -> Receipt | Refused:
        def later() -> None:
            waiting.add(asyncio.create_task(keep(self, identity, envelope)))

        asyncio.get_running_loop().call_later(LATE, later)  # so that the 250 is read before the kill
        return Receipt("M0")

    setattr(Accept, "accept", accept)  # noqa: B010 - mypy knows the method


def send_again() -> None:
    """What may have been sent is sent again."""

    def again(tx: WriteTx, office: Office, row: sqlite3.Row, why: str) -> None:
        sender.phase(tx, office, row["key"], OutboxState.DATA_SENT, OutboxState.QUEUED)

    setattr(sender, "uncertain", again)  # noqa: B010 - mypy knows the function


def deliver_twice() -> None:
    """A mail for the user is put into the mailbox first, without its key, and marked as delivered later."""

    put = Courier.deliver

    async def deliver(self: Courier, outgoing: Outgoing) -> None:
        frame = self._store.read(lambda tx: self._frame(tx, outgoing))
        prepared = self._store.prepare(compose(outgoing, frame))
        other = replace(outgoing, key=uuid4().hex)
        if outgoing.activity is not None:
            await put(self, outgoing)
            return
        put_there = await self._store.write(lambda tx: self._put_letter(tx, other, prepared))
        await self._store.write(lambda tx: self._runtime.mark_delivered(tx, outgoing.key, ref(put_there.email)))

    setattr(Courier, "deliver", deliver)  # noqa: B010 - mypy knows the method


FAULTS: Final[Mapping[str, Callable[[], None]]] = {
    "answers early": answer_early,
    "sends again": send_again,
    "delivers twice": deliver_twice,
}
