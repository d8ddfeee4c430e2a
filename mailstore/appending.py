"""Taking a message in.

The rule: an append with a delivery key happens once; a second one with the same key, at any time, returns what the
first did. Nothing is ever put into a view.
"""

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from sqlite3 import Row

from mailstore import content, labels, removal, sent, standing, threads, views
from mailstore import keywords as words
from mailstore.content import Prepared
from mailstore.copies import living
from mailstore.events import Arrived, How, Stale
from mailstore.lookup import receiving, stored
from mailstore.model import (
    DELETED,
    KEY_SHIFT,
    SEEN,
    SHARED,
    AccountId,
    Appended,
    EmailId,
    FlagOp,
    Mailbox,
    MailboxId,
    Millis,
    ModSeq,
    Role,
    ThreadId,
    Uid,
    flag_key,
)
from mailstore.parse import Head
from mailstore.placing import next_modseq
from mailstore.standing import Batch
from mailstore.transaction import ReadTx, WriteTx


@dataclass(frozen=True, slots=True)
class Incoming:
    """One of several messages to append: its flags, and the internal date with its zone as for `append`."""

    prepared: Prepared
    flags: Collection[str] = ()
    internal_date: Millis | None = None
    zone: int = 0


@dataclass(frozen=True, slots=True)
class _Wish:
    """What the caller of append wants of the new message, read and checked."""

    prepared: Prepared
    flags: words.Flags
    internal_date: Millis
    zone: int
    thread: ThreadId | None = None
    filed: bool = False
    likeness: bytes | None = None


def append(
    tx: WriteTx,
    mailbox: Mailbox,
    prepared: Prepared,
    *,
    flags: Collection[str] = (),
    internal_date: Millis | None = None,
    zone: int = 0,
    key: str | None = None,
    labels: Collection[str] = (),
    thread: ThreadId | None = None,
    submitted: bool = False,
    how: How = "append",
) -> Appended:
    """Put a message at the end of a mailbox.

    `zone`: minutes that the clock by which the date was given is ahead of UTC; its day is the one that is searched for.
    `key`: done once for the account. `thread`: else found by the message's own keys, else new. `submitted`: the
    server's own copy of submitted mail, for Sent (see `sent`). Raises CannotModify (a view), NoSuchMailbox, BadFlag,
    QuotaOver, Full.
    """
    mailbox = stored(tx, mailbox)
    if key is not None and (before := _delivered(tx, mailbox.account, key)) is not None:
        return before
    in_sent = mailbox.role is Role.SENT
    wish = _Wish(
        prepared,
        words.read_flags(flags),
        tx.now if internal_date is None else internal_date,
        zone,
        thread,
        submitted and in_sent,
        sent.likeness(prepared) if in_sent else None,
    )
    appended = _into_sent(tx, mailbox, wish, how) if in_sent else None
    if appended is None:
        (appended,) = _append_new(tx, mailbox, (wish,), how)
    _set_labels(tx, appended.email, labels)
    if key is not None:
        _remember(tx, mailbox.account, key, appended)
    return appended


def append_all(tx: WriteTx, mailbox: Mailbox, messages: Sequence[Incoming]) -> list[Appended]:
    """Put messages at the end of a mailbox, all or none, in their order (RFC 3502). Raises what `append` raises.

    The mailbox was read in this transaction: who has only its name needs no more than one look.
    """
    mailbox = receiving(mailbox)
    if mailbox.role is Role.SENT:
        return [
            append(tx, mailbox, each.prepared, flags=each.flags, internal_date=each.internal_date, zone=each.zone)
            for each in messages
        ]
    wishes = [
        _Wish(
            each.prepared,
            words.read_flags(each.flags),
            tx.now if each.internal_date is None else each.internal_date,
            each.zone,
        )
        for each in messages
    ]
    return _append_new(tx, mailbox, wishes, "append")


def replace(
    tx: WriteTx,
    mailbox: Mailbox,
    old: EmailId | None,
    prepared: Prepared,
    *,
    flags: Collection[str] = (),
    internal_date: Millis | None = None,
    zone: int = 0,
    key: str | None = None,
    labels: Collection[str] = (),
    thread: ThreadId | None = None,
    how: How = "append",
) -> Appended:
    """Append a message and destroy the one it takes the place of, if that is still in this mailbox, without telling
    anyone that something was deleted. The thread is the old one's unless given. With a known `key` nothing happens."""
    mailbox = stored(tx, mailbox)
    if key is not None and (before := _delivered(tx, mailbox.account, key)) is not None:
        return before
    replaced = _replaceable(tx, mailbox, old)
    if thread is None and replaced is not None:
        thread = ThreadId(replaced["thread"])
    appended = append(
        tx,
        mailbox,
        prepared,
        flags=flags,
        internal_date=internal_date,
        zone=zone,
        key=key,
        labels=labels,
        thread=thread,
        how=how,
    )
    if replaced is not None and appended.created:
        take_place(tx, mailbox.account, replaced, appended.email)
    return appended


def take_place(tx: WriteTx, account: AccountId, old: Row, new: EmailId) -> None:
    """Let the new message stand for the old one (a row with id, stands_for), which goes silently; labels go along."""
    tx.run("mailstore.messages.stand-in", email=new, stands_for=old["stands_for"])
    _set_labels(tx, new, labels.of(tx, EmailId(old["id"])))
    removal.destroy(tx, account, standing.stored(tx, [old["id"]]), next_modseq(tx, account), tell=False)


def _replaceable(tx: ReadTx, mailbox: Mailbox, old: EmailId | None) -> Row | None:
    if old is None:
        return None
    for email in living(tx, old):
        row = tx.one("mailstore.messages.info", email=email)
        here = tx.one("mailstore.messages.locate", emails=f"[{email}]")
        if row is not None and here is not None and here["mailbox"] == mailbox.id:
            return tx.one("mailstore.messages.facts", emails=f"[{email}]")
    return None


def _set_labels(tx: WriteTx, email: EmailId, names: Collection[str]) -> None:
    for name in names:
        labels.set_label(tx, email, name, True)


def _append_new(tx: WriteTx, mailbox: Mailbox, wishes: Sequence[_Wish], how: How) -> list[Appended]:
    """Store messages that are not there yet, at least one, and place them under one modseq."""
    account = mailbox.account
    modseq = next_modseq(tx, account)
    first = tx.value("mailstore.messages.next-id")
    emails = [EmailId(first + offset) for offset in range(len(wishes))]
    threads_ = _insert(tx, account, emails, wishes)
    keys = [flag_key(_bits(wish.flags), _keyword_set(tx, account, wish.flags)) for wish in wishes]
    batch = Batch(emails, keys, [len(wish.prepared.raw) for wish in wishes])
    uid, shown = views.place_new(tx, mailbox, batch, modseq)
    tx.many("mailstore.messages.insert-state", _states(mailbox, batch, uid, shown, modseq))
    tx.emit(Stale())
    placed = list(zip(map(Uid, range(uid, uid + len(batch))), emails, threads_, strict=True))
    tx.emit(Arrived(account, mailbox, uid, emails, how))
    return [
        Appended(at, email, thread, mailbox.uidvalidity, created=True, mailbox=mailbox.id)
        for at, email, thread in placed
    ]


def _insert(tx: WriteTx, account: AccountId, emails: Sequence[EmailId], wishes: Sequence[_Wish]) -> list[ThreadId]:
    """Store what never changes of messages; the threads they belong to."""
    threads_ = _threads(tx, account, wishes)
    contents = content.keep(tx, [wish.prepared for wish in wishes])
    rows = [
        {
            "id": email,
            "account": account,
            "content": kept,
            "thread": thread,
            "header_size": wish.prepared.head.header_size,
            "internal_date": wish.internal_date,
            "zone": wish.zone,
            "filed": sent.FILED if wish.filed else 0,
            "likeness": wish.likeness,
        }
        for email, kept, thread, wish in zip(emails, contents, threads_, wishes, strict=True)
    ]
    tx.many("mailstore.messages.insert", rows)
    return threads_


def _bits(flags: words.Flags) -> int:
    return flags.bits | (DELETED if flags.deleted else 0)


def _keyword_set(tx: WriteTx, account: AccountId, flags: words.Flags) -> int:
    return words.intern(tx, account, words.spell(tx, account, flags.keywords)) if flags.keywords else 0


def _states(
    mailbox: Mailbox, batch: Batch, uid: Uid, shown: Mapping[str, Uid], modseq: ModSeq
) -> Iterator[Mapping[str, int]]:
    """The rows of what may change of new messages. In All stand all of them or none, in Unread those without \\Seen."""
    in_all, in_unread = shown.get("in_all"), count(shown.get("in_unread", 0))
    for offset, (email, key, size) in enumerate(zip(batch.emails, batch.keys, batch.sizes, strict=True)):
        yield {
            "email": email,
            "mailbox": mailbox.id,
            "uid": uid + offset,
            "in_all": 0 if in_all is None else in_all + offset,
            "in_unread": next(in_unread) if "in_unread" in shown and not key & SEEN else 0,
            "flags": key & SHARED,
            "keywords": key >> KEY_SHIFT,
            "modseq": modseq,
            "size": size,
        }


def _threads(tx: WriteTx, account: AccountId, wishes: Sequence[_Wish]) -> list[ThreadId]:
    """The thread of each message; one may answer another that comes with it, before it."""
    found: list[ThreadId] = []
    coming: dict[str, ThreadId] = {}
    for wish in wishes:
        head = wish.prepared.head
        thread = _thread(tx, account, head, wish.thread, coming)
        found.append(thread)
        if head.message_id is not None:
            coming[content.storable(head.message_id)] = thread
    return found


def _thread(
    tx: WriteTx, account: AccountId, head: Head, given: ThreadId | None, coming: Mapping[str, ThreadId]
) -> ThreadId:
    if given is not None:
        threads.ensure(tx, account, given)
        thread = given
    else:
        thread = threads.find(tx, account, threads.keys_of(head), coming) or threads.new(tx, account)
    index = threads.index_alias(head.thread_index)
    if index is not None:
        threads.alias(tx, account, thread, index)
    return thread


def _into_sent(tx: WriteTx, mailbox: Mailbox, wish: _Wish, how: How) -> Appended | None:
    """What is to become of a message for Sent of which a copy is there already; None when there is none."""
    match = sent.match(tx, mailbox, wish.prepared, wish.likeness, filed=wish.filed)
    if match is None:
        return None
    if wish.filed or match.same_bytes:
        if wish.flags.bits & SEEN:
            sent.seen(tx, mailbox, match.uid, FlagOp.ADD)
        sent.met(tx, match.email)
        return Appended(match.uid, match.email, match.thread, mailbox.uidvalidity, created=False, mailbox=mailbox.id)
    (appended,) = _append_new(tx, mailbox, (dataclasses.replace(wish, thread=wish.thread or match.thread),), how)
    take_place(tx, mailbox.account, match.row, appended.email)
    sent.met(tx, appended.email)
    return appended


def _delivered(tx: ReadTx, account: AccountId, key: str) -> Appended | None:
    row = tx.one("mailstore.messages.delivery", account=account, key=key)
    if row is None:
        return None
    return Appended(
        Uid(row["uid"]),
        EmailId(row["email"]),
        ThreadId(row["thread"]),
        row["uidvalidity"],
        created=False,
        mailbox=MailboxId(row["mailbox"]),
    )


def _remember(tx: WriteTx, account: AccountId, key: str, appended: Appended) -> None:
    tx.run(
        "mailstore.messages.remember-delivery",
        account=account,
        key=key,
        email=appended.email,
        thread=appended.thread,
        mailbox=appended.mailbox,
        uid=appended.uid,
        uidvalidity=appended.uidvalidity,
        at=tx.now,
    )
