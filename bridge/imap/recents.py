"""Who is told that a message is \\Recent: the first read-write session that hears of it, and no other (RFC 3501 2.3.2).

Rule: the store remembers up to where messages were claimed, this table is merely ahead of it: news is told in the loop,
where nothing can be written, and the store is told behind it. After a crash a message may be \\Recent once more.
"""

from mailstore.model import MailboxId


class Recents:
    """The highest UID claimed in each mailbox since the start."""

    __slots__ = ("_claimed",)

    def __init__(self) -> None:
        self._claimed: dict[MailboxId, int] = {}

    def claimed(self, mailbox: MailboxId) -> int:
        """The highest UID that a session has claimed; 0 for none."""
        return self._claimed.get(mailbox, 0)

    def take(self, mailbox: MailboxId, first: int, last: int) -> tuple[int, int] | None:
        """Claim what is unclaimed of the UIDs first..last."""
        unclaimed = self.unclaimed(mailbox, first, last)
        if unclaimed is not None:
            self._claimed[mailbox] = last
        return unclaimed

    def unclaimed(self, mailbox: MailboxId, first: int, last: int) -> tuple[int, int] | None:
        """What of the UIDs first..last nobody has claimed; a read-only session sees them so and leaves them so."""
        first = max(first, self.claimed(mailbox) + 1)
        return (first, last) if first <= last else None
