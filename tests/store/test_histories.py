"""Random histories against the reference: every list, flag and counter of every mailbox after every step, and beside it
followers who know a mailbox only by what the change log told them.

A follower looks now and then; at the end all must believe what is true. This finds a lost log row, a UID given twice, a
flag missed in one view, wrong pairs of a copy, and counters that drift.
"""

import asyncio
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mailstore import changes, flags, labels, mailboxes, messages
from mailstore.flags import FlagOp
from mailstore.model import EmailId, ModSeq, StoredRow
from mailstore.store import Store
from tests.conftest import NIGHTLY
from tests.store.helpers import Clock, Desk, mail, make_desk, open_store
from tests.store.reference import STORED, VIEWS, Message, Model

BOXES = (*STORED, *VIEWS)
WORDS = ("\\Seen", "\\Flagged", "\\Deleted", "$Work", "later")

picks = st.lists(st.integers(0, 7), min_size=1, max_size=4)
words = st.sets(st.sampled_from(WORDS), max_size=3)
stored, anywhere = st.sampled_from(STORED), st.sampled_from(BOXES)
steps = st.one_of(
    st.tuples(st.just("append"), stored, st.integers(0, 3), words),
    st.tuples(st.just("append"), st.just("INBOX"), st.integers(0, 3), words),
    st.tuples(st.just("copy"), anywhere, picks, stored),
    st.tuples(st.just("move"), anywhere, picks, stored),
    st.tuples(st.just("flag"), anywhere, picks, st.sampled_from(("ADD", "REMOVE", "REPLACE")), words),
    st.tuples(st.just("read"), st.sampled_from(("INBOX", "Unread")), picks),
    st.tuples(st.just("expunge"), anywhere),
    st.tuples(st.just("move"), st.sampled_from(("INBOX", "Action", "All")), picks, st.just("Trash")),
    st.tuples(st.just("label"), st.integers(0, 30), st.booleans()),
    st.tuples(st.just("label"), st.integers(0, 3), st.just(True)),
    st.tuples(st.just("select"), st.sampled_from("AB")),
    st.tuples(st.just("leave"), st.sampled_from("AB")),
    st.tuples(st.just("wait"), st.sampled_from((10, 31))),
    st.tuples(st.just("claim"), anywhere),
    st.tuples(st.just("look"), anywhere),
    st.tuples(st.just("mark")),
    st.tuples(st.just("flag_unchanged"), st.sampled_from(("INBOX", "All", "Unread")), picks, words),
    st.tuples(st.just("settle")),
)


@dataclass
class Follower:
    """Knows one mailbox only by its log."""

    name: str
    modseq: int = 1
    flags: dict[int, frozenset[str]] = field(default_factory=dict)
    highest_uid: int = 0

    def catch_up(self, desk: Desk) -> None:
        box = desk.box(self.name)
        delta = desk.read(lambda tx: changes.since(tx, box, ModSeq(self.modseq)))
        assert delta.complete
        every = [*delta.gone, *delta.arrived, *delta.changed]
        assert len(every) == len(set(every)), f"{self.name}: told twice"
        for uid in delta.gone:
            del self.flags[uid]  # told of something it never heard of: KeyError
        for uid in delta.arrived:
            assert uid > self.highest_uid, f"{self.name}: UID {uid} was given before"
            self.highest_uid = uid
        assert set(delta.changed) <= self.flags.keys()
        for uid in (*delta.arrived, *delta.changed):
            self.flags[uid] = frozenset(desk.flags(self.name, uid))
        self.modseq = delta.highest


class History:
    """One history, played on both sides."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.model = Model()
        self.marks: dict[str, tuple[int, int]] = {}
        self.followers = {name: Follower(name) for name in BOXES}

    async def play(self, step: tuple[Any, ...]) -> None:
        self.model.step += 1
        await getattr(self, step[0])(*step[1:])
        self.compare()
        for name in BOXES[self.model.step % 3 :: 3]:  # now and then, so that several changes come together
            await self.compare_lasting(name)

    def uids(self, name: str, picked: list[int]) -> list[int]:
        there = list(self.model.boxes[name].places)
        return sorted({there[pick % len(there)] for pick in picked}) if there else []

    async def append(self, box: str, content: int, flagged: set[str]) -> None:
        uid = self.model.append(box, content, flagged)
        appended = await self.desk.append(box, mail(f"content {content}"), *flagged)
        assert appended.uid == uid

    async def copy(self, source: str, picked: list[int], target: str) -> None:
        uids = self.uids(source, picked)
        copied = await self.desk.copy(source, [*uids, 9999], target)
        assert (copied.source_uids, copied.target_uids) == (uids, self.model.copy(source, uids, target))

    async def move(self, source: str, picked: list[int], target: str) -> None:
        uids = self.uids(source, picked)
        moved = await self.desk.move(source, [*uids, 9999], target)
        assert (moved.source_uids, moved.target_uids) == (uids, self.model.move(source, uids, target))

    async def flag(self, source: str, picked: list[int], op: str, flagged: set[str]) -> None:
        uids = self.uids(source, picked)
        self.model.flag(source, uids, op, flagged)
        await self.desk.flag(source, uids, *flagged, op=FlagOp[op])

    async def read(self, source: str, picked: list[int]) -> None:
        await self.flag(source, picked, "ADD", {"\\Seen"})

    async def expunge(self, source: str) -> None:
        assert await self.desk.expunge(source) == self.model.expunge(source)

    async def label(self, pick: int, on: bool) -> None:
        if self.model.messages:
            message = self.model.messages[pick % len(self.model.messages)]
            email = self.email(message)
            self.model.label(message, on)
            await self.desk.write(lambda tx: labels.set_label(tx, email, "open", on))

    async def select(self, session: str) -> None:
        self.model.select_unread(session)
        await self.desk.select("Unread", session)

    async def leave(self, session: str) -> None:
        self.model.leave_unread(session)
        await self.desk.leave("Unread", session)

    async def wait(self, minutes: int) -> None:
        self.model.minute += minutes
        self.model.settle()
        self.desk.clock.pass_minutes(minutes)
        await self.desk.store.sweep_overdue()

    async def claim(self, name: str) -> None:
        """A session takes what is \\Recent."""
        box = self.model.boxes[name]
        there = self.desk.box(name)
        claimed = await self.desk.write(lambda tx: flags.claim_recent(tx, there))
        recent = [uid for uid in box.places if uid >= box.recent_from]
        assert (claimed is not None) == bool(recent)
        assert claimed is None or all(claimed[0] <= uid <= claimed[1] for uid in recent)
        box.recent_from = box.uidnext

    async def look(self, name: str) -> None:
        self.followers[name].catch_up(self.desk)

    async def mark(self) -> None:
        """What a client sees last before it stores on a condition."""
        for name in BOXES:
            self.marks[name] = (self.model.step, self.desk.store.snapshot(self.desk.box(name).id).highest_modseq)

    async def flag_unchanged(self, source: str, picked: list[int], flagged: set[str]) -> None:
        """STORE (UNCHANGEDSINCE ...) with what the client last saw of the mailbox."""
        step, modseq = self.marks.get(source, (0, 1))
        uids = self.uids(source, picked)
        refused = self.model.changed_since(source, uids, step)
        stored = await self.desk.flag(source, uids, *flagged, unchanged_since=modseq)
        assert stored.modified == refused
        self.model.flag(source, [uid for uid in uids if uid not in refused], "ADD", flagged)

    async def settle(self) -> None:
        await self.desk.store.housekeeping.settle()

    def email(self, message: Message) -> EmailId:
        (uid,) = (uid for uid, place in self.model.boxes[message.box].places.items() if place.message is message)
        return self.desk.email(message.box, uid)

    def compare(self) -> None:
        """The same on both sides: UIDs, flags and counters of every mailbox, in memory and on disk."""
        for name in BOXES:
            box = self.model.boxes[name]
            expected = {
                uid: place.message.flags | ({"\\Deleted"} if place.deleted else set())
                for uid, place in box.places.items()
            }
            rows = self.desk.fetch(name, list(expected))
            assert self.desk.uids(name) == list(expected), name
            assert {row.uid: flag_words(row) for row in rows} == expected, name
            index = self.desk.store.index(self.desk.box(name).id)
            assert [each and each.id for each in index.flag_sets(list(expected))] == [row.flag_key for row in rows]
            assert index.modseqs(list(expected)) == [row.modseq for row in rows]
            self.compare_counters(name)

    async def compare_lasting(self, name: str) -> None:
        """What is kept in memory of what never changes is what the rows say."""
        box = self.desk.box(name)
        found = await self.desk.store.facts(box.id)
        assert found is not None, name
        assert list(found.uids) == self.desk.uids(name), name
        rows = self.desk.fetch(name, list(found.uids), header=True)
        stored = self.desk.read(lambda tx: messages.stored(tx, found, (), header=True))
        wanted = [StoredRow(r.content, r.size, r.header_size, r.internal_date, r.zone, r.header, ()) for r in rows]
        assert list(stored or ()) == wanted, name

    def compare_counters(self, name: str) -> None:
        box, there = self.model.boxes[name], self.desk.box(name)
        status = self.desk.read(lambda tx: mailboxes.status(tx, there))
        places = box.places.values()
        assert (status.messages, status.uidnext) == (len(places), box.uidnext), name
        assert status.unseen == sum("\\Seen" not in place.message.flags for place in places), name
        assert status.deleted == sum(place.deleted for place in places), name
        assert status.recent == sum(uid >= box.recent_from for uid in box.places), name

    def finish(self) -> None:
        for name, follower in self.followers.items():
            follower.catch_up(self.desk)
            assert list(follower.flags) == self.desk.uids(name), name
            for uid, believed in follower.flags.items():
                assert believed == self.desk.flags(name, uid), f"{name} {uid}"


def flag_words(row: Any) -> set[str]:
    names = {"\\Seen": 1, "\\Answered": 2, "\\Flagged": 4, "\\Draft": 8, "\\Deleted": 16}
    return {word for word, bit in names.items() if row.flags_bits & bit} | set(row.keywords)


async def play(
    history_steps: list[tuple[Any, ...]], folder: Path, sabotage: Callable[[Store], None] = lambda store: None
) -> None:
    clock = Clock()
    store = await open_store(folder, clock)
    try:
        sabotage(store)
        desk = await make_desk(store, clock)
        await store.write(lambda tx: mailboxes.create(tx, desk.account.id, "Work"))
        history = History(desk)
        for step in history_steps:
            await history.play(step)
        history.finish()
        assert await store.check() == []
    finally:
        await store.close()


@settings(max_examples=1500 if NIGHTLY else 100)
@given(st.lists(steps, min_size=1, max_size=25))
def test_every_history_ends_as_the_reference_says(history_steps: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(history_steps, Path(folder)))
