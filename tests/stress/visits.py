"""Opening and leaving mailboxes and connections, and coming back with what was known (QRESYNC).

Rule: who comes back believes what was kept and what SELECT says has changed since, and then asks whether that is so.
"""

import re
import time
from dataclasses import dataclass, field, replace
from random import Random
from typing import Final

from tests.stress.client import FETCH, FLAGS, MODSEQ, UID, VANISHED, Answer, Client, Doing, Slot
from tests.stress.deeds import learn, mail
from tests.stress.ledger import STRICT, VIEWS, need
from tests.stress.link import Ended, numbers, results

HIGHEST: Final = re.compile(rb"\[HIGHESTMODSEQ (\d+)\]")
VALIDITY: Final = re.compile(rb"\[UIDVALIDITY (\d+)\]")
BOXES: Final = (*STRICT, *STRICT, *VIEWS)
UNFINISHED: Final = (
    b"APPEND INBOX {1000+}\r\nhalf of a mail",
    b"APPEND INBOX {10}\r\n",
    b"UID FETCH 1:* (BODY.PEEK[])\r\n",
    b"IDLE\r\n",
    b"UID SEARCH BODY line\r\n",
    b'SELECT "INB',
    b"FETCH 1:* (FLAGS)\r\nx NOOP\r\nx LOGOUT\r\n",
)
_OPENED: Final = Doing("SELECT", by_uid=False)


@dataclass(frozen=True)
class Kept:
    """What is kept of a mailbox while it is not open."""

    uidvalidity: int
    modseq: int
    slots: tuple[Slot, ...]


@dataclass
class Visitor(Client):
    """A client that opens mailboxes, leaves them and comes back."""

    kept: dict[str, Kept] = field(default_factory=dict)

    async def turn_on(self, mode: str) -> None:
        """A mode, if the server has it."""
        if mode.encode() not in self.capabilities and mode != "COMPRESS":
            return
        if mode == "COMPRESS":
            if b"COMPRESS=DEFLATE" in self.capabilities:
                await self.say("COMPRESS DEFLATE")
                self.link.compress()
        elif mode == "NOTIFY":
            await self.say(
                "NOTIFY SET (SELECTED (MessageNew MessageExpunge FlagChange)) (PERSONAL (MessageNew MessageExpunge))"
            )
        else:
            await self.say(f"ENABLE {mode}")
            self.modes |= {"CONDSTORE", mode} if mode == "QRESYNC" else set()
        self.modes.add(mode)

    async def open(self, random: Random, box: str | None = None) -> None:
        self.leave()
        box, verb = box or random.choice(BOXES), random.choice(("SELECT", "SELECT", "SELECT", "EXAMINE"))
        before = self.kept.get(box) if "QRESYNC" in self.modes else None
        since = f" (QRESYNC ({before.uidvalidity} {before.modseq}))" if before else ""
        answer = await self.say(f'{verb} "{box}"{since}')
        self.mailbox, self.read_only = box, verb == "EXAMINE"
        self._arrive(answer, before)
        if before is not None:
            await self._check()

    def _arrive(self, answer: Answer, before: Kept | None) -> None:
        assert self.mailbox
        closed = next((at for at, line in enumerate(answer.lines) if line.startswith(b"OK [CLOSED]")), -1)
        lines = answer.lines[closed + 1 :]  # what came before was news of the mailbox that was open
        said = b"\n".join(lines)
        exists = next(int(line.split()[0]) for line in lines if line.endswith(b" EXISTS"))
        validity, highest = VALIDITY.search(said), HIGHEST.search(said)
        assert validity
        assert highest
        self.ledger.opened(self.mailbox, int(validity[1]))
        self.complete = int(highest[1])
        need(self.complete >= self.highest.get(self.mailbox, 0), f"{self.name}: HIGHESTMODSEQ fell: {said!r}")
        self.highest[self.mailbox] = self.complete
        gone = {uid for line in lines if (match := VANISHED.match(line)) for uid in numbers(match[2])}
        left = [replace(slot) for slot in before.slots if slot.uid not in gone] if before else []
        for slot in before.slots if before else ():
            if slot.uid in gone:
                self._gone(slot.uid)
        need(len(left) <= exists, f"{self.name}: {len(left)} of the known messages are left, and {exists} are there")
        self.slots = left + [Slot() for _ in range(exists - len(left))]
        for line in lines:
            if FETCH.match(line):
                self._hear_fetch(line, _OPENED)
        self.heard = 0  # of this SELECT, whose HIGHESTMODSEQ counts

    async def _check(self) -> None:
        """What is believed after coming back, against what the server says when it is asked for everything."""
        if not self.slots:
            return
        known = {slot.uid: slot for slot in map(replace, self.slots) if slot.uid is not None}
        top = 0 if len(known) < len(self.slots) else max(known)
        complete = self.complete
        answer = await self.say("UID FETCH 1:* (FLAGS MODSEQ)")
        for line in answer.lines:
            match = FETCH.match(line)
            modseq, flags = MODSEQ.search(line), FLAGS.search(line)
            if match is None or modseq is None or flags is None:
                continue
            uid = int(match[1]) if match[2] else int(UID.search(line)[1])  # type: ignore[index]  # by UID it is there
            slot = known.get(uid)
            need(slot is not None or uid > top, f"{self.name}: UID {uid} of {self.mailbox} was not told of")
            if slot is None or slot.flags is None or int(modseq[1]) > complete:
                continue
            now = frozenset(flags[1].decode().split()) - {"\\Recent"}
            need(now == slot.flags, f"{self.name}: {self.mailbox} {uid} came back as {sorted(slot.flags)}: {line!r}")

    def leave(self) -> None:
        """Keep what is known, up to the first message whose UID is not."""
        if self.mailbox is None:
            return
        known = next((at for at, slot in enumerate(self.slots) if slot.uid is None), len(self.slots))
        validity = self.ledger.validity[self.mailbox]
        self.kept[self.mailbox] = Kept(validity, self.complete, tuple(map(replace, self.slots[:known])))

    async def close(self, random: Random) -> None:
        if self.mailbox is None:
            return
        self.leave()
        await self.say(random.choice(("CLOSE", "UNSELECT")))
        self.mailbox, self.slots, self.watch = None, [], None

    async def come_back(self, random: Random) -> None:
        """End the connection politely, and make a new one with the same modes."""
        self.leave()
        await self.say("LOGOUT")
        need(await _ends(self), f"{self.name}: still open after LOGOUT")
        await self._again()

    async def drop(self, random: Random) -> None:
        """The connection is cut in the middle of something. A new one is made, and the same mailbox opened on it: who
        speaks QRESYNC comes back with what was known by the last tagged answer, and is told all the rest."""
        box = self.mailbox
        await random.choice((self._half_a_command, self._half_an_answer, self._half_an_idle, self._half_a_change))(
            random
        )
        self.leave()
        self.log.append(b"(the connection is cut)")
        self.ledger.cuts += 1
        await self._again(rudely=random.random() < 0.5)
        if box is not None:
            await self.open(random, box)

    async def _half_a_command(self, random: Random) -> None:
        await self.link.say(b"x " + random.choice(UNFINISHED))

    async def _half_an_answer(self, random: Random) -> None:
        """A long answer is read up to somewhere."""
        if self.mailbox is None or not self.slots:
            return
        text = "UID FETCH 1:* (UID FLAGS RFC822.SIZE BODY.PEEK[])"
        await self.link.say(b"x " + text.encode() + b"\r\n")
        await self._overhear(random.randint(0, len(self.slots) // 2), Doing.of(text))

    async def _half_an_idle(self, random: Random) -> None:
        """News is heard for some time, and DONE is never said."""
        if self.mailbox is None:
            return
        await self.link.say(b"x IDLE\r\n")
        until = time.monotonic() + random.random() * 0.4
        while (left := until - time.monotonic()) > 0 and await self.link.heard_within(left):
            await self._overhear(1, Doing("IDLE", by_uid=True))

    async def _half_a_change(self, random: Random) -> None:
        """A change is asked for, and nobody will hear whether it was made."""
        slots = [slot for slot in random.sample(self.slots, min(3, len(self.slots))) if slot.uid is not None]
        if self.mailbox not in STRICT or self.read_only or len(self.slots) < 5 or not slots:
            await self.link.say(b"x APPEND work {%d+}\r\n%b\r\n" % (len(raw := mail(self, random)), raw))
            return
        named = ",".join(str(slot.uid) for slot in slots).encode()
        self.unlearn(slots)
        if random.random() < 0.5:
            await self.link.say(b"x UID STORE %b +FLAGS (\\Flagged)\r\n" % named)
            return
        self.ledger.condemn(self.mailbox, [slot.uid for slot in slots if slot.uid is not None])
        await self.link.say(b"x UID STORE %b +FLAGS.SILENT (\\Deleted)\r\ny UID EXPUNGE %b\r\n" % (named, named))

    async def _overhear(self, responses: int, doing: Doing) -> None:
        for _ in range(responses):
            line = await self.link.response()
            self.note(line)
            if not line.startswith(b"* "):
                return
            self.hear(line[2:], doing)

    async def _again(self, *, rudely: bool = False) -> None:
        if rudely:
            self.link.abort()
        else:
            await self.link.close()
        self.mailbox, self.slots, self.watch = None, [], None
        modes, self.modes = self.modes, set()
        await self.connect()
        for mode in sorted(modes - {"CONDSTORE"}) or sorted(modes):
            await self.turn_on(mode)
        self.modes |= modes & {"CONDSTORE"}

    async def catch_up(self) -> None:
        """Everything is told, and everything has a UID."""
        await self.say("NOOP")
        await learn(self)
        await self.say("NOOP")
        if self.watch is not None:
            told = (await self.say(f"UID SEARCH {self.watch.criteria}")).lines
            now = {hit for line in told if line.startswith((b"SEARCH", b"ESEARCH")) for hit in results(line)}
            need(now == self.watch.found, f"{self.name}: {self.watch} and there are {sorted(now)}")


async def _ends(client: Client) -> bool:
    try:
        await client.link.response()
    except Ended:
        return True
    return False
