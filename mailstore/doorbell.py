"""The doorbell: who is to be woken when a mailbox has changed.

The rule: it carries no data and is rung in the loop, after the commit; whoever hears it reads the log.
"""

from collections.abc import Callable, Iterable

from mailstore.model import MailboxId


class Doorbell:
    """Callbacks by mailbox. A callback must return at once; it is called once for each commit that concerns it."""

    def __init__(self) -> None:
        self._callbacks: dict[MailboxId, dict[object, Callable[[], None]]] = {}

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

    def ring(self, mailboxes: Iterable[MailboxId]) -> None:
        """Wake the listeners of these mailboxes. Only the store calls this."""
        for mailbox in mailboxes:
            for callback in list(self._callbacks.get(mailbox, {}).values()):
                callback()
