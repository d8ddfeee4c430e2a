"""What all clients together have been told and have done: a message is the same for everyone, and goes only if someone
made it go.

Rule: the ledger knows nothing of the server; what clients heard is held against what others heard and asked for.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

STRICT: Final = ("INBOX", "work")  # here a message leaves only by a client's deed
VIEWS: Final = ("All", "Unread")
Place = tuple[str, int]  # mailbox, uid


class Surprise(AssertionError):
    """Something was said that cannot be, or that contradicts what was said before."""


def need(fact: bool, complaint: str) -> None:
    if not fact:
        raise Surprise(complaint)


@dataclass
class Ledger:
    """Facts by mailbox and UID. What a client is about to do is noted before it says so to the server."""

    subjects: dict[Place, str] = field(default_factory=dict)
    sizes: dict[Place, int] = field(default_factory=dict)
    bodies: dict[str, bytes] = field(default_factory=dict)  # by subject, which no two mails share
    flags: dict[tuple[Place, int], frozenset[str]] = field(default_factory=dict)  # by place and modseq
    condemned: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    replaced: set[Place] = field(default_factory=set)  # someone has replaced all flags: nobody's keyword is sure
    validity: dict[str, int] = field(default_factory=dict)
    made: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    origin: dict[Place, Place] = field(default_factory=dict)  # of copies
    departed: dict[Place, str] = field(default_factory=dict)  # and who was told first
    commands: int = 0
    lines: int = 0
    cuts: int = 0

    def subject(self, place: Place, subject: str) -> None:
        known = self.subjects.setdefault(place, subject)
        need(known == subject, f"{place} was {known} and is {subject}")

    def size(self, place: Place, size: int) -> None:
        known = self.sizes.setdefault(place, size)
        need(known == size, f"{place} had {known} bytes and has {size}")

    def body(self, raw: bytes, subject: str) -> None:
        need(self.bodies.get(subject, raw) == raw, f"{subject} was read as {raw!r}")

    def flags_at(self, place: Place, modseq: int, flags: frozenset[str]) -> None:
        """Whoever hears of one modseq of a message must hear the same flags."""
        known = self.flags.setdefault((place, modseq), flags)
        need(known == flags, f"{place} had {sorted(known)} at modseq {modseq}, and {sorted(flags)}")

    def opened(self, mailbox: str, uidvalidity: int) -> None:
        known = self.validity.setdefault(mailbox, uidvalidity)
        need(known == uidvalidity, f"the UIDVALIDITY of {mailbox} was {known} and is {uidvalidity}")

    def condemn(self, mailbox: str, uids: Iterable[int]) -> None:
        """A client is about to mark these \\Deleted, or to move them."""
        self.condemned[mailbox].update(uids)

    def copied(self, source: Place, target: Place) -> None:
        """A copy is the same message, and it is \\Deleted if that was."""
        if source in self.subjects:
            self.subject(target, self.subjects[source])
        self.origin[target] = source

    def gone(self, mailbox: str, uid: int, told: str) -> None:
        """A client was told that it has left; whether anybody had asked for that is looked at in the end."""
        if mailbox in STRICT:
            self.departed.setdefault((mailbox, uid), told)

    def _fair(self, place: Place) -> bool:
        mailbox, uid = place
        return uid in self.condemned[mailbox] or (place in self.origin and self._fair(self.origin[place]))

    def arrived(self, mailbox: str, uids: Iterable[int]) -> None:
        """A client was told that these are in the mailbox now (APPENDUID, COPYUID)."""
        for uid in uids:
            need(uid not in self.made[mailbox], f"UID {uid} of {mailbox} was given twice")
            self.made[mailbox].add(uid)

    def settled(self, mailbox: str, uids: Iterable[int]) -> None:
        """At the end these are there: everything that was put in and that nobody asked to go."""
        lost = {uid for uid in self.made[mailbox] - set(uids) if not self._fair((mailbox, uid))}
        need(not lost, f"lost from {mailbox}: {sorted(lost)}")
        wrong = {place: told for place, told in self.departed.items() if not self._fair(place)}
        need(not wrong, f"have left though nobody asked for it: {wrong}")
