"""What the mailboxes should hold, in the plainest terms: messages in boxes, and views worked out from them.

It shares nothing with the store: no log, no modseq, no SQL. Views are compared as bags, stored mailboxes as lists.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

STORED = ("INBOX", "Work", "Archive", "Trash")
VIEWS = ("Action", "Unread", "All")
FEEDS_UNREAD = frozenset({"INBOX", "Work"})
FEEDS_OTHERS = frozenset({"INBOX", "Work", "Archive"})
DELETED = "\\Deleted"
SEEN = "\\Seen"


@dataclass(eq=False)
class Mail:
    """One message. `watchers` are the openings of Unread that began before it was read."""

    subject: str
    flags: set[str]
    box: str
    order: int
    open: bool = False
    deleted_in: set[str] = field(default_factory=set)
    watchers: set[object] = field(default_factory=set)


class Reference:
    """The mailboxes of one account."""

    def __init__(self) -> None:
        self.mails: list[Mail] = []
        self.watching: set[object] = set()  # openings of Unread
        self._order = 0

    # What is where

    def held(self, box: str) -> list[Mail]:
        """The messages of a mailbox or view, in the order of a stored mailbox."""
        if box == "All":
            found = [mail for mail in self.mails if mail.box in FEEDS_OTHERS]
        elif box == "Action":
            found = [mail for mail in self.mails if mail.open and mail.box in FEEDS_OTHERS]
        elif box == "Unread":
            found = [m for m in self.mails if m.box in FEEDS_UNREAD and (SEEN not in m.flags or m.watchers)]
        else:
            found = [mail for mail in self.mails if mail.box == box]
        return sorted(found, key=lambda mail: mail.order)

    def shown(self, box: str) -> list[tuple[str, frozenset[str]]]:
        """Subject and flags as a client of that mailbox sees them."""
        return [(m.subject, frozenset(m.flags | ({DELETED} if box in m.deleted_in else set()))) for m in self.held(box)]

    def differs(self, box: str, truth: list[tuple[str, frozenset[str]]]) -> bool:
        mine = self.shown(box)
        return mine != truth if box in STORED else Counter(mine) != Counter(truth)

    # What is done

    def append(self, box: str, subject: str, flags: Iterable[str] = (), *, open: bool = False) -> Mail:
        mail = Mail(subject, set(flags) - {DELETED}, box, self._next(), open)
        if DELETED in flags:
            mail.deleted_in.add(box)
        self.mails.append(mail)
        return mail

    def copy(self, source: str, mails: Iterable[Mail], target: str) -> None:
        for mail in list(mails):
            deleted = {DELETED} if source in STORED and source in mail.deleted_in else set()
            self.append(target, mail.subject, mail.flags | deleted)

    def move(self, source: str, mails: Iterable[Mail], target: str) -> None:
        for mail in list(mails):
            deleted = source in STORED and source in mail.deleted_in
            before = self._views(mail)
            if source == "Unread":
                mail.watchers = set()  # it leaves the view it was moved out of, and nothing read comes back
            mail.box, mail.order = target, self._next()
            mail.deleted_in -= {*STORED, source}
            if deleted:
                mail.deleted_in.add(target)
            self._settle(mail, before)

    def expunge(self, box: str, mails: Iterable[Mail]) -> None:
        """What is \\Deleted among the messages goes: out of a view into Trash, else for good."""
        going = [mail for mail in mails if box in mail.deleted_in]
        if box in VIEWS:
            self.move(box, going, "Trash")
        else:
            self.destroy(going)

    def destroy(self, going: list[Mail]) -> None:
        """An open message that had copies outside Trash leaves its being open to the newest of them."""
        self.mails = [mail for mail in self.mails if mail not in going]
        for mail in going:
            heirs = [other for other in self.mails if other.subject == mail.subject and other.box != "Trash"]
            if mail.open and heirs:
                self.label(max(heirs, key=self.mails.index), True)

    def store(self, box: str, mails: Iterable[Mail], change: str, flags: Iterable[str]) -> None:
        given = set(flags)
        for mail in list(mails):
            before = self._views(mail)
            was_seen = SEEN in mail.flags
            shared = given - {DELETED}
            if change == "+":
                mail.flags |= shared
            elif change == "-":
                mail.flags -= shared
            else:
                mail.flags = shared
            self._mark(box, mail, change, DELETED in given)
            if SEEN not in mail.flags:
                mail.watchers = set()
            elif not was_seen and "Unread" in before:
                mail.watchers = set(self.watching)
            self._settle(mail, before)

    def _mark(self, box: str, mail: Mail, change: str, deleted: bool) -> None:
        if change == "" and not deleted:
            mail.deleted_in.discard(box)
        elif deleted:
            mail.deleted_in.discard(box) if change == "-" else mail.deleted_in.add(box)

    def label(self, mail: Mail, open: bool) -> None:
        before = self._views(mail)
        mail.open = open
        self._settle(mail, before)

    def watch(self, opening: object) -> None:
        """Unread is being opened: what nobody else has been watching since it was read has gone by then."""
        self.watching.add(opening)

    def leave(self, opening: object) -> None:
        self.watching.discard(opening)
        for mail in self.mails:
            before = self._views(mail)
            mail.watchers.discard(opening)
            self._settle(mail, before)

    # Inside

    def _views(self, mail: Mail) -> set[str]:
        return {view for view in VIEWS if mail in self.held(view)}

    def _settle(self, mail: Mail, before: set[str]) -> None:
        """A mark in a view goes with the place in the view."""
        now = self._views(mail)
        if "Unread" not in now:
            mail.watchers = set()
        mail.deleted_in -= before - now

    def _next(self) -> int:
        self._order += 1
        return self._order
