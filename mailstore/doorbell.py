"""The doorbell: who is to be woken when a mailbox has changed.

The rule: it carries no data and is rung in the loop, after the commit; whoever hears it reads the log.
"""

from collections.abc import Callable, Iterable

from mailstore.model import MailboxId


class Doorbell:
    """Callbacks by mailbox. A callback must return at once; it is called once for each commit that concerns it."""

    def __init__(self) -> None:
        self._callbacks: dict[MailboxId, dict[object, Callable[[], None]]] = {}
        self._everywhere: dict[object, Callable[[frozenset[MailboxId]], None]] = {}

    def subscribe(self, mailbox: MailboxId, callback: Callable[[], None]) -> Callable[[], None]:
        """Be woken by changes of a mailbox; call what is returned to stop (more than once does no harm)."""
        key = object()
        self._callbacks.setdefault(mailbox, {})[key] = callback

        def unsubscribe() -> None:
            listeners = self._callbacks.get(mailbox, {})
            listeners.pop(key, None)
            if not listeners:
                self._callbacks.pop(mailbox, None)

        return unsubscribe

    def subscribe_everywhere(self, callback: Callable[[frozenset[MailboxId]], None]) -> Callable[[], None]:
        """Be woken by every change, also of names, subscriptions and notes; of which mailboxes (of any account) is
        given, and none when it concerns no mailbox that is there. Call what is returned to stop."""
        key = object()
        self._everywhere[key] = callback

        def unsubscribe() -> None:
            self._everywhere.pop(key, None)

        return unsubscribe

    def listens(self, mailbox: MailboxId) -> bool:
        """Whether somebody is woken by changes of this mailbox (other than by every change)."""
        return mailbox in self._callbacks

    def ring(self, mailboxes: Iterable[MailboxId]) -> None:
        """Wake the listeners of these mailboxes. Only the store calls this."""
        mailboxes = frozenset(mailboxes)
        for heard in list(self._everywhere.values()):
            heard(mailboxes)
        for mailbox in mailboxes:
            for callback in list(self._callbacks.get(mailbox, {}).values()):
                callback()
