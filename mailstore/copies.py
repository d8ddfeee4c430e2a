"""Which messages stand for one another: a message, its copies, and what took its place.

The rule: whoever kept a message's id can go on using it after the user filed the message by COPY and EXPUNGE (as
clients without MOVE do), or after a client's Sent copy took the place of ours.
"""

from mailstore.model import EmailId
from mailstore.transaction import ReadTx


def living(tx: ReadTx, email: EmailId) -> list[EmailId]:
    """The message if it still exists, else the copies that stand for it, newest first."""
    found = [EmailId(row["id"]) for row in tx.all("mailstore.labels.living", email=email)]
    return [email] if email in found else found
