"""Taking mail in: what SMTP hands over is kept, filed and queued in one transaction, before the 250 goes out.

The rule: a mail is one by its Message-ID and the hash of its body. A repeat is answered like the first and acts no
second time; recipients it names anew are served. Nothing is decided here: acting is `intake`, after the commit.
"""

import asyncio
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime
from typing import Final
from uuid import uuid4

from agents import audit
from agents.threads import Point
from agents.trigger import Trigger
from bridge.identity import Identity
from bridge.post.forks import Forks
from bridge.post.hooks import MARK, Hooks
from bridge.post.route import Directory, ToHook, ToUser
from bridge.submissions import Accepted, Client, Envelope, Receipt, Refused
from mailstore import mailboxes, messages, threads
from mailstore.errors import Full
from mailstore.model import AccountId, EmailId, Millis, Role, ThreadId
from mailstore.parse import normalise
from mailstore.sqlite import ReadTx, WriteTx
from mailstore.store import Prepared, Store

_HOOKS_ONLY: Final = Refused(550, "5.7.1", "This password sends to hook addresses only.")
RETRY_WINDOW_MS: Final = 10 * 60 * 1000
LARGE: Final = 256 * 1024
"""Bytes above which a mail is read on a thread, so that nobody waits for it."""

_HAS_ID: Final = re.compile(rb"(?im)^message-id[ \t]*:[^\r\n<]*(?:\r\n[ \t][^\r\n<]*)*<[^<>\s]+>")
_HAS_DATE: Final = re.compile(rb"(?im)^date[ \t]*:")
_BCC: Final = re.compile(rb"(?im)^(?:bcc|resent-bcc)[ \t]*:[^\r\n]*\r\n(?:[ \t][^\r\n]*\r\n)*")


@dataclass(frozen=True, slots=True)
class Mail:
    """A submitted mail, read and hashed outside the transaction. `open` is a form without Bcc for other users;
    `machine` says what it says of its maker itself, whatever a client files in its place.
    """

    prepared: Prepared
    open: Prepared
    raw_hash: str
    key: str
    had_id: bool
    machine: bool


@dataclass(frozen=True, slots=True)
class Ready:
    """A mail with what the store knows of where it goes. `hooks` are the recipients that are mail hooks, by address;
    `fork` is the mail of an agent that it forwards back, to go on from there.
    """

    mail: Mail
    hooks: Mapping[str, Trigger]
    fork: Point | None


class Accept:
    """The Submissions port. `wake` is called in the loop after each commit that queued something."""

    def __init__(
        self,
        store: Store,
        directory: Callable[[], Directory],
        hooks: Hooks,
        forks: Forks,
        clock: Callable[[], Millis],
        wake: Callable[[], None],
    ) -> None:
        self._store = store
        self._directory = directory
        self._hooks = hooks
        self._forks = forks
        self._clock = clock
        self._wake = wake

    def recipient(self, identity: Identity, address: str) -> Accepted | Refused:
        """Whether this user's mail may go there. A login for hooks reaches nothing else, and learns of nothing else."""
        found = self._directory().resolve(address)
        if isinstance(found, ToHook):
            return self._hooks.recipient(identity.account, found)
        if identity.hooks_only:
            return _HOOKS_ONLY
        return found if isinstance(found, Refused) else Accepted()

    async def accept(self, identity: Identity, envelope: Envelope) -> Receipt | Refused:
        """Keep the mail. Returns after the durable commit; a full disk is 452 and keeps nothing."""
        now = self._clock()
        if identity.hooks_only:  # said at RCPT already, and again in case something has changed since
            for address in envelope.recipients:
                if isinstance(answer := self.recipient(identity, address), Refused):
                    return answer
        if len(envelope.raw) > LARGE:
            mail = await asyncio.to_thread(self._read, identity, envelope, now)
        else:
            mail = self._read(identity, envelope, now)
        ready = self._ready(identity, envelope, mail)
        try:
            email = await self._store.write(lambda tx: self._keep(tx, identity, envelope, ready, now))
        except Full:
            return Refused(452, "4.3.1", "The disk is full; nothing was kept. Free some space and send again.")
        return Receipt(f"M{email:x}")

    async def turned_away(self, identity: Identity, client: Client, why: str) -> None:
        """A mail of this login said that it is somebody else's, and was refused: the trail of its account says so."""
        at, via = self._clock(), f"{identity.device} over SMTP"
        facts = {"by": identity.address, "via": via, "rule": "sender", "why": why, "peer": client.peer}
        await self._store.write(lambda tx: audit.record(tx, at, identity.account, "submission.refused", **facts))

    def _read(self, identity: Identity, envelope: Envelope, now: Millis) -> Mail:
        """For a large mail on a thread, where the store cannot be read."""
        had_id, raw = complete(normalise(envelope.raw), identity.address, now)
        raw_hash = hashlib.sha256(envelope.raw).hexdigest()
        head, _, body = raw.partition(b"\r\n\r\n")
        prepared = self._store.prepare(raw)
        without = _BCC.sub(b"", head + b"\r\n")
        opened = prepared if without == head + b"\r\n" else self._store.prepare(without + b"\r\n" + body)
        key = identity_key(prepared.head.message_id, raw)
        from bridge.post.reading import machine_reason  # on first use: its patterns make a start slower

        machine = machine_reason(prepared.message, raw, mail_from=envelope.mail_from) is not None
        return Mail(prepared, opened, raw_hash, key, had_id, machine)

    def _ready(self, identity: Identity, envelope: Envelope, mail: Mail) -> Ready:
        message, to = mail.prepared.message, envelope.recipients
        fork = None if mail.machine else self._forks.point(identity.account, message, to)
        return Ready(mail, self._known_hooks(identity, envelope), fork)

    def _known_hooks(self, identity: Identity, envelope: Envelope) -> dict[str, Trigger]:
        directory, found = self._directory(), {}
        for address in map(str.lower, envelope.recipients):
            target = directory.resolve(address)
            item = self._hooks.known(identity.account, target) if isinstance(target, ToHook) else None
            if item is not None:
                found[address] = item
        return found

    def _keep(self, tx: WriteTx, identity: Identity, envelope: Envelope, ready: Ready, now: Millis) -> EmailId:
        mail = ready.mail
        key = mail.key
        if not mail.had_id:
            since = now - RETRY_WINDOW_MS
            same = {"account": identity.account, "raw_hash": mail.raw_hash, "since": since}
            key = (tx.value("bridge.arrivals.recent", **same) or key).partition("#")[0]
        before = tx.all("bridge.arrivals.same", account=identity.account, key=key)
        served = {address for row in before for address in json.loads(row["recipients"])}
        named = [address for address in map(str.lower, envelope.recipients) if not address.startswith(MARK)]
        named = [f"{MARK}{ready.hooks[to].id}" if to in ready.hooks else to for to in named]  # without the token
        fresh = [address for address in dict.fromkeys(named) if address not in served]
        if before and not fresh:
            return EmailId(before[0]["email"])
        email = EmailId(before[0]["email"]) if before else self._file(tx, identity, ready, key, len(fresh))
        self._deliver(tx, identity, fresh, ready, key)
        arrival = tx.insert(
            "bridge.arrivals.add",
            account=identity.account,
            email=email,
            kind="submitted",
            recipients=json.dumps(fresh),
            key=f"{key}#{len(before)}" if before else key,
            raw_hash=mail.raw_hash,
            via=f"{identity.device} over SMTP",
            at=now,
        )
        if mail.machine and not any(address.startswith(MARK) for address in fresh):
            tx.run("bridge.arrivals.finish", id=arrival, state="machine")
        tx.after(self._wake)
        return email

    def _file(self, tx: WriteTx, identity: Identity, ready: Ready, key: str, recipients: int) -> EmailId:
        """The server's own copy in Sent; the one a client appends later is the same message. One that it appended
        before and that says something else is not: what is acted on is what was submitted. Mail for hooks alone is
        hardly the user's own: it is filed as read in the thread of the first.
        """
        prepared, seen = ready.mail.prepared, ("\\Seen",)
        if ready.hooks and len(ready.hooks) == recipients:
            thread = ThreadId(int(next(iter(ready.hooks.values())).thread))
            threads.ensure(tx, identity.account, thread)
            archive = mailboxes.by_role(tx, identity.account, Role.ARCHIVE)
            return messages.append(tx, archive, prepared, flags=seen, key=f"hook:{key}", thread=thread).email
        sent = mailboxes.by_role(tx, identity.account, Role.SENT)
        apart = self._forks.begin(tx, identity.account, ready.fork) if ready.fork is not None else None
        kept = messages.append(tx, sent, prepared, flags=seen, key=f"sent:{key}", submitted=True, thread=apart)
        if not kept.created and not _same_body(tx, kept.email, prepared.raw):
            kept = messages.append(tx, sent, prepared, flags=seen, key=f"own:{key}", thread=apart)
        return kept.email

    def _deliver(self, tx: WriteTx, identity: Identity, addresses: list[str], ready: Ready, key: str) -> None:
        """Mail to users of this bridge, oneself included, goes to their INBOX at once."""
        directory = self._directory()
        for address in addresses:
            target = directory.resolve(address)
            if not isinstance(target, ToUser):
                continue
            inbox = mailboxes.by_role(tx, AccountId(target.account), Role.INBOX)
            copy = ready.mail.prepared if target.account == identity.account else ready.mail.open
            messages.append(tx, inbox, copy, key=f"in:{identity.account}:{key}")


def identity_key(message_id: str | None, raw: bytes) -> str:
    """What makes a submitted mail one: its Message-ID and the hash of its body, blanks at the end left out."""
    body = raw.partition(b"\r\n\r\n")[2].rstrip()
    return hashlib.sha256(f"{message_id}\0".encode("utf-8", "replace") + body).hexdigest()


def _same_body(tx: ReadTx, email: EmailId, raw: bytes) -> bool:
    info = messages.email(tx, email)
    kept = messages.body(tx, info.content) if info is not None else b""
    return kept.partition(b"\r\n\r\n")[2].rstrip() == raw.partition(b"\r\n\r\n")[2].rstrip()


def complete(raw: bytes, address: str, now: Millis) -> tuple[bool, bytes]:
    """The mail with a Message-ID and a Date (RFC 6409 8.2, 8.3), and whether it came with a Message-ID."""
    head = raw.partition(b"\r\n\r\n")[0] + b"\r\n"
    had_id = _HAS_ID.search(head) is not None
    added = b""
    if not had_id:
        domain = address.rpartition("@")[2]
        added += f"Message-ID: <{uuid4().hex}@{domain}>\r\n".encode("ascii", "replace")
    if not _HAS_DATE.search(head):
        moment = datetime.fromtimestamp(now / 1000).astimezone()
        added += f"Date: {format_datetime(moment)}\r\n".encode("ascii")
    return had_id, added + raw
