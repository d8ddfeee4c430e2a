"""A crowd of clients at one server for some seconds, and whether all of them have come to believe the same.

Rule: everything a client does is drawn from its seed; what differs between two runs is only who is quicker.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from tests.stress import deeds
from tests.stress.client import FETCH, FLAGS, UID
from tests.stress.ledger import STRICT, Ledger, Surprise, need
from tests.stress.visits import Visitor

Deed = Callable[[Visitor, Random], Awaitable[None]]

DEEDS: Final[Sequence[tuple[Deed, int]]] = (
    (deeds.noop, 10),
    (deeds.fetch, 22),
    (deeds.changes, 6),
    (deeds.search, 10),
    (deeds.status, 5),
    (deeds.watch, 3),
    (deeds.idle, 6),
    (deeds.store, 22),
    (deeds.append, 8),
    (deeds.copy, 6),
    (deeds.remove, 8),
    (deeds.several, 5),
    (deeds.folders, 2),
    (Visitor.open, 6),
    (Visitor.close, 2),
    (Visitor.come_back, 1),
    (Visitor.drop, 4),
)
MODES: Final = (
    (), ("CONDSTORE",), ("QRESYNC",), ("IMAP4rev2",), ("COMPRESS",), ("COMPRESS", "QRESYNC"), ("UIDONLY",),
    ("QRESYNC", "UIDONLY"), ("NOTIFY",), ("NOTIFY", "QRESYNC"), ("IMAP4rev2", "QRESYNC"),
)  # packed, to be seen at a glance  # fmt: skip


@dataclass(frozen=True)
class Tally:
    clients: int
    commands: int
    lines: int
    cuts: int


async def run(port: int, *, clients: int, seconds: float, seed: int) -> Tally:
    """Raises Surprise with the last lines of the client concerned."""
    ledger = Ledger()
    crowd = [Visitor(f"c{number}", port, ledger) for number in range(clients)]
    first, fresh = Visitor("first", port, ledger), Visitor("fresh", port, ledger)
    try:
        await _prepare(first)
        until = time.monotonic() + seconds
        async with asyncio.TaskGroup() as group:
            for number, client in enumerate(crowd):
                group.create_task(_guarded(client, _live(client, number, Random(f"{seed}.{number}"), until)))
        await _compare(crowd, fresh)
    finally:
        for client in (first, *crowd, fresh):
            if client.connected:
                await client.link.close()
    return Tally(clients, ledger.commands, ledger.lines, ledger.cuts)


async def _prepare(first: Visitor) -> None:
    await first.connect()
    listed = await first.say('LIST "" "work"')
    if not listed.lines:
        await first.say("CREATE work")
    random = Random(0)
    for _ in range(20):
        await deeds.append(first, random)
    await first.say("LOGOUT")


async def _live(client: Visitor, number: int, random: Random, until: float) -> None:
    await client.connect()
    for mode in MODES[number % len(MODES)]:
        await client.turn_on(mode)
    await client.open(random)
    choices, weights = zip(*DEEDS, strict=True)
    while time.monotonic() < until:
        await random.choices(choices, weights)[0](client, random)


async def _guarded(client: Visitor, life: Coroutine[None, None, None]) -> None:
    try:
        await life
    except (Surprise, AssertionError) as surprise:
        said = "\n".join(line.decode(errors="replace") for line in client.log[-40:])
        raise Surprise(f"{surprise}\n{client.name} with {sorted(client.modes)}; its last lines:\n{said}") from surprise


async def _compare(crowd: Sequence[Visitor], fresh: Visitor) -> None:
    """All have gone quiet: whoever has a mailbox open knows of it what one knows who opens it for the first time."""
    for client in crowd:
        if client.mailbox is not None:
            await _guarded(client, client.catch_up())
    await fresh.connect()
    for box in STRICT:
        truth = await _listed(fresh, box)
        fresh.ledger.settled(box, truth)
        for client in crowd:
            if client.mailbox == box:
                await _guarded(client, _agree(client, truth))


async def _listed(client: Visitor, box: str) -> dict[int, frozenset[str]]:
    client.leave()
    client.slots = []
    answer = await client.say(f'EXAMINE "{box}"')
    client.mailbox = box
    client._arrive(answer, None)
    truth: dict[int, frozenset[str]] = {}
    for line in (await client.say("UID FETCH 1:* (FLAGS)")).lines if client.slots else ():
        uid, flags = UID.search(line), FLAGS.search(line)
        if FETCH.match(line) and uid and flags:
            truth[int(uid[1])] = frozenset(flags[1].decode().split()) - {"\\Recent"}
    return truth


async def _agree(client: Visitor, truth: dict[int, frozenset[str]]) -> None:
    known = {slot.uid: slot.flags for slot in client.slots}
    need(list(known) == list(truth), f"{client.name} knows {list(known)} of {client.mailbox}, there are {list(truth)}")
    wrong = {uid: (flags, truth[uid]) for uid, flags in known.items() if uid is not None and flags != truth[uid]}
    need(not wrong, f"{client.name} in {client.mailbox}: flags as known, and as they are: {wrong}")
