"""Notes that programs keep with an account or a mailbox: bytes under a name.

The rule: the store gives them no meaning; they go with what they are about.
"""

from collections.abc import Mapping

from mailstore.errors import QuotaOver
from mailstore.events import Touched
from mailstore.lookup import get
from mailstore.model import AccountId, Mailbox
from mailstore.placing import count, next_modseq, note
from mailstore.shifts import Flagged
from mailstore.transaction import ReadTx, WriteTx

MOST = 200  # entries of one thing


def of(tx: ReadTx, account: AccountId, mailbox: Mailbox | None) -> dict[str, bytes]:
    """The entries of a mailbox, or, without one, of the account, by name."""
    rows = tx.all("mailstore.annotations.of", **_target(account, mailbox))
    return {row["entry"]: row["value"] for row in rows}


def put(tx: WriteTx, account: AccountId, mailbox: Mailbox | None, entries: Mapping[str, bytes | None]) -> None:
    """Set entries, or remove those that are None. Raises NoSuchMailbox, and QuotaOver for more than there may be.

    That is a change of the mailbox with a modseq of its own (RFC 7162 section 3.2).
    """
    if mailbox is not None:
        get(tx, mailbox.id)
    target = _target(account, mailbox)
    for entry, value in entries.items():
        if value is None:
            tx.run("mailstore.annotations.drop", entry=entry, **target)
        else:
            tx.run("mailstore.annotations.put", entry=entry, value=value, **target)
    if len(of(tx, account, mailbox)) > MOST:
        raise QuotaOver(f"more than {MOST} annotations of one mailbox are not possible")
    if mailbox is None:
        tx.emit(Touched(frozenset()))
        return
    modseq = next_modseq(tx, account)
    count(tx, mailbox.id, modseq)
    note(tx, Flagged(mailbox.id, modseq, (), 0, 0))


def _target(account: AccountId, mailbox: Mailbox | None) -> dict[str, int | str]:
    if mailbox is None:
        return {"account": account, "kind": "server", "target": 0}
    return {"account": account, "kind": "mailbox", "target": mailbox.id}
