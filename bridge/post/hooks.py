"""Mail hooks: who may send to `hook+name.token@`, and what such a mail sets off.

The rule: a wrong token and a wrong name are refused alike, in the same time, before the mail is sent; what is accepted
sets off one run for its Message-ID, is untrusted, and never comes from the program itself.
"""

import hashlib
from typing import Final

from agents import trigger
from agents.runtime import Runtime
from agents.trigger import Trigger
from agents.trigger_event import Delivery
from bridge.post.incoming import Incoming
from bridge.post.material import material
from bridge.post.ports import ref
from bridge.post.route import ToHook
from bridge.submissions import Accepted, Refused
from mailstore.model import AccountId, EmailInfo
from mailstore.parse import Message
from mailstore.sqlite import ReadTx, WriteTx
from mailstore.store import Store

KIND: Final = "hook"
MARK: Final = "hook:"
"""How a hook stands among the recipients of an arrival: by its trigger, without the token. No address has a colon."""

_UNKNOWN: Final = Refused(550, "5.1.1", "There is no such hook of yours: its name or its token is another.")
_REST: Final = {
    "off": Refused(450, "4.2.1", "This hook is paused; try again later."),
    "often": Refused(450, "4.7.1", "This hook was set off too often in this hour; try again later."),
    "full": Refused(452, "4.5.3", "Too much waits for this hook; try again later."),
}
_ECHO: Final = "passed over, as it was our own mail"
_TWICE: Final = "passed over, as its Message-ID came before with another text"
_LEFT: Final = (
    "Left out: your mail came to this hook when it was {why}. The mail is kept here; no task was begun for it."
)
_WHY: Final = {"off": "paused", "often": "set off too often in an hour", "full": "too far behind with others"}


class Hooks:
    """The door of the mail hooks, for whoever takes mail in. Made once."""

    def __init__(self, store: Store, runtime: Runtime) -> None:
        self._store = store
        self._runtime = runtime

    def recipient(self, account: int, to: ToHook) -> Accepted | Refused:
        """Whether this hook takes a mail of this account now. Only who knows the token hears of its state."""
        return self._store.read(lambda tx: self._recipient(tx, account, to))

    def _recipient(self, tx: ReadTx, account: int, to: ToHook) -> Accepted | Refused:
        item = self._open(tx, account, to)
        if item is None:
            return _UNKNOWN
        refusal = self._runtime.automations.refusal(tx, item)
        return _REST[refusal] if refusal is not None else Accepted()

    def known(self, account: int, to: ToHook) -> Trigger | None:
        """The trigger that name and token open, whatever its state."""
        return self._store.read(lambda tx: self._open(tx, account, to))

    def _open(self, tx: ReadTx, account: int, to: ToHook) -> Trigger | None:
        return self._runtime.automations.open_by(tx, account, KIND, to.name, to.token).trigger


def set_off(
    tx: WriteTx, runtime: Runtime, account: AccountId, ident: str, info: EmailInfo, mail: Incoming
) -> str | None:
    """A mail that was accepted for a hook. Returns what its owner has to be told, if it began nothing."""
    item = trigger.find(tx, ident)
    if item is None or item.account != account or item.kind != KIND:
        return None  # deleted since: its owner knows
    if is_echo(tx, runtime, account, mail.message):
        runtime.automations.note(tx, item, _ECHO)
        return None
    delivery = Delivery(
        key=info.message_id or hashlib.sha256(mail.raw).hexdigest(),
        digest=hashlib.sha256(mail.raw.partition(b"\r\n\r\n")[2].rstrip()).hexdigest(),
        source=f'mail to hook "{item.name}"',
        text=material(mail.email, mail.message, mail.raw),
        message=ref(mail.email),
        message_id=info.message_id,
        attachments=mail.attachments,
    )
    taken = runtime.automations.deliver(tx, item, delivery)
    if taken.outcome == "other":
        runtime.automations.note(tx, item, _TWICE)
    return _LEFT.format(why=_WHY[taken.outcome]) if taken.outcome in _WHY else None


def is_echo(tx: ReadTx, runtime: Runtime, account: int, message: Message) -> bool:
    """Mail that the program wrote, come back to it: obeying it could go round for ever."""
    own = message.message_id is not None and runtime.is_own(tx, account, message.message_id)
    return own or bool(message.headers.get("postroom-run"))
