"""A client that believes only what it is told, and objects to whatever RFC 3501 forbids a server to say."""

import re
from dataclasses import dataclass, field

from tests.imap.harness import Answer, Client

FETCH = re.compile(rb"(\d+) FETCH \((.*)\)\Z", re.DOTALL)
UID = re.compile(rb"UID (\d+)")
FLAGS = re.compile(rb"FLAGS \(([^)]*)\)")
MODSEQ = re.compile(rb"MODSEQ \((\d+)\)")
MODIFIED = re.compile(rb"\[MODIFIED (\S+)\]")
SUBJECT = re.compile(rb"Subject: (\S+)")
VALIDITY = re.compile(rb"\[UIDVALIDITY (\d+)\]")
HIGHEST = re.compile(rb"\[HIGHESTMODSEQ (\d+)\]")
VANISHED = re.compile(rb"VANISHED (\(EARLIER\) )?(\S+)\Z")
COPYUID = re.compile(rb"\[COPYUID (\d+) (\S+) (\S+)\]")
ASK = "(UID FLAGS BODY.PEEK[HEADER.FIELDS (SUBJECT)])"
BY_NUMBER = frozenset({"FETCH", "STORE", "SEARCH"})


class Broken(AssertionError):
    """The server said what it must not say, or let a client believe what is not so."""


@dataclass
class Slot:
    """What is believed of one position."""

    uid: int | None = None
    subject: str | None = None
    flags: frozenset[str] | None = None
    modseq: int | None = None


@dataclass
class Known:
    """What a client that resyncs keeps of a mailbox while it is not open: its state, and what it knows by UID."""

    uidvalidity: int
    modseq: int
    slots: list[Slot]


@dataclass
class Believer:
    """One client with at most one mailbox open. `opened` counts its SELECTs, so that each is told apart.

    With `resyncs` it speaks QRESYNC: it comes back with what it knew, and is told departures by UID.
    """

    client: Client
    name: str
    mailbox: str | None = None
    read_only: bool = False
    slots: list[Slot] = field(default_factory=list)
    idle: bytes | None = None
    opened: int = 0
    resyncs: bool = False
    kept: dict[str, Known] = field(default_factory=dict)
    uidvalidity: int = 0
    modseq: int = 0  # everything up to here has been told
    heard_modseq: int = 0
    subjects: dict[tuple[str, int], str] = field(default_factory=dict)

    async def say(self, text: str) -> Answer:
        """A command, with everything that is heard until its end believed."""
        assert self.idle is None
        answer = await self.client.command(text)
        word = text.split()[0]
        for line in answer.untagged:
            self.hear(line, by_number=word in BY_NUMBER)
        self._conclude(answer)
        return answer

    def _conclude(self, answer: Answer) -> None:
        """How far it has been told everything: what the server says of that, else the highest modseq it has heard since
        the last tagged answer (RFC 7162 section 6)."""
        told = [int(found[1]) for line in (*answer.untagged, answer.text) if (found := HIGHEST.search(line))]
        self.modseq = told[-1] if told else max(self.modseq, self.heard_modseq)
        self.heard_modseq = 0

    async def select(self, mailbox: str, *, read_only: bool = False) -> Answer:
        self.forget()
        self.opened += 1
        before = self.kept.get(mailbox) if self.resyncs else None
        since = f" (QRESYNC ({before.uidvalidity} {before.modseq}))" if before else ""
        answer = await self.client.command(f'{"EXAMINE" if read_only else "SELECT"} "{mailbox}"{since}')
        self.believe(answer.ok, f"{mailbox} cannot be opened: {answer.text!r}")
        self.mailbox, self.read_only = mailbox, read_only
        self._arrive(answer, before)
        return answer

    def _arrive(self, answer: Answer, before: Known | None) -> None:
        """Put together what was known and what SELECT says has changed since."""
        said = b"\n".join(answer.untagged)
        exists = next(int(line.split()[0]) for line in answer.untagged if line.endswith(b" EXISTS"))
        validity, highest = VALIDITY.search(said), HIGHEST.search(said)
        assert validity
        assert highest
        self.uidvalidity, self.modseq = int(validity[1]), int(highest[1])
        gone = {uid for line in answer.untagged if (match := VANISHED.match(line)) for uid in numbers(match[2])}
        same = before is not None and before.uidvalidity == self.uidvalidity
        left = [slot for slot in before.slots if slot.uid not in gone] if before is not None and same else []
        self.believe(len(left) <= exists, f"{len(left)} of the known messages are left, and {exists} are there")
        self.slots = left + [Slot() for _ in range(exists - len(left))]
        for line in answer.untagged:
            self.believe(b"EXPUNGE" not in line, f"EXPUNGE in SELECT: {line!r}")
            if FETCH.match(line):
                self._hear_fetch(line)
        self.heard_modseq = 0

    def forget(self) -> None:
        """Leave the mailbox; who resyncs keeps what it knows, up to the first message whose UID it does not know."""
        if self.resyncs and self.mailbox is not None:
            known = len(self.slots)
            for at, slot in enumerate(self.slots):
                if slot.uid is None:
                    known = at
                    break
            self.kept[self.mailbox] = Known(self.uidvalidity, self.modseq, self.slots[:known])
        self.mailbox, self.slots = None, []

    async def start_idle(self) -> None:
        self.idle = self.client.tag()
        self.client.send(self.idle + b" IDLE\r\n")
        line = await self.client.response()
        self.believe(line.startswith(b"+ "), f"no prompt for IDLE: {line!r}")

    async def stop_idle(self) -> None:
        assert self.idle is not None
        tag, self.idle = self.idle, None
        self.client.send(b"DONE\r\n")
        answer = await self.client.answer(tag)
        for line in answer.untagged:
            self.hear(line)
        self._conclude(answer)

    async def overhear(self) -> None:
        """Believe what has been pushed during IDLE."""
        await self.client.settle()
        while self.client.inbox:
            self.hear((await self.client.response()).removeprefix(b"* "))

    def believe(self, fact: bool, complaint: str) -> None:
        if not fact:
            raise Broken(f"{self.name} in {self.mailbox}: {complaint}")

    def hear(self, line: bytes, *, by_number: bool = False) -> None:
        number, _, rest = line.partition(b" ")
        vanished = VANISHED.match(line)
        if vanished:
            self.believe(self.resyncs and not by_number and not vanished[1], f"not expected: {line!r}")
            for uid in numbers(vanished[2]):
                self._vanish(uid)
        if not number.isdigit():
            return
        at = int(number)
        if rest == b"EXISTS":
            self.believe(at > len(self.slots), f"EXISTS {at} while {len(self.slots)} are known")
            self.slots += [Slot() for _ in range(at - len(self.slots))]
        elif rest == b"EXPUNGE":
            self.believe(not self.resyncs, "EXPUNGE to who speaks QRESYNC")
            self.believe(not by_number, "EXPUNGE in answer to a command by number")
            self.believe(1 <= at <= len(self.slots), f"EXPUNGE {at} of {len(self.slots)}")
            del self.slots[at - 1]
        elif rest.startswith(b"FETCH"):
            self._hear_fetch(line)

    def _vanish(self, uid: int) -> None:
        """The slot of this UID goes; if it is not known, one of those between its neighbours that could be it."""
        low = 0
        for at, slot in enumerate(self.slots):
            above = next((other.uid for other in self.slots[at + 1 :] if other.uid is not None), 1 << 62)
            if slot.uid == uid or (slot.uid is None and low < uid < above):
                del self.slots[at]
                return
            low = slot.uid or low
        raise Broken(f"{self.name} in {self.mailbox}: VANISHED {uid}, which cannot be here")

    def _hear_fetch(self, line: bytes) -> None:
        match = FETCH.match(line)
        assert match, line
        at, items = int(match[1]), match[2]
        self.believe(1 <= at <= len(self.slots), f"FETCH {at} of {len(self.slots)}")
        slot = self.slots[at - 1]
        uid, flags, subject = UID.search(items), FLAGS.search(items), SUBJECT.search(items)
        if uid:
            self.believe(slot.uid in (None, int(uid[1])), f"number {at} was UID {slot.uid} and is {int(uid[1])}")
            slot.uid = int(uid[1])
        modseq = MODSEQ.search(items)
        if modseq:
            self.believe(int(modseq[1]) >= (slot.modseq or 0), f"the modseq of {at} fell to {int(modseq[1])}")
            slot.modseq = int(modseq[1])
            self.heard_modseq = max(self.heard_modseq, slot.modseq)
        if flags:
            slot.flags = frozenset(flags[1].decode().split()) - {"\\Recent"}
        if subject:
            self._learn_subject(slot, at, subject[1].decode())

    def _learn_subject(self, slot: Slot, at: int, subject: str) -> None:
        self.believe(slot.subject in (None, subject), f"number {at} was {slot.subject} and is {subject}")
        slot.subject = subject
        if slot.uid is not None:
            known = self.subjects.setdefault((self.mailbox or "", slot.uid), subject)
            self.believe(known == subject, f"UID {slot.uid} was {known} and is {subject}")

    # What the client does and what it concludes from it

    async def learn(self) -> None:
        """Ask for what is not known of any position."""
        unknown = [at for at, slot in enumerate(self.slots, 1) if None in (slot.uid, slot.subject, slot.flags)]
        if unknown:
            await self.say(f"FETCH {','.join(map(str, unknown))} {ASK}")

    async def store(self, positions: list[int], change: str, flags: list[str], *, by_uid: bool, silent: bool) -> None:
        """STORE at positions (from 0). A silent one is believed if it succeeded, and known before."""
        slots = [self.slots[at] for at in positions]
        if by_uid:
            slots = [slot for slot in slots if slot.uid is not None]
            if not slots:
                return
        named = ",".join(str(slot.uid) if by_uid else str(at + 1) for at, slot in zip(positions, slots, strict=False))
        if by_uid:
            named = ",".join(str(slot.uid) for slot in slots)
        verb = ("UID STORE" if by_uid else "STORE") + f" {named} {change}FLAGS{'.SILENT' if silent else ''}"
        before = [slot.flags for slot in slots]
        applied = [None if old is None or not silent else changed(old, change, flags) for old in before]
        if silent:
            for slot, new in zip(slots, applied, strict=True):
                slot.flags = new
        answer = await self.say(f"{verb} ({' '.join(flags)})")
        if answer.ok:
            return
        for slot, old, new in zip(slots, before, applied, strict=True):
            if silent and slot.flags is new:  # not told anything since
                slot.flags = old if self.read_only else None


def changed(before: frozenset[str], change: str, flags: list[str]) -> frozenset[str]:
    """Flags after +FLAGS, -FLAGS or FLAGS."""
    given = frozenset(flags)
    if change == "+":
        return before | given
    return before - given if change == "-" else given


def pairs(text: bytes) -> list[tuple[int, int]]:
    """The pairs of a COPYUID code, source and target."""
    match = COPYUID.search(text)
    return list(zip(numbers(match[2]), numbers(match[3]), strict=True)) if match else []


def numbers(raw: bytes) -> list[int]:
    """A set of numbers written as `1:3,5`."""
    found: list[int] = []
    for part in raw.decode().split(","):
        low, _, high = part.partition(":")
        found.extend(range(int(low), int(high or low) + 1))
    return found
