"""Which of the messages that go somewhere concern the runtime at all.

The rule: thousands may go at once, and hardly any of them has to do with a run, a request, a trigger or a note; so the
runtime is asked once for all of them, and only for those it knows is anything further looked up.
"""

from agents import lookup
from bridge.post.ports import ref
from mailstore.events import Gone, Mail, Restored, Trashed
from mailstore.sqlite import ReadTx


def concerned(tx: ReadTx, event: Trashed | Restored | Gone, *, runs: bool = False) -> list[Mail]:
    """The messages that are mails of ours or copies of them, and perhaps others; with `runs` also what an unfinished
    run was begun or fed with, its copies, and what else is of a thread that the runtime knows."""
    account, mails = event.account, event.mails
    message_ids = [mail.message_id for mail in mails if mail.message_id is not None]
    refs = lookup.known_refs(tx, account, (ref(mail.email) for mail in mails))
    ids = lookup.known_ids(tx, account, message_ids)
    threads: set[str] = set()
    if runs:
        ids |= lookup.known_letters(tx, account, message_ids)
        threads = lookup.known_threads(tx, account, {str(mail.thread) for mail in mails})
    if not refs and not ids and not threads:
        return []
    return [mail for mail in mails if ref(mail.email) in refs or mail.message_id in ids or str(mail.thread) in threads]
