"""Answers from outside: a mail found in the watched mailbox decides a request only when it is proven to be the user's.

The rule: a signature that holds, an allowed From, the request's one-time token and an undecided request, all of them,
and the claim of the request is one statement. Everything else releases nothing and is explained in the audit. Nobody
unproven is ever answered.
"""

import asyncio
import hashlib
import logging
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from agents import audit, lookup
from agents.requests import RequestInfo
from agents.runtime import Runtime
from bridge.post import deciding, incoming, notices, refusals
from bridge.post.identity import Doubt, Lookup, Proof, Terms, dns_txt, prove, sender_of
from bridge.post.outward import HOUR_MS, Outward
from bridge.post.reading import SentMail, SentTable, machine_reason, read_message
from bridge.post.road import Road
from bridge.post.shown import visible
from bridge.watch import Place
from config.settings import Settings
from mailstore import mailboxes, messages, threads
from mailstore.errors import Full
from mailstore.model import Millis, Role, ThreadId
from mailstore.parse import Message, normalise, parse
from mailstore.sqlite import ReadTx, WriteTx
from mailstore.store import Prepared, Store

log = logging.getLogger(__name__)

_BIG: Final = 64 * 1024
_NO_TOKEN: Final = Doubt("no-token", "it names no request: its address and In-Reply-To hold no one-time token")
_WRONG_TOKEN: Final = Doubt("no-token", "its address names no request that was sent to you")
_GONE: Final = Doubt("gone", "the request that it answers is no longer here")
_CONFLICT: Final = Doubt("conflict", "its address and the mail it answers name different requests")
_STATES: Final = {
    "approved": "was approved and goes ahead, exactly as shown",
    "rejected": "was refused and is not done",
    "mixed": "was decided item by item, as you wrote",
    "answered": "was answered; nothing was done, and your words went to the agent",
    "edited": "was changed; the new version comes in a mail of its own and waits for you",
    "confirmed": "was noted as done",
    "skipped": "was left as it is",
    "cancelled": "was withdrawn",
}


@dataclass(frozen=True, slots=True)
class _Found:
    """One mail that concerns us, judged. `ask` is the request whose token it holds."""

    road: Road
    raw: bytes
    message: Message
    sender: str
    ask: sqlite3.Row | None
    judged: Proof | Doubt
    prepared: Prepared | None
    meant: bool = False
    """Whether it was sent to the address for answers, or answers a request that went out."""


class Answers:
    """bridge.watch.Reader. `lookup` asks the DNS for keys; tests hand in keys of their own."""

    def __init__(
        self,
        store: Store,
        runtime: Runtime,
        outward: Outward,
        settings: Settings,
        clock: Callable[[], Millis],
        lookup: Lookup = dns_txt,
    ) -> None:
        self._store = store
        self._runtime = runtime
        self._outward = outward
        self._settings = settings
        self._clock = clock
        self._lookup = lookup

    def place(self) -> Place | None:
        """How far the watched mailbox was read."""
        row = self._store.read(lambda tx: tx.one("bridge.outside.place", mailbox=self._mailbox()))
        return Place(row["uidvalidity"], row["next_uid"]) if row else None

    async def complain(self, why: str) -> None:
        """The mailbox has not been readable for a while: say so at home, once a day."""
        await self._store.write(lambda tx: self._complain(tx, why))

    def _complain(self, tx: WriteTx, why: str) -> None:
        road = self._outward.road(tx)
        if road is not None:
            day, thread = self._clock() // (24 * HOUR_MS), str(threads.new(tx, road.account))
            body = notices.UNREAD.format(mailbox=self._mailbox(), why=visible(why))
            key, subject = f"outside.unread.{day}", "Answers from outside cannot be read"
            fields = {"agent": "help", "thread": thread, "subject": subject, "body": body}
            self._runtime.notice(tx, key=key, account=road.account, **fields)

    def _mailbox(self) -> str:
        outside = self._settings.outside
        return f"{outside.username}@{outside.host}/{outside.mailbox}"

    async def take(self, raw: bytes | None, place: Place) -> None:
        """Judge one mail and do what it says, and remember how far the mailbox was read, in one transaction."""
        try:
            found = await self._judge(raw) if raw is not None else None
            await self._store.write(lambda tx: self._keep(tx, found, place))
        except Full:
            raise  # the mail is fetched again when there is room
        except Exception:  # one mail that breaks the reader must not end the watch, nor come again for ever
            log.exception("a mail of the watched mailbox could not be read; it decides nothing")
            await self._store.write(lambda tx: self._keep(tx, None, place))

    async def _judge(self, raw: bytes) -> _Found | None:
        """What a mail is worth; None when it is none of our business."""
        message = await asyncio.to_thread(parse, normalise(raw)) if len(raw) > _BIG else parse(normalise(raw))
        road = self._store.read(self._outward.road)
        if road is None or road.token_in(message.message_id or ""):
            return None
        asks = self._store.read(lambda tx: _asks(tx, road, message))
        sender = sender_of(raw)
        if not asks and sender not in {one.lower() for one in road.allowed}:
            return None
        ask, meant = asks[0] if asks else None, bool(asks) or _is_meant(message, road)
        if machine := machine_reason(message, raw):
            doubt = Doubt("machine", f"it was sent by a machine ({machine})")
            return _Found(road, raw, message, sender, ask, doubt, None) if asks else None
        terms = Terms(road.allowed, self._settings.outside.fresh_hours, self._clock())
        judged = await asyncio.to_thread(prove, raw, terms, self._lookup)
        if isinstance(judged, Proof) and len(asks) != 1:
            judged = _CONFLICT if asks else _WRONG_TOKEN if any(_tags(message, road)) else _NO_TOKEN
        prepared = await asyncio.to_thread(self._store.prepare, raw) if isinstance(judged, Proof) else None
        return _Found(road, raw, message, sender, ask, judged, prepared, meant)

    def _keep(self, tx: WriteTx, found: _Found | None, place: Place) -> None:
        read = {"uidvalidity": place.uidvalidity, "next_uid": place.next_uid}
        tx.run("bridge.outside.read_to", mailbox=self._mailbox(), **read)
        if found is None:
            return
        if isinstance(found.judged, Doubt) or found.ask is None or found.prepared is None:
            self._refuse(tx, found, found.judged if isinstance(found.judged, Doubt) else _NO_TOKEN)
            return
        seen = {"account": found.road.account, "signature": found.judged.signature, "now": self._clock()}
        if not tx.run("bridge.outside.see", **seen):
            self._refuse(tx, found, Doubt("replay", "the same signed mail came before"))
            return
        request = self._runtime.request(tx, found.road.account, found.ask["request"])
        if request is None:
            self._refuse(tx, found, _GONE)
            return
        self._answer(tx, found, found.ask, request, found.judged, found.prepared)

    def _refuse(self, tx: WriteTx, found: _Found, doubt: Doubt) -> None:
        account, mail = found.road.account, found.message.message_id or ""
        request = self._runtime.request(tx, account, found.ask["request"]) if found.ask is not None else None
        tried = refusals.Tried(account, found.raw, mail, found.sender, request, found.meant)
        refusals.refuse(tx, self._runtime, tried, doubt, self._clock())

    # --- proven

    def _answer(
        self, tx: WriteTx, found: _Found, ask: sqlite3.Row, request: RequestInfo, proof: Proof, prepared: Prepared
    ) -> None:
        """Claim the request, decide it as the mail says, and answer the mail once."""
        now, by = self._clock(), _hash(found.raw)
        facts = {"by": proof.address, "domain": proof.domain, "selector": proof.selector, "message": by}
        audit.record(tx, now, request.account, "outside.proven", request.run, request.id, via="outside mail", **facts)
        mail = self._read(tx, found, ask, request, prepared)
        answers = found.message.message_id or ""
        tx.run("bridge.outside.answered", request=request.id, by=proof.address, message_id=answers, now=now)
        claimed = tx.run("bridge.outside.claim", token=ask["token"], account=request.account, by=by, now=now)
        if request.state == "open" and not claimed:
            text: str | None = f"Another answer to {request.code} is being carried out; nothing was done by this one."
        else:
            sender = deciding.Sender(request.account, proof.address, f"mail from {proof.address}", now)
            text = deciding.decide(tx, self._runtime, request, mail, sender, by)
        tx.run("bridge.outside.release", request=request.id)
        said = (notices.reply_subject(found.message.subject), text or self._came_of(tx, request))
        self._outward.queue(tx, found.road, "answer", request.id, proof.address, answers=answers, said=said)

    def _read(
        self, tx: WriteTx, found: _Found, ask: sqlite3.Row, request: RequestInfo, prepared: Prepared
    ) -> incoming.Incoming:
        """The answer, filed in Sent of its thread, and read. Weak words count at home only."""
        thread = ThreadId(int(request.thread))
        threads.ensure(tx, found.road.account, thread)
        box = mailboxes.by_role(tx, found.road.account, Role.SENT)
        key = f"outside:{_hash(found.raw)}"
        kept = messages.append(tx, box, prepared, flags=("\\Seen",), key=key, thread=thread, submitted=True)
        sent = self._outward.sent(tx, found.road, ask)
        table = _Table(sent, found.road) if sent else SentTable(())
        languages = self._settings.languages
        reading = read_message(found.message, found.raw, table, languages=languages, weak_ok=False)
        return incoming.read(kept.email, found.raw, found.message, reading)

    def _came_of(self, tx: ReadTx, request: RequestInfo) -> str:
        """What a decision that took effect came to."""
        if lookup.is_open(tx, request.account, request.id):
            return f"Request {request.code} still waits."
        now = self._runtime.request(tx, request.account, request.id)
        state = now.state.value if now else ""
        return f"Request {request.code} {_STATES.get(state, 'is closed')}."


@dataclass(frozen=True, slots=True)
class _Table:
    """bridge.post.reading.SentMails of one request: the mail itself, and its reminder."""

    mail: SentMail
    road: Road

    def by_token(self, token: str) -> SentMail | None:
        return self.mail if token == self.mail.token else None

    def by_message_id(self, message_id: str) -> SentMail | None:
        return self.by_token(self.road.token_in(message_id) or "")


def _asks(tx: ReadTx, road: Road, message: Message) -> list[sqlite3.Row]:
    """The requests whose tokens a mail holds: in the addresses it is sent to, and in the mail it answers."""
    tokens = [*_tags(message, road), *(road.token_in(one) for one in _answered(message))]
    rows = (
        tx.one("bridge.outside.by_token", token=token, account=road.account)
        for token in dict.fromkeys(filter(None, tokens))
    )
    return [row for row in rows if row is not None]


def _answered(message: Message) -> tuple[str, ...]:
    return (message.in_reply_to or message.references[-1:])[:10]


def _tags(message: Message, road: Road) -> list[str | None]:
    """What stands behind the plus of each address for answers that a mail was sent to; None: nothing."""
    envelope = message.envelope
    split = [_split(address.spec) for address in (*envelope.to, *envelope.cc)[:50]]
    own = _split(road.reply_to)
    return [tag or None for head, tag, domain in split if (head, domain) == (own[0], own[2])]


def _split(spec: str) -> tuple[str, str, str]:
    """Local part before the plus, what stands behind it, and domain."""
    local, _, domain = spec.lower().rpartition("@")
    head, _, tag = local.partition("+")
    return head, tag, domain


def _is_meant(message: Message, road: Road) -> bool:
    """Whether a mail was sent to where answers go, or answers a mail of the road."""
    return bool(_tags(message, road)) or any(
        one.lower().endswith(f"@{road.domain.lower()}>") for one in _answered(message)
    )


def _hash(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()
