"""What the world of mail asks about a stored mail: is it a request, did it begin a run, is it the newest of its thread.

The rule: only reading, and only within one account. A `ref` is the mail world's own name of a stored mail.
"""

import json
from collections.abc import Iterable, Sequence

from agents.ports import ReadTx


def is_open(tx: ReadTx, account: int, request: str) -> bool:
    """Whether a request of this account, or one that it is the second approver of, still waits."""
    return tx.value("agents.lookup.is_open", request=request, account=account) is not None


def owner_of(tx: ReadTx, request: str) -> int | None:
    """The account whose request it is: a mail of it may lie in the mailbox of its second approver."""
    found: int | None = tx.value("agents.lookup.owner_of", request=request)
    return found


def mail_refs(tx: ReadTx, request: str) -> list[str]:
    """The stored mails that show a request: its own and the reminder."""
    return [row["ref"] for row in tx.all("agents.lookup.mail_refs", request=request)]


def request_of(tx: ReadTx, account: int, ref: str) -> str | None:
    """The open request that a stored mail shows, by id."""
    found: str | None = tx.value("agents.lookup.request_of", account=account, ref=ref)
    return found


def started_by(tx: ReadTx, account: int, ref: str) -> str | None:
    """The unfinished run that a stored mail began, by id."""
    found: str | None = tx.value("agents.lookup.started_by", account=account, ref=ref)
    return found


def request_of_message(tx: ReadTx, account: int, message_id: str) -> str | None:
    """The open request that a mail of ours with this Message-ID shows, by id."""
    found: str | None = tx.value("agents.lookup.request_of_message", account=account, message_id=message_id)
    return found


def started_by_message(tx: ReadTx, account: int, message_id: str) -> str | None:
    """The unfinished run that a mail with this Message-ID began, by id."""
    found: str | None = tx.value("agents.lookup.started_by_message", account=account, message_id=message_id)
    return found


def is_active(tx: ReadTx, account: int, thread: str) -> bool:
    """Whether something runs or waits in a thread."""
    return bool(tx.all("agents.runs.active_of_thread", account=account, thread=thread))


def knows_thread(tx: ReadTx, account: int, thread: str) -> bool:
    """Whether anything ever ran in a thread."""
    return tx.value("agents.lookup.knows_thread", account=account, thread=thread) is not None


def known_refs(tx: ReadTx, account: int, refs: Iterable[str]) -> set[str]:
    """Those of these stored mails that anything here may depend on: mails of ours, and what began an unfinished run."""
    return {row[0] for row in tx.all("agents.lookup.known_refs", account=account, refs=json.dumps(list(refs)))}


def known_ids(tx: ReadTx, account: int, message_ids: Iterable[str]) -> set[str]:
    """Those of these Message-IDs that are of mails of ours."""
    return {row[0] for row in tx.all("agents.lookup.known_ids", account=account, ids=json.dumps(list(message_ids)))}


def known_letters(tx: ReadTx, account: int, message_ids: Iterable[str]) -> set[str]:
    """Those of these Message-IDs that are of letters to unfinished runs."""
    rows = tx.all("agents.lookup.known_letters", account=account, ids=json.dumps(list(message_ids)))
    return {row[0] for row in rows}


def known_threads(tx: ReadTx, account: int, threads: Iterable[str]) -> set[str]:
    """Those of these threads of which anything is kept here."""
    rows = tx.all("agents.lookup.known_threads", account=account, threads=json.dumps(list(threads)))
    return {row[0] for row in rows}


def is_newest(tx: ReadTx, account: int, thread: str, answered: Sequence[str]) -> bool:
    """Whether the newest of our mails in a thread is among those answered (for weak words, DECISIONS 27)."""
    newest = tx.value("agents.lookup.newest", account=account, thread=thread)
    return newest is not None and newest in answered


def open_codes(tx: ReadTx, account: int, thread: str) -> list[str]:
    """The codes of what waits in a thread for a word of this account: its own requests, and those it is the second
    approver of.
    """
    return sorted(row["code"] for row in tx.all("agents.lookup.open_codes", account=account, thread=thread))
