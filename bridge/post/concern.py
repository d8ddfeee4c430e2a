"""Which of the messages that go somewhere concern the runtime at all.

The rule: thousands may go at once, and hardly any of them has to do with a run, a request, a trigger or a note; so the
runtime is asked once for all of them, and only for those it knows is anything further looked up.
"""

from agents import lookup
from bridge.post.ports import ref
from mailstore.events import Gone, Mail, Restored, Trashed
from mailstore.sqlite import ReadTx


def concerned(tx: ReadTx, event: Trashed | Restored | Gone, *, threads: bool = False) -> list[Mail]:
    """The messages that are, or are copies of, mails of ours or what began a run; with `threads` also those of threads
    that the runtime knows."""
    account, mails = event.account, event.mails
    refs = lookup.known_refs(tx, account, (ref(mail.email) for mail in mails))
    ids = lookup.known_ids(tx, account, (mail.message_id for mail in mails if mail.message_id is not None))
    known = lookup.known_threads(tx, account, {str(mail.thread) for mail in mails}) if threads else set()
    if not refs and not ids and not known:
        return []
    return [mail for mail in mails if ref(mail.email) in refs or mail.message_id in ids or str(mail.thread) in known]
