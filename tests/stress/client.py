"""A client that notes every untagged line it hears, and objects to any that the state of the protocol does not explain.

Rule: a line is either allowed by what the client is doing, or it is a surprise; none is passed over.
"""

import re
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from tests.stress.ledger import VIEWS, Ledger, Place, need
from tests.stress.link import Link, numbers

PASSWORD: Final = "bench-password"
FETCH: Final = re.compile(rb"(\d+) (UID)?FETCH \((.*)\)\Z", re.DOTALL)
UID: Final = re.compile(rb"UID (\d+)")
FLAGS: Final = re.compile(rb"FLAGS \(([^)]*)\)")
MODSEQ: Final = re.compile(rb"MODSEQ \((\d+)\)")
SIZE: Final = re.compile(rb"RFC822\.SIZE (\d+)")
BODY: Final = re.compile(rb"BODY\[\] \{(\d+)\}\r\n")
SUBJECT: Final = re.compile(rb"Subject: (\S+)")
UPDATE: Final = re.compile(rb"(ADDTO|REMOVEFROM) \(([^)]*)\)")
VANISHED: Final = re.compile(rb"VANISHED (\(EARLIER\) )?(\S+)\Z")
CODE: Final = re.compile(rb"(?:OK|NO) \[([A-Z-]+)(?: ([^]]*))?\]")
CODES: Final = frozenset(
    b"PERMANENTFLAGS UIDNEXT UIDVALIDITY UNSEEN HIGHESTMODSEQ MAILBOXID CLOSED INPROGRESS NOMODSEQ".split()
)
OPENING: Final = re.compile(
    rb"(FLAGS |\d+ (EXISTS|RECENT|(UID)?FETCH)|VANISHED \(EARLIER\)|OK \[(%b)[ \]])" % b"|".join(sorted(CODES))
)
BY_NUMBER: Final = frozenset({"FETCH", "STORE", "SEARCH", "SORT", "THREAD"})
# Why a command may be answered NO: somebody else was quicker.
EXPLAINED: Final = frozenset({b"EXPUNGEISSUED", b"MODIFIED"})
ANSWERS: Final = {
    "SEARCH": {b"SEARCH", b"ESEARCH"},
    "SORT": {b"SORT", b"ESEARCH"},
    "THREAD": {b"THREAD"},
    "STATUS": {b"STATUS"},
    "LIST": {b"LIST", b"STATUS"},
    "CAPABILITY": {b"CAPABILITY"},
    "ENABLE": {b"ENABLED"},
    "LOGOUT": {b"BYE"},
    "NOTIFY": {b"STATUS"},
}


@dataclass
class Slot:
    """What is known of the message at one position."""

    uid: int | None = None
    flags: frozenset[str] | None = None
    modseq: int = 0


@dataclass(frozen=True)
class Doing:
    """The command under way: its word, whether it is one by UID, and the lines that only it explains."""

    word: str
    by_uid: bool
    lines: Collection[bytes] = ()

    @classmethod
    def of(cls, text: str) -> "Doing":
        by_uid = text.startswith("UID ")
        word = text.removeprefix("UID ").split(" ")[0]
        return cls(word, by_uid, ANSWERS.get(word, ()))

    @property
    def opens(self) -> bool:
        return self.word in ("SELECT", "EXAMINE")

    @property
    def by_number(self) -> bool:
        return self.word in BY_NUMBER and not self.by_uid


@dataclass
class Watch:
    """A search whose result is kept up to date (RFC 5267): the criteria, and the UIDs that it has found by now."""

    tag: bytes
    criteria: str
    found: set[int]

    def apply(self, line: bytes) -> None:
        for word, raw in UPDATE.findall(line):
            for uid in (uid for which in raw.split()[1::2] for uid in numbers(which)):
                need((uid in self.found) == (word == b"REMOVEFROM"), f"{self.criteria}: {sorted(self.found)}: {line!r}")
                self.found ^= {uid}


@dataclass
class Answer:
    status: bytes
    text: bytes
    lines: list[bytes]

    @property
    def code(self) -> tuple[bytes, bytes]:
        match = CODE.match(self.status + b" " + self.text)
        return (match[1], match[2] or b"") if match else (b"", b"")


@dataclass
class Client:
    """One client with at most one mailbox open. `modes` are those it has turned on."""

    name: str
    port: int
    ledger: Ledger
    modes: set[str] = field(default_factory=set)
    link: Link = field(init=False, repr=False)
    connected: bool = False
    capabilities: frozenset[bytes] = frozenset()
    mailbox: str | None = None
    read_only: bool = False
    slots: list[Slot] = field(default_factory=list)
    mine: dict[Place, bool] = field(default_factory=dict)  # whether this client's own keyword is set there
    unsure: set[Place] = field(default_factory=set)  # where a STORE of it is under way
    highest: dict[str, int] = field(default_factory=dict)
    complete: int = 0  # everything up to this modseq has been told of the mailbox that is open
    heard: int = 0  # the highest modseq heard since the last tagged answer
    said: int | None = None  # what the server has said since then of how far all is told
    log: list[bytes] = field(default_factory=list)
    watch: Watch | None = None
    _tag: int = 0

    @property
    def keyword(self) -> str:
        return f"$k-{self.name}"

    @property
    def by_uid_only(self) -> bool:
        """Numbers may change under it at any time, or are not spoken at all."""
        return bool(self.modes & {"UIDONLY", "NOTIFY"})

    @property
    def rev2(self) -> bool:
        return "IMAP4rev2" in self.modes

    @property
    def vanishes(self) -> bool:
        return bool(self.modes & {"QRESYNC", "UIDONLY"})

    # Speaking

    async def connect(self) -> None:
        self.link = await Link.dial(self.port)
        self.connected = True
        greeting = await self.link.response()
        need(greeting.startswith(b"* OK "), f"greeted with {greeting!r}")
        await self.say(f"LOGIN you {PASSWORD}")
        told = (await self.say("CAPABILITY")).lines
        self.capabilities = frozenset(told[0].split()[1:])

    async def say(self, text: str, *data: bytes) -> Answer:
        """One command; `data` are literals, each put where the text has a {}."""
        return (await self.say_all([(text, data)]))[0]

    async def say_all(self, commands: Sequence[tuple[str, Sequence[bytes]]]) -> list[Answer]:
        """Commands sent together, answered in their order."""
        tags = []
        sent = b""
        for text, data in commands:
            self._tag += 1
            tags.append(f"{self.name}.{self._tag}".encode())
            self.ledger.commands += 1
            pieces = text.encode().split(b"{}")
            sent += tags[-1] + b" " + pieces[0]
            for literal, piece in zip(data, pieces[1:], strict=True):
                sent += b"{%d+}\r\n%b%b" % (len(literal), literal, piece)
            sent += b"\r\n"
            self.log.append(tags[-1] + b" " + text.encode())
        await self.link.say(sent)
        return [await self._answer(tag, Doing.of(text)) for tag, (text, _) in zip(tags, commands, strict=True)]

    async def idle(self, seconds: float) -> None:
        """IDLE for so long, hearing whatever is said."""
        self._tag += 1
        tag, doing = f"{self.name}.{self._tag}".encode(), Doing("IDLE", by_uid=True)
        self.log.append(tag + b" IDLE")
        await self.link.say(tag + b" IDLE\r\n")
        while not (line := await self.link.response()).startswith(b"+"):
            self.note(line)
            self.hear(line[2:], doing)
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and await self.link.heard_within(left):
            line = await self.link.response()
            self.note(line)
            self.hear(line[2:], doing)
        await self.link.say(b"DONE\r\n")
        await self._answer(tag, doing)

    async def _answer(self, tag: bytes, doing: Doing) -> Answer:
        lines: list[bytes] = []
        while True:
            response = await self.link.response()
            self.note(response)
            if response.startswith(tag + b" "):
                _, status, text = response.split(b" ", 2)
                answer = Answer(status, text, lines)
                self._conclude(answer)
                fine = status == b"OK" or (status == b"NO" and answer.code[0] in EXPLAINED)
                need(fine, f"{self.name}: {response!r}")
                return answer
            need(response.startswith(b"* "), f"{self.name}: neither tagged nor untagged: {response!r}")
            lines.append(response[2:])
            self.hear(response[2:], doing)

    def _conclude(self, answer: Answer) -> None:
        """How far everything has been told, as RFC 7162 section 6 has a client work it out."""
        if answer.code[0] == b"HIGHESTMODSEQ":
            self.said = int(answer.code[1])
        self.complete = max(self.complete, self.heard) if self.said is None else self.said
        self.heard, self.said = 0, None

    def note(self, response: bytes) -> None:
        self.ledger.lines += 1
        self.log.append(response[:300])
        del self.log[:-60]

    def unlearn(self, slots: Iterable[Slot]) -> None:
        """What becomes of these messages' flags will not be told, or not all of it: a silent STORE."""
        for slot in slots:
            slot.flags = None

    # Listening

    def hear(self, line: bytes, doing: Doing) -> None:
        if doing.opens and self.mailbox is None:
            notified = "NOTIFY" in self.modes and line.startswith(b"STATUS ")
            listed = self.rev2 and line.startswith(b"LIST (")
            need(notified or listed or OPENING.match(line) is not None, f"{self.name} doing {doing.word}: {line!r}")
            self._not_rev1(line, doing)
            return
        if doing.opens and line.startswith(b"OK [CLOSED]"):
            self.mailbox = self.watch = None
            return
        self._not_rev1(line, doing)
        word, _, rest = line.partition(b" ")
        if word.isdigit():
            self._hear_number(int(word), rest, line, doing)
        elif word == b"VANISHED":
            self._hear_vanished(line, doing)
        elif word == b"OK":
            code = CODE.match(line)
            known = code is None or code[1] in CODES or (code[1] == b"COPYUID" and doing.word == "MOVE")
            need(known, f"{self.name}: a code that nothing explains: {line!r}")
            if code is not None and code[1] == b"HIGHESTMODSEQ":
                self.said = int(code[2])
        elif self.watch is not None and self.watch.tag in line and UPDATE.search(line):
            self.watch.apply(line)
        else:
            known = word == b"FLAGS" or word in doing.lines or (word == b"STATUS" and "NOTIFY" in self.modes)
            need(known, f"{self.name} doing {doing.word}: {line!r}")

    def _not_rev1(self, line: bytes, doing: Doing) -> None:
        """What IMAP4rev2 has no more (RFC 9051 appendix E), and FETCH that nobody asked for without its UID."""
        if not self.rev2:
            return
        gone = line.endswith(b" RECENT") or line.startswith((b"SEARCH", b"OK [UNSEEN")) or b"\\Recent" in line
        bare = FETCH.match(line) and doing.word not in ("FETCH", "STORE") and not UID.search(line)
        need(not gone and not bare, f"{self.name} with IMAP4rev2, doing {doing.word}: {line!r}")

    def _hear_number(self, number: int, rest: bytes, line: bytes, doing: Doing) -> None:
        where = f"{self.name} in {self.mailbox} doing {doing}: {line!r}"
        need(self.mailbox is not None, f"nothing is open, {where}")
        if rest == b"EXISTS":
            need(number >= len(self.slots), f"{len(self.slots)} are known, {where}")
            self.slots += [Slot() for _ in range(number - len(self.slots))]
        elif rest == b"RECENT":
            need(number <= len(self.slots), f"{len(self.slots)} are known, {where}")
        elif rest == b"EXPUNGE":
            need(not self.vanishes and not doing.by_number, f"EXPUNGE is out of place, {where}")
            need(1 <= number <= len(self.slots), f"{len(self.slots)} are known, {where}")
            self._gone(self.slots.pop(number - 1).uid)
        else:
            need(FETCH.match(line) is not None, f"unknown, {where}")
            self._hear_fetch(line, doing)

    def _hear_vanished(self, line: bytes, doing: Doing) -> None:
        match = VANISHED.match(line)
        where = f"{self.name} in {self.mailbox} doing {doing}: {line!r}"
        need(match is not None and self.vanishes, f"VANISHED is out of place, {where}")
        assert match
        if match[1]:
            need(doing.word in ("SELECT", "EXAMINE", "FETCH"), f"nobody asked, {where}")
            mine = {slot.uid for slot in self.slots}
            need(not mine & set(numbers(match[2])), f"EARLIER names what is still counted, {where}")
            return
        need(not doing.by_number, f"VANISHED is out of place, {where}")
        for uid in numbers(match[2]):
            self._vanish(uid, where)

    def _vanish(self, uid: int, where: str) -> None:
        """The slot of this UID goes; if it is not known, one between its neighbours that could be it.

        Who does without numbers has no neighbours: the slots without a UID are the last ones then.
        """
        low = 0
        above = [1 << 62] * (len(self.slots) + 1)
        for at in range(len(self.slots) - 1, -1, -1):
            above[at] = self.slots[at].uid or above[at + 1]
        for at, slot in enumerate(self.slots):
            if slot.uid == uid or (slot.uid is None and (low < uid < above[at] or "UIDONLY" in self.modes)):
                del self.slots[at]
                self._gone(uid)
                return
            low = slot.uid or low
        need(False, f"it cannot be here, {where}")

    def _gone(self, uid: int | None) -> None:
        if uid is not None and self.mailbox is not None:
            self.ledger.gone(self.mailbox, uid, self.name)

    def _hear_fetch(self, line: bytes, doing: Doing) -> None:
        match = FETCH.match(line)
        assert match
        assert self.mailbox
        items = match[3]
        need(("UIDONLY" in self.modes) == bool(match[2]), f"{self.name}: the wrong kind of FETCH: {line!r}")
        if match[2]:
            slot = self._slot_of(int(match[1]))
        else:
            at = int(match[1])
            need(1 <= at <= len(self.slots), f"{self.name} knows {len(self.slots)}: {line!r}")
            slot = self.slots[at - 1]
            uid = UID.search(items)
            if uid:
                self._learn_uid(at - 1, int(uid[1]), line)
        self._learn(slot, items, line)

    def _slot_of(self, uid: int) -> Slot:
        """Of a UID, for who does without numbers: the positions are those of ascending UIDs."""
        for slot in self.slots:
            if slot.uid == uid:
                return slot
        unknown = next((at for at, slot in enumerate(self.slots) if slot.uid is None), None)
        need(unknown is not None, f"{self.name} in {self.mailbox}: UID {uid} is one too many")
        assert unknown is not None
        self.slots[unknown].uid = uid
        self.slots.sort(key=lambda slot: slot.uid or 1 << 62)
        return next(slot for slot in self.slots if slot.uid == uid)

    def _learn_uid(self, at: int, uid: int, line: bytes) -> None:
        slot = self.slots[at]
        need(slot.uid in (None, uid), f"{self.name} in {self.mailbox}: number {at + 1} was {slot.uid}: {line!r}")
        below = next((other.uid for other in reversed(self.slots[:at]) if other.uid), 0)
        above = next((other.uid for other in self.slots[at + 1 :] if other.uid), 1 << 62)
        need(below < uid < above, f"{self.name} in {self.mailbox}: not between {below} and {above}: {line!r}")
        slot.uid = uid

    def _learn(self, slot: Slot, items: bytes, line: bytes) -> None:
        assert self.mailbox
        flags, modseq = FLAGS.search(items), MODSEQ.search(items)
        if modseq:
            need(int(modseq[1]) >= slot.modseq, f"{self.name} in {self.mailbox}: the modseq fell: {line!r}")
            slot.modseq = int(modseq[1])
            self.heard = max(self.heard, slot.modseq)
        if flags:
            slot.flags = frozenset(flags[1].decode().split()) - {"\\Recent"}
        if slot.uid is None:
            return
        place = (self.mailbox, slot.uid)
        if subject := SUBJECT.search(items):
            self.ledger.subject(place, subject[1].decode())
            if body := BODY.search(items):
                self.ledger.body(items[body.end() : body.end() + int(body[1])], subject[1].decode())
        if size := SIZE.search(items):
            self.ledger.size(place, int(size[1]))
        if flags and slot.flags is not None:
            if modseq:
                self.ledger.flags_at(place, int(modseq[1]), slot.flags)
            self._check_mine(place, slot.flags)

    def _check_mine(self, place: Place, flags: frozenset[str]) -> None:
        """A keyword that nobody else sets is as this client has set it."""
        if place in self.unsure or place in self.ledger.replaced or place[0] in VIEWS:
            return
        wanted = self.mine.get(place)
        need(wanted is None or wanted == (self.keyword in flags), f"{self.name}: {place} has {sorted(flags)}")
