"""Who has which mailbox selected: what Unread needs to know before it lets go what was read (DECISIONS 8).

The rule: written in the loop, read by the writer too; each entry is the modseq at which the session selected the
mailbox, so "since before it was read" is a comparison of two numbers of one counter.
"""

from collections.abc import Awaitable, Callable

from mailstore.model import MailboxId, ModSeq

NOBODY = 1 << 62  # nobody watches: whatever was read may go
Sweep = Callable[[MailboxId], Awaitable[None]]


class Sessions:
    """Sessions by mailbox. `sweep` and `sweep_later` let go what an Unread view need not keep any more."""

    def __init__(
        self,
        position: Callable[[MailboxId], ModSeq | None],
        sweep: Sweep,
        sweep_later: Callable[[MailboxId], None],
    ) -> None:
        self._position = position
        self._sweep = sweep
        self._sweep_later = sweep_later
        self._open: dict[MailboxId, dict[object, ModSeq]] = {}

    async def opened(self, mailbox: MailboxId, session: object) -> None:
        """A session is about to select a mailbox; await this before its snapshot is read."""
        position = self._position(mailbox)
        if position is None:
            return
        self._open.get(mailbox, {}).pop(session, None)
        await self._sweep(mailbox)
        self._open.setdefault(mailbox, {})[session] = self._position(mailbox) or position

    def closed(self, mailbox: MailboxId, session: object) -> None:
        """A session no longer has a mailbox selected."""
        if self._open.get(mailbox, {}).pop(session, None) is not None:
            if not self._open[mailbox]:
                del self._open[mailbox]
            self._sweep_later(mailbox)

    def watched(self, mailbox: MailboxId) -> int:
        """What was read at or before this modseq has been watched by no session that is still there."""
        return min(list(self._open.get(mailbox, {}).values()), default=NOBODY)
