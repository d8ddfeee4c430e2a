"""A plain reference of what a mailbox user may expect (DECISIONS 4, 8, 9, 10): dictionaries, no database, no log.

It shares no code with the store. Messages are numbered in the order they are made, as in the store.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

STORED = ("INBOX", "Work", "Archive", "Trash", "Junk", "Drafts", "Activity")
VIEWS = ("Action", "Unread", "All")
LINGER_MINUTES = 30


@dataclass(eq=False)
class Message:
    number: int
    content: int
    flags: set[str]
    box: str
    open: bool = False
    read_at: int = 0  # the step in which it was last marked seen
    read_minute: float = 0.0
    changed: int = 0  # the step in which its flags last changed


@dataclass
class Place:
    message: Message
    deleted: bool = False
    changed: int = 0  # the step in which it came here, or its \\Deleted last changed


@dataclass
class Box:
    uidnext: int = 1
    recent_from: int = 1
    places: dict[int, Place] = field(default_factory=dict)

    def put(self, message: Message, step: int, deleted: bool = False) -> int:
        uid = self.uidnext
        self.places[uid] = Place(message, deleted, step)
        self.uidnext += 1
        return uid

    def drop(self, message: Message) -> None:
        for uid in [uid for uid, place in self.places.items() if place.message is message]:
            del self.places[uid]

    def holds(self, message: Message) -> bool:
        return any(place.message is message for place in self.places.values())


class Model:
    """Each method is one command of one client; `settle` then puts the views right."""

    def __init__(self) -> None:
        self.boxes = {name: Box() for name in (*STORED, *VIEWS)}
        self.messages: list[Message] = []
        self.made = 0
        self.step = 0
        self.minute = 0.0
        self.watching: dict[object, int] = {}

    def append(self, box: str, content: int, words: Iterable[str]) -> int:
        words = set(words)
        message = self._make(content, words - {"\\Deleted"}, box)
        uid = self.boxes[box].put(message, self.step, "\\Deleted" in words)
        self.settle()
        return uid

    def copy(self, source: str, uids: Iterable[int], target: str) -> list[int]:
        made = []
        for place in self._places(source, uids):
            message = self._make(place.message.content, set(place.message.flags), target)
            made.append(self.boxes[target].put(message, self.step, place.deleted and source in STORED))
        self.settle()
        return made

    def move(self, source: str, uids: Iterable[int], target: str) -> list[int]:
        moved = self._places(source, uids)
        for place in moved:
            self.boxes[source].drop(place.message)
            self.boxes[place.message.box].drop(place.message)
        made = []
        for place in moved:
            place.message.box = target
            made.append(self.boxes[target].put(place.message, self.step, place.deleted and source in STORED))
        self.settle()
        return made

    def flag(self, source: str, uids: Iterable[int], op: str, words: set[str]) -> None:
        for place in self._places(source, uids):
            before, deleted = set(place.message.flags), place.deleted
            shared = words - {"\\Deleted"}
            if op == "ADD":
                place.message.flags |= shared
                place.deleted = place.deleted or "\\Deleted" in words
            elif op == "REMOVE":
                place.message.flags -= shared
                place.deleted = place.deleted and "\\Deleted" not in words
            else:
                place.message.flags = set(shared)
                place.deleted = "\\Deleted" in words
            if place.message.flags != before:
                place.message.changed = self.step
            if place.deleted != deleted:
                place.changed = self.step
            if "\\Seen" in place.message.flags - before:
                place.message.read_at, place.message.read_minute = self.step, self.minute
        self.settle()

    def changed_since(self, source: str, uids: Iterable[int], step: int) -> list[int]:
        """Those of the UIDs that have changed after a step: not to be touched by a conditional STORE."""
        places = self.boxes[source].places
        return [uid for uid in uids if max(places[uid].changed, places[uid].message.changed) > step]

    def expunge(self, source: str) -> list[int]:
        uids = [uid for uid, place in self.boxes[source].places.items() if place.deleted]
        if source in VIEWS:
            self.move(source, uids, "Trash")
            return uids
        going = [place.message for place in self._places(source, uids)]
        for message in going:
            self._hand_label_on(message, going)
        for message in going:
            self.messages.remove(message)
            for box in self.boxes.values():
                box.drop(message)
        self.settle()
        return uids

    def label(self, message: Message, on: bool) -> None:
        message.open = on
        self.settle()

    def select_unread(self, session: object) -> None:
        self.watching.pop(session, None)
        self.settle()
        self.watching[session] = self.step

    def leave_unread(self, session: object) -> None:
        self.watching.pop(session, None)
        self.settle()

    def settle(self) -> None:
        """Put every view right: out with what does not belong, in with what does, oldest first."""
        for view in VIEWS:
            box = self.boxes[view]
            for message in [place.message for place in box.places.values()]:
                if not self.belongs(message, view) and not (view == "Unread" and self.lingers(message)):
                    box.drop(message)
            for message in self.messages:
                if self.belongs(message, view) and not box.holds(message):
                    box.put(message, self.step)

    def belongs(self, message: Message, view: str) -> bool:
        if view == "Action":
            return message.open and message.box != "Trash"
        if view == "Unread":
            return message.box in ("INBOX", "Work") and "\\Seen" not in message.flags
        return message.box in ("INBOX", "Work", "Archive")

    def lingers(self, message: Message) -> bool:
        watched = any(since < message.read_at for since in self.watching.values())
        fresh = self.minute - message.read_minute < LINGER_MINUTES
        return message.box in ("INBOX", "Work") and watched and fresh

    def _make(self, content: int, flags: set[str], box: str) -> Message:
        self.made += 1
        message = Message(self.made, content, flags, box)
        self.messages.append(message)
        return message

    def _places(self, source: str, uids: Iterable[int]) -> list[Place]:
        places = self.boxes[source].places
        return [places[uid] for uid in sorted(set(uids)) if uid in places]

    def _hand_label_on(self, message: Message, going: list[Message]) -> None:
        """A request filed by COPY and EXPUNGE stays open in its newest copy outside Trash."""
        heirs = [
            other
            for other in self.messages
            if other.content == message.content and other not in going and other.box != "Trash"
        ]
        if message.open and heirs:
            heirs[-1].open = True
