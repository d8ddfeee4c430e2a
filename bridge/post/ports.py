"""The user's own mail as the agents' tools see it (agents.ports.Mail), over the store.

The rule: every call is bound to one account; a reference of another account is the same as none. Refs are opaque to the
agents: "E<email>" for a mail, "E<email>/<section>" for one of its parts.
"""

import asyncio
import hashlib
import re
from collections.abc import Callable, Sequence
from typing import Final, cast

from agents.letter import File, OutsideMail
from agents.ports import Approver, AttachmentData, MailNotFound, MailSummary, MailText, WriteTx
from agents.ports import ReadTx as AgentsReadTx
from bridge.post import find
from bridge.post.compose import compose_outside
from bridge.post.content import body_text, files, stored
from mailstore import accounts, mailboxes, messages, threads
from mailstore.model import AccountId, EmailId, EmailInfo, Mailbox, Millis, Role, View
from mailstore.parse import Message, parse
from mailstore.sqlite import ReadTx
from mailstore.sqlite import WriteTx as StoreWriteTx
from mailstore.store import Store

_REF: Final = re.compile(r"E([0-9]{1,18})(?:/([0-9.]{0,40}))?")
_PREVIEW: Final = 160


def ref(email: int, section: str | None = None) -> str:
    """The reference of a mail, or of one of its parts."""
    return f"E{email}" if section is None else f"E{email}/{section}"


def email_of(reference: str) -> EmailId | None:
    """The mail that a reference names; None when it names none."""
    found = _REF.fullmatch(reference)
    return EmailId(int(found[1])) if found else None


class StoreMail:
    """Made by bridge.app; `own_domain` is the domain of the ids it makes."""

    def __init__(self, store: Store, own_domain: str, clock: Callable[[], Millis]) -> None:
        self._store = store
        self._own = f"@{own_domain.lower()}"
        self._clock = clock

    async def search(self, account: int, query: str, limit: int) -> list[MailSummary]:
        """Mails of the account that fit a query (see bridge.post.find), newest first."""
        wanted = find.parse(query)
        where = self._store.read(lambda tx: _where(tx, AccountId(account), wanted))
        if where is None:
            return []
        uids = await self._store.search(where, wanted.query)
        newest = uids[::-1][:limit]
        rows = await self._store.read_slow(lambda tx: messages.fetch(tx, where, sorted(newest)))
        found = [self._summary(account, row.email) for row in reversed(rows)]
        return [summary for summary in found if summary]

    def _summary(self, account: int, email: EmailId) -> MailSummary | None:
        try:
            info, raw, message = self._load(account, email)
        except MailNotFound:
            return None
        places = self._store.read(lambda tx: messages.locate(tx, email))
        preview = " ".join(body_text(message, raw).split())[:_PREVIEW]
        mailbox = next((place.name for place, _ in places if place.view is None), "")
        sender = message.headers.get("from") or ""
        return MailSummary(ref(email), mailbox, info.subject, sender, _at(info), preview, str(info.thread))

    async def read(self, account: int, reference: str) -> MailText:
        """One mail as text. Raises MailNotFound."""
        info, raw, message = self._fetch(account, reference)
        text = await asyncio.to_thread(body_text, message, raw)
        sender = message.headers.get("from") or ""
        to = tuple(address.spec for address in (*message.envelope.to, *message.envelope.cc) if address.spec)
        named = tuple(f"{name} ({ref(info.id, part.section)})" for name, part in files(message))
        own = self._is_own(account, email_of(reference))
        return MailText(ref(info.id), info.subject, sender, to, _at(info), text, own, named)

    async def attachment(self, account: int, reference: str) -> AttachmentData:
        """One part, decoded. Raises MailNotFound."""
        info, raw, message = self._fetch(account, reference)
        section = reference.partition("/")[2]
        for name, part in files(message):
            if part.section == section:
                return AttachmentData(name, part.media_type, await asyncio.to_thread(part.content, raw))
        raise MailNotFound(f"no attachment {reference} in {info.subject!r}")

    def contents(self, tx: AgentsReadTx, account: int, refs: Sequence[str]) -> tuple[File, ...]:
        """Attachments with their bytes, read inside `tx`. Raises MailNotFound when one is gone."""
        return tuple(_file(cast("ReadTx", tx), AccountId(account), reference) for reference in refs)

    def draft(self, tx: WriteTx, account: int, draft: OutsideMail, key: str) -> str:
        """Put a draft into Drafts; the same key again is the same draft."""
        store_tx = cast("StoreWriteTx", tx)  # the runtime's port is this very class: bridge.app hands it the store's
        owner = accounts.get(store_tx, AccountId(account))
        if owner is None:
            raise MailNotFound("the account was removed")
        message_id = f"<draft.{hashlib.sha256(key.encode()).hexdigest()[:24]}{self._own}>"
        raw = compose_outside(draft, owner.address, owner.name, message_id, self._clock(), auto=False)
        drafts = mailboxes.by_role(store_tx, owner.id, Role.DRAFTS)
        flags = ("\\Draft", "\\Seen")
        kept = messages.append(store_tx, drafts, self._store.prepare(raw), flags=flags, key=f"draft:{key}")
        return ref(kept.email)

    def approver(self, tx: WriteTx, account: int, names: Sequence[str]) -> Approver | None:
        """The first of these names that is an account here, and not the owner's own."""
        store_tx = cast("StoreWriteTx", tx)
        owner = accounts.get(store_tx, AccountId(account))
        if owner is None:
            return None
        for name in names:
            found = accounts.find(store_tx, name, self._own[1:])
            if found is not None and found.id != account:
                return Approver(found.address, owner.address, found.id, str(threads.new(store_tx, found.id)))
        return None

    def _fetch(self, account: int, reference: str) -> tuple[EmailInfo, bytes, Message]:
        email = email_of(reference)
        if email is None:
            raise MailNotFound(f"{reference!r} is no reference of a mail")
        return self._load(account, email)

    def _load(self, account: int, email: EmailId) -> tuple[EmailInfo, bytes, Message]:
        found = self._store.read(lambda tx: stored(tx, AccountId(account), email))
        if found is None:
            raise MailNotFound(f"no mail {ref(email)} here")
        info, raw = found
        return info, raw, parse(raw)

    def _is_own(self, account: int, email: EmailId | None) -> bool:
        """Whether the owner typed it: only what came in by an authenticated submission. A From line proves nothing."""
        kind: str | None = self._store.read(lambda tx: tx.value("bridge.arrivals.kind", account=account, email=email))
        return kind == "submitted"


def _file(tx: ReadTx, account: AccountId, reference: str) -> File:
    email, section = email_of(reference), reference.partition("/")[2]
    found = stored(tx, account, email) if email is not None else None
    if found is not None:
        raw = found[1]
        for name, part in files(parse(raw)):
            if part.section == section:
                return File(name, part.media_type, part.content(raw))
    raise MailNotFound(f"no attachment {reference}")


def _where(tx: ReadTx, account: AccountId, wanted: find.Search) -> Mailbox | None:
    """The mailbox to search: a named one, Action for what is open, else All (without drafts, trash and junk)."""
    if wanted.mailbox is not None:
        return mailboxes.find(tx, account, wanted.mailbox)
    view = View.ACTION if wanted.open_only else View.ALL
    return next(mailbox for mailbox in mailboxes.all(tx, account) if mailbox.view is view)


def _at(info: EmailInfo) -> Millis:
    return info.sent if info.sent is not None else info.internal_date
