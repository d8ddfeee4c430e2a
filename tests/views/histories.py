"""Random histories: several clients and the program itself act on one account; belief, reference and store must agree.

A history is drawn from its seed alone, so a failing one can be played again. After each step some client comes to a
point where it has been told everything; there its belief must be what the store holds, and the store must hold what the
reference says.
"""

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from mailstore import accounts, changes, flags, labels, mailboxes, messages
from mailstore.model import Account, FlagOp, Mailbox, Uid
from tests.imap.harness import PASSWORD, House, letter
from tests.views.believer import MODIFIED, Believer, Broken, numbers, pairs
from tests.views.reference import DELETED, STORED, VIEWS, Mail, Reference
from tests.views.together import together

CLIENTS = 3
FLAGS = ("\\Seen", "\\Seen", "\\Flagged", DELETED, DELETED, "\\Answered", "$Work")
BOXES = ("INBOX", "INBOX", "INBOX", "Work", "Archive", "Trash", "Action", "Unread", "Unread", "All")
OPS = {"+": FlagOp.ADD, "-": FlagOp.REMOVE, "": FlagOp.REPLACE}


@dataclass
class History:
    """One history under way."""

    house: House
    account: Account
    dice: random.Random
    boxes: dict[str, Mailbox] = field(default_factory=dict)
    reference: Reference = field(default_factory=Reference)
    clients: list[Believer] = field(default_factory=list)
    mails: dict[tuple[str, int], Mail] = field(default_factory=dict)  # the reference's mail by mailbox and UID
    log: list[str] = field(default_factory=list)
    made: int = 0

    @classmethod
    async def begin(cls, house: House, seed: int) -> "History":
        """A new account with mail in it and its clients logged in."""
        name = f"user{seed}"
        account = await house.store.write(lambda tx: accounts.create(tx, name, f"{name}@example.org"))
        await house.auth.add_given(account.id, "test", PASSWORD)
        await house.store.write(lambda tx: mailboxes.create(tx, account.id, "Work"))
        history = cls(house, account, random.Random(seed))
        found = house.store.read(lambda tx: mailboxes.all(tx, account.id))
        history.boxes = {box.name: box for box in found if box.name in (*STORED, *VIEWS)}
        for _ in range(history.dice.randint(0, 6)):
            await history.program_append()
        for number in range(CLIENTS):
            client = house.connect()
            await client.greeted()
            assert (await client.command(f'LOGIN {name} "{PASSWORD}"')).ok
            mode = (None, "CONDSTORE", "QRESYNC")[number % 3]
            if mode is not None:
                assert (await client.command(f"ENABLE {mode}")).untagged == [f"ENABLED {mode}".encode()]
            history.clients.append(Believer(client, f"C{number}", resyncs=mode == "QRESYNC"))
        return history

    async def play(self, steps: int) -> None:
        """Act and check; everybody is checked at the end."""
        for _ in range(steps):
            await self._step()
            await self._check(self.dice.choice(self.clients))
        for client in self.clients:
            await self._check(client, surely=True)
        for client in self.clients:
            await self.close(client)
            await client.client.command("LOGOUT")

    async def _step(self) -> None:
        if self.dice.random() < 0.1:
            await together(self)
            return
        if self.dice.random() < 0.25:
            act = self.dice.choice(PROGRAM)
            self.log.append(f"program: {act.__name__}")
            await act(self)
            return
        client = self.dice.choice(self.clients)
        if client.idle is not None:
            self.log.append(f"{client.name}: done")
            await client.stop_idle()
            return
        act_of = self.dice.choice(OPENING if client.mailbox is None else CLIENT)
        if client.resyncs and self.dice.random() < 0.15:
            act_of = History.open  # coming back is what this one is here for
        self.log.append(f"{client.name} in {client.mailbox}: {act_of.__name__}")
        await act_of(self, client)

    # Checking

    async def _check(self, client: Believer, *, surely: bool = False) -> None:
        """Bring a client to where it knows everything, and compare."""
        if client.idle is not None:
            await client.overhear()
            if not surely:
                return
            await client.stop_idle()
        if client.mailbox is None or (not surely and self.dice.random() < 0.4):
            return
        self.log.append(f"{client.name} in {client.mailbox}: sync")
        await client.say("NOOP")
        await client.learn()
        believed = [(slot.uid, slot.subject, slot.flags) for slot in client.slots]
        truth = self.truth(client.mailbox)
        client.believe(believed == truth, f"believes {believed}\n while the store holds {truth}")
        self.compare(client.mailbox)

    def truth(self, box: str) -> list[tuple[int, str, frozenset[str]]]:
        """What the store holds, past every index and session: UID, subject, flags."""
        mailbox = self.boxes[box]

        def read(tx: object) -> list[tuple[int, str, frozenset[str]]]:
            uids = [Uid(uid) for uid in changes.snapshot(tx, mailbox).uids]  # type: ignore[arg-type]  # any transaction
            rows = messages.fetch(tx, mailbox, uids, header=True)  # type: ignore[arg-type]  # as above
            return [
                (row.uid, subject_of(row.header or b""), frozenset(named(row.flags_bits)) | frozenset(row.keywords))
                for row in rows
            ]

        return self.house.store.read(read)

    def compare(self, box: str) -> None:
        """The store against the reference."""
        truth = [(subject, of) for _, subject, of in self.truth(box)]
        if self.reference.differs(box, truth):
            raise Broken(f"{box} holds {truth}\n and should hold {self.reference.shown(box)}")

    # Picking

    def mails_of(self, client: Believer, positions: list[int]) -> list[Mail]:
        """The reference's mails at a client's positions that are still in the mailbox."""
        assert client.mailbox is not None
        return self.mails_at(client.mailbox, [client.slots[at].uid or 0 for at in positions])

    def mails_at(self, box: str, uids: list[int]) -> list[Mail]:
        """The reference's mails by UID, asked of the store, which knows its messages by id."""
        mailbox = self.boxes[box]
        rows = self.house.store.read(lambda tx: messages.fetch(tx, mailbox, [Uid(uid) for uid in sorted(set(uids))]))
        return [self.by_email[row.email] for row in rows]

    def all_of(self, box: str) -> list[Mail]:
        """All of a mailbox's mails in the order of its UIDs, which a view's own order need not be."""
        return self.mails_at(box, [uid for uid, _, _ in self.truth(box)])

    @property
    def by_email(self) -> dict[int, Mail]:
        """Messages get rising ids in the order they are made, as the reference lists them."""
        ids = self.house.store.read(lambda tx: [row.email for box in STORED for row in self._rows(tx, box)])
        return dict(zip(sorted(ids), self.reference.mails, strict=True))

    def _rows(self, tx: object, box: str) -> list:  # type: ignore[type-arg]  # rows of the store
        uids = [Uid(uid) for uid in changes.snapshot(tx, self.boxes[box]).uids]  # type: ignore[arg-type]  # any tx
        return messages.fetch(tx, self.boxes[box], uids)  # type: ignore[arg-type]  # as above

    def some(self, client: Believer, most: int = 4) -> list[int]:
        """Some positions of a client's mailbox whose UID it knows."""
        known = [at for at, slot in enumerate(client.slots) if slot.uid is not None]
        return sorted(self.dice.sample(known, min(len(known), self.dice.randint(1, most)))) if known else []

    def some_flags(self) -> list[str]:
        return sorted(set(self.dice.choices(FLAGS, k=self.dice.randint(1, 2))))

    # What the program does

    async def program_append(self) -> None:
        box, subject = self.dice.choice(STORED[:3]), self.subject()
        is_open, seen = self.dice.random() < 0.4, self.dice.random() < 0.3
        prepared = self.house.store.prepare(letter(subject))
        await self.house.store.write(
            lambda tx: messages.append(
                tx, self.boxes[box], prepared, flags=["\\Seen"] if seen else [], labels=["open"] if is_open else []
            )
        )
        mail = self.reference.append(box, subject, ["\\Seen"] if seen else [], open=False)
        if is_open:
            self.reference.label(mail, True)

    async def program_flags(self) -> None:
        box, uid = self._any_message()
        if uid:
            change, names = self.dice.choice("+-"), self.some_flags()
            mails = self.mails_at(box, [uid])
            await self.house.store.write(lambda tx: flags.store(tx, self.boxes[box], [Uid(uid)], OPS[change], names))
            self.reference.store(box, mails, change, names)

    async def program_label(self) -> None:
        box, uid = self._any_message()
        if uid:
            mail, on = self.mails_at(box, [uid])[0], self.dice.random() < 0.5
            row = self.house.store.read(lambda tx: messages.fetch(tx, self.boxes[box], [Uid(uid)]))[0]
            await self.house.store.write(lambda tx: labels.set_label(tx, row.email, "open", on))
            self.reference.label(mail, on)

    async def program_move(self) -> None:
        box, uid = self._any_message()
        if uid:
            target, mails = self.dice.choice(STORED), self.mails_at(box, [uid])
            await self.house.store.write(lambda tx: messages.move(tx, self.boxes[box], [Uid(uid)], self.boxes[target]))
            self.reference.move(box, mails, target)

    async def program_expunge(self) -> None:
        box, uid = self._any_message()
        if uid and box in STORED:
            mails = self.mails_at(box, [uid])
            await self.house.store.write(
                lambda tx: messages.expunge(tx, self.boxes[box], [Uid(uid)], only_deleted=False)
            )
            self.reference.destroy(mails)

    async def program_come_and_go(self) -> None:
        """Arrive and leave between two looks of everybody: nobody may hear of it."""
        subject = self.subject()
        prepared = self.house.store.prepare(letter(subject))
        inbox = self.boxes["INBOX"]
        appended = await self.house.store.write(lambda tx: messages.append(tx, inbox, prepared))
        await self.house.store.write(lambda tx: messages.expunge(tx, inbox, [appended.uid], only_deleted=False))
        self.reference.destroy([self.reference.append("INBOX", subject)])

    def _any_message(self) -> tuple[str, int]:
        box = self.dice.choice(BOXES)
        uids = [uid for uid, _, _ in self.truth(box)]
        return box, self.dice.choice(uids) if uids else 0

    def subject(self) -> str:
        self.made += 1
        return f"m{self.made}"

    # What clients do

    async def open(self, client: Believer) -> None:
        await self.close(client)
        box = self.dice.choice(BOXES)
        read_only = self.dice.random() < 0.15
        await client.select(box, read_only=read_only)
        if box == "Unread":
            self.reference.watch((client.name, client.opened))
        if self.dice.random() < 0.8:
            await client.learn()

    async def close(self, client: Believer) -> None:
        """Leave without expunging; what only this client kept in Unread goes then."""
        if client.mailbox is None:
            return
        box, opening = client.mailbox, (client.name, client.opened)
        await client.client.command("UNSELECT")
        client.forget()
        await self.left(box, opening)

    async def left(self, box: str, opening: object) -> None:
        if box == "Unread":
            await client_settled(self.house)
            self.reference.leave(opening)

    async def close_expunging(self, client: Believer) -> None:
        assert client.mailbox is not None
        box, opening = client.mailbox, (client.name, client.opened)
        if not client.read_only:
            self.reference.expunge(box, self.all_of(box))
        await client.client.command("CLOSE")
        client.forget()
        await self.left(box, opening)

    async def noop(self, client: Believer) -> None:
        await client.say("NOOP")

    async def fetch(self, client: Believer) -> None:
        positions = [at for at in range(len(client.slots)) if self.dice.random() < 0.5]
        if positions:
            await client.say(f"FETCH {','.join(str(at + 1) for at in positions)} (UID FLAGS)")

    async def uid_fetch(self, client: Believer) -> None:
        await client.say("UID FETCH 1:* (FLAGS)")

    async def read(self, client: Believer) -> None:
        positions = self.some(client, 2)
        if positions:
            mails = self.mails_of(client, positions)
            await client.say(f"FETCH {','.join(str(at + 1) for at in positions)} (BODY[TEXT])")
            if not client.read_only:
                self.reference.store(client.mailbox or "", mails, "+", ["\\Seen"])

    async def store(self, client: Believer) -> None:
        positions, names = self.some(client), self.some_flags()
        if not positions:
            return
        change = self.dice.choice(("+", "+", "-", ""))
        mails = self.mails_of(client, positions)
        await client.store(positions, change, names, by_uid=self.dice.random() < 0.5, silent=self.dice.random() < 0.5)
        if not client.read_only:
            self.reference.store(client.mailbox or "", mails, change, names)

    async def conditional_store(self, client: Believer) -> None:
        """STORE UNCHANGEDSINCE what the client knows: MODIFIED names who was changed since then, and nobody else."""
        positions, names = self.some(client), self.some_flags()
        if not positions or client.read_only:
            return
        await client.say(f"FETCH {','.join(str(at + 1) for at in positions[:1])} (UID MODSEQ)")
        limit = client.slots[positions[0]].modseq or 0
        if not limit:
            return  # it has gone meanwhile; 0 asks another question (RFC 7162 section 3.1.3)
        box, uids = client.mailbox or "", [client.slots[at].uid or 0 for at in positions]
        rows = self.house.store.read(lambda tx: messages.fetch(tx, self.boxes[box], [Uid(uid) for uid in sorted(uids)]))
        stale = {row.uid for row in rows if row.modseq > limit}
        mails = self.mails_at(box, [row.uid for row in rows if row.uid not in stale])
        answer = await client.say(
            f"UID STORE {','.join(map(str, uids))} (UNCHANGEDSINCE {limit}) +FLAGS ({' '.join(names)})"
        )
        told = MODIFIED.search(answer.text)
        modified = set(numbers(told[1])) if told else set()
        client.believe(modified == stale, f"MODIFIED {modified} while {stale} had changed since {limit}")
        self.reference.store(box, mails, "+", names)

    async def search(self, client: Believer) -> None:
        answer = await client.say(self.dice.choice(("SEARCH ALL", "SEARCH UNSEEN", "UID SEARCH ALL")))
        client.believe(answer.ok, f"SEARCH failed: {answer.text!r}")

    async def expunge(self, client: Believer) -> None:
        box = client.mailbox or ""
        if not client.read_only:
            self.reference.expunge(box, self.all_of(box))
        await client.say("EXPUNGE")

    async def uid_expunge(self, client: Believer) -> None:
        positions = self.some(client)
        if positions:
            mails = self.mails_of(client, positions)
            if not client.read_only:
                self.reference.expunge(client.mailbox or "", mails)
            await client.say(f"UID EXPUNGE {','.join(str(client.slots[at].uid) for at in positions)}")

    async def copy(self, client: Believer) -> None:
        await self._transfer(client, "COPY")

    async def move(self, client: Believer) -> None:
        await self._transfer(client, "MOVE")

    async def _transfer(self, client: Believer, verb: str) -> None:
        positions, target = self.some(client), self.dice.choice(STORED)
        if not positions:
            return
        box, mails = client.mailbox or "", self.mails_of(client, positions)
        uids = [client.slots[at].uid or 0 for at in positions]
        before = {uid: subject for uid, subject, _ in self.truth(box)}
        if self.dice.random() < 0.5:
            answer = await client.say(f'{verb} {",".join(str(at + 1) for at in positions)} "{target}"')
        else:
            answer = await client.say(f'UID {verb} {",".join(map(str, uids))} "{target}"')
        refused = verb == "MOVE" and client.read_only
        client.believe(answer.ok is not refused, f"{verb}: {answer.text!r}")
        if refused:
            return
        self._check_pairs(client, b"\n".join([*answer.untagged, answer.text]), uids, before, target)
        (self.reference.copy if verb == "COPY" else self.reference.move)(box, mails, target)

    def _check_pairs(self, client: Believer, told: bytes, uids: list[int], before: dict[int, str], target: str) -> None:
        """Each source of COPYUID was asked for and there, and its target is the same message."""
        after = {uid: subject for uid, subject, _ in self.truth(target)}
        found = pairs(told)
        client.believe({source for source, _ in found} == set(uids) & before.keys(), f"COPYUID names {found}")
        for source, made in found:
            client.believe(before[source] == after.get(made), f"COPYUID {source} -> {made} is another message")

    async def append(self, client: Believer) -> None:
        box, subject, names = self.dice.choice(STORED), self.subject(), self.some_flags()
        tag_line = f'APPEND "{box}" ({" ".join(names)})'
        raw = letter(subject)
        answer = await client.say(f"{tag_line} {{{len(raw)}+}}\r\n{raw.decode()}")
        client.believe(answer.ok, f"APPEND: {answer.text!r}")
        self.reference.append(box, subject, names)

    async def idle(self, client: Believer) -> None:
        await client.start_idle()

    async def pipelined(self, client: Believer) -> None:
        """Numbers sent behind a NOOP before its answer came: they must mean what they meant when they were sent."""
        positions = self.some(client, 2)
        if not positions:
            return
        named = ",".join(str(at + 1) for at in positions)
        first, second = client.client.tag(), client.client.tag()
        client.client.send(first + b" NOOP\r\n" + second + f" FETCH {named} (UID)\r\n".encode())
        for tag, by_number in ((first, False), (second, True)):
            answer = await client.client.answer(tag)
            for line in answer.untagged:
                client.hear(line, by_number=by_number)


Act = Callable[[History], Awaitable[None]]
ClientAct = Callable[[History, Believer], Awaitable[None]]

PROGRAM: list[Act] = [
    History.program_append,
    History.program_append,
    History.program_flags,
    History.program_flags,
    History.program_label,
    History.program_move,
    History.program_expunge,
    History.program_come_and_go,
]
OPENING: list[ClientAct] = [History.open, History.open, History.open, History.append, History.idle]
CLIENT: list[ClientAct] = [
    History.open,
    History.close,
    History.close_expunging,
    History.noop,
    History.fetch,
    History.uid_fetch,
    History.uid_fetch,
    History.read,
    History.store,
    History.store,
    History.store,
    History.conditional_store,
    History.search,
    History.expunge,
    History.expunge,
    History.uid_expunge,
    History.copy,
    History.move,
    History.move,
    History.append,
    History.idle,
    History.idle,
    History.pipelined,
]


async def client_settled(house: House) -> None:
    """What the store does by itself after a mailbox was left has been done."""
    for _ in range(3):
        await house.store.write(lambda tx: None)


def subject_of(header: bytes) -> str:
    return next(line[9:] for line in header.decode().splitlines() if line.startswith("Subject: "))


def named(bits: int) -> list[str]:
    names = ("\\Seen", "\\Answered", "\\Flagged", "\\Draft", "\\Deleted")
    return [name for at, name in enumerate(names) if bits & 1 << at]
