"""Threads: to which conversation a message belongs, and the other names (aliases) a conversation has.

The rule: a thread is looked for in one account only, by In-Reply-To, then References from the last to the first, then
Thread-Index, then the short code in a subject or Thread-Topic; never by a subject's text. A foreign reference finds
nothing.
"""

import re
from collections.abc import Mapping

from mailstore.errors import StoreError
from mailstore.model import AccountId, EmailId, ThreadId, ThreadKeys
from mailstore.parse import Head
from mailstore.transaction import ReadTx, WriteTx

_NONE: Mapping[str, ThreadId] = {}
_CODE = re.compile(r"\[([A-Za-z]-[0-9A-Za-z]{4,8})\]")
MAX_SUBJECT = 1000
_INDEX_BYTES = 22  # of a Thread-Index: the part all messages of a conversation share


def keys_of(head: Head) -> ThreadKeys:
    """The thread keys of a message, by its header."""
    return ThreadKeys(head.in_reply_to, head.references, head.thread_index, _code(head.subject) or _code(head.topic))


def _code(text: str) -> str | None:
    """The last short code in brackets, as in `Re: Approve? Send mail [A-7F3K]`."""
    found: list[str] = _CODE.findall(text[-MAX_SUBJECT:])
    return found[-1] if found else None


def find(tx: ReadTx, account: AccountId, keys: ThreadKeys, coming: Mapping[str, ThreadId] = _NONE) -> ThreadId | None:
    """The thread that the first key to be known names. `coming`: those of messages that are about to be stored, by
    their Message-IDs."""
    for message_id in (*keys.in_reply_to, *reversed(keys.references)):
        thread = coming.get(message_id)
        if thread is None:
            thread = tx.value("mailstore.threads.by-message-id", account=account, message_id=message_id)
        if thread is not None:
            return ThreadId(thread)
    for alias_name in (index_alias(keys.thread_index), code_alias(keys.code)):
        if alias_name is not None and (found := by_alias(tx, account, alias_name)) is not None:
            return found
    return None


def new(tx: WriteTx, account: AccountId) -> ThreadId:
    """A thread with nothing in it yet."""
    return ThreadId(tx.insert("mailstore.threads.new", account=account))


def ensure(tx: WriteTx, account: AccountId, thread: ThreadId) -> None:
    """See that a thread exists, also when its last message was destroyed meanwhile. Raises StoreError for another's."""
    tx.run("mailstore.threads.ensure", account=account, thread=thread)
    if tx.value("mailstore.threads.account", thread=thread) != account:
        raise StoreError("the thread belongs to another account")


def alias(tx: WriteTx, account: AccountId, thread: ThreadId, alias: str) -> None:
    """Let a thread be found by this name too; a name already taken stays with its first thread."""
    tx.run("mailstore.threads.alias", account=account, thread=thread, alias=alias)


def by_alias(tx: ReadTx, account: AccountId, alias: str) -> ThreadId | None:
    """The thread known by this name in the account."""
    thread = tx.value("mailstore.threads.by-alias", account=account, alias=alias)
    return None if thread is None else ThreadId(thread)


def code_alias(code: str | None) -> str | None:
    """The alias under which a subject's short code is kept; make it with `alias(..., code_alias("A-7F3K"))`."""
    return None if code is None else f"code:{code.upper()}"


def index_alias(thread_index: bytes | None) -> str | None:
    """The alias under which a Thread-Index is kept: its first 22 bytes. None for one that is too short."""
    if thread_index is None or len(thread_index) < _INDEX_BYTES:
        return None
    return f"index:{thread_index[:_INDEX_BYTES].hex()}"


def messages(tx: ReadTx, thread: ThreadId) -> list[EmailId]:
    """The messages of a thread, in all mailboxes, oldest first."""
    return [EmailId(row["id"]) for row in tx.all("mailstore.threads.messages", thread=thread)]
