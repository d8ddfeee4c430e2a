"""Labels: names that other parts of the program put on messages; no client sees or sets them.

The rule: the label "open" is what puts a message into Action, in the same transaction.
"""

from mailstore import views
from mailstore.copies import living
from mailstore.model import ACTION_LABEL, AccountId, EmailId
from mailstore.placing import next_modseq
from mailstore.transaction import ReadTx, WriteTx


def set_label(tx: WriteTx, email: EmailId, label: str, on: bool) -> None:
    """Put a label on a message or take it off. A message that is gone is represented by its copies: the newest gets the
    label, all lose it."""
    standing = living(tx, email)
    for each in standing[:1] if on else standing:
        if tx.run(f"mailstore.labels.{'add' if on else 'remove'}", email=each, name=label) and label == ACTION_LABEL:
            _open(tx, each, on)


def has(tx: ReadTx, email: EmailId, label: str) -> bool:
    """Whether the message, or one that stands for it, carries the label."""
    return any(tx.value("mailstore.labels.has", email=each, name=label) for each in living(tx, email))


def of(tx: ReadTx, email: EmailId) -> list[str]:
    """The labels of a message."""
    return [row["name"] for row in tx.all("mailstore.labels.of", email=email)]


def _open(tx: WriteTx, email: EmailId, on: bool) -> None:
    account = AccountId(tx.value("mailstore.labels.account", email=email))
    tx.run("mailstore.labels.open", email=email, open=int(on))
    views.refresh(tx, account, [email], next_modseq(tx, account))
