"""The road out: requests, reminders and answers on their way to the user's real address, through the relay.

The rule: a request goes out under a token of its own, and the same mail (one Message-ID) however often it is tried.
Sending it twice does no harm, so what is in doubt is sent again; nothing here decides anything.
"""

import asyncio
import hashlib
import logging
import re
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from agents.events import OutboxQueued
from agents.ids import new_token
from agents.letter import Kind, Outgoing, OutsideMail
from agents.ports import Dispatch, Relay, RelayRefused, RelayUncertain
from agents.runtime import Runtime
from bridge.post import letters, mime
from bridge.post.content import body_text
from bridge.post.reading import SentMail, visible_text
from config.settings import Settings
from mailstore import accounts
from mailstore.model import AccountId, Millis
from mailstore.parse import parse, walk
from mailstore.sqlite import ReadTx, WriteTx
from mailstore.store import Store

log = logging.getLogger(__name__)

MINUTE_MS: Final = 60_000
WAITS_MS: Final = (MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 60 * MINUTE_MS)
PATIENCE_MS: Final = 24 * 60 * MINUTE_MS
ANSWERS_AN_HOUR: Final = 20
"""Answers of the program to the real address in an hour; beyond it the audit alone tells what came."""
_KINDS: Final = {Kind.REQUEST: "ask", Kind.QUESTION: "ask", Kind.REMINDER: "again"}
_OWN_ID: Final = re.compile(r"<(?:ask|again)\.([a-z2-7]{26})@")

Carrier = Callable[[bytes], Relay]
"""A relay that will hand over exactly these bytes, signed where there is a key of their From domain."""


@dataclass(frozen=True, slots=True)
class Road:
    """Addresses of the road: who sends, where answers go, who may decide (the first of them gets the requests)."""

    account: AccountId
    sender: str
    reply_to: str
    allowed: tuple[str, ...]

    @property
    def domain(self) -> str:
        """The domain of the Message-IDs that go out."""
        return self.sender.rpartition("@")[2]

    def answer_address(self, token: str) -> str:
        """Where an answer to the request with this token goes."""
        local, _, domain = self.reply_to.rpartition("@")
        return f"{local}+{token}@{domain}"

    def message_id(self, kind: str, token: str) -> str:
        """The Message-ID of a request (`ask`) or its reminder (`again`): answers name it."""
        return f"<{kind}.{token}@{self.domain}>"

    def token_in(self, message_id: str) -> str | None:
        """The token in a Message-ID of ours."""
        found = _OWN_ID.match(message_id.lower())
        return found[1] if found and message_id.lower().endswith(f"@{self.domain.lower()}>") else None


def road_of(tx: ReadTx, settings: Settings) -> Road | None:
    """The road that the settings describe; None when it is off, or its account is not there."""
    outside, relay = settings.outside, settings.relay
    if not outside.enabled or relay is None:
        return None
    owner = accounts.find(tx, outside.account or settings.user, settings.domain)
    if owner is None:
        return None
    return Road(owner.id, relay.sender, outside.reply_to or relay.sender, outside.addresses)


def compose_ask(outgoing: Outgoing, road: Road, kind: str, token: str, display: str, at: Millis) -> bytes:
    """A request for the real address, saying what the one at home says; only addresses and token are others."""
    address = road.answer_address(token)
    written = letters.write(outgoing, display, address)
    forms = [mime.text_entity("plain", written.text), mime.text_entity("html", written.html)]
    seed = road.message_id(kind, token)
    both = mime.multipart("alternative", forms, seed)
    attached = [mime.file_entity(file.name, file.media_type, file.data) for file in (*written.files, *outgoing.files)]
    entity = mime.multipart("mixed", [both, *attached], seed) if attached else both
    head = [
        f"From: {mime.mailbox(f'{display} (Postroom)', road.sender)}",
        f"To: <{road.allowed[0]}>",
        f"Reply-To: {mime.mailbox('Postroom', address)}",
        mime.text_header("Subject", f"Reminder: {outgoing.subject}" if kind == "again" else outgoing.subject),
        *_tail(seed, at),
    ]
    if kind == "again":
        head.insert(-2, mime.id_header("In-Reply-To", [road.message_id("ask", token)]))
    return "".join(line + mime.CRLF for line in head).encode("ascii") + entity.render()


def compose_answer(row: sqlite3.Row, road: Road) -> bytes:
    """A short answer of the program to what came from the real address."""
    made = hashlib.sha256(f"{row['request']} {row['in_reply_to']}".encode()).hexdigest()[:32]
    entity = mime.text_entity("plain", row["body"].rstrip() + "\n")
    head = [
        f"From: {mime.mailbox('Postroom', road.sender)}",
        f"To: <{row['recipient']}>",
        mime.text_header("Subject", row["subject"]),
        mime.id_header("In-Reply-To", [row["in_reply_to"]]),
        mime.id_header("References", [row["in_reply_to"]]),
        *_tail(f"<answer.{made}@{road.domain}>", row["created"]),
    ]
    return "".join(line + mime.CRLF for line in head).encode("ascii") + entity.render()


def _tail(message_id: str, at: Millis) -> list[str]:
    return [
        mime.date_header(at),
        f"Message-ID: {message_id}",
        "Auto-Submitted: auto-generated",
        "MIME-Version: 1.0",
    ]


class _Quietly:
    """agents.ports.Phases for mail that may go out twice."""

    async def data_sent(self) -> None:
        """Nothing to note."""


class Outward:
    """One task; subscribes to the runtime's outbox. `carrier` is made by bridge.app."""

    def __init__(
        self, store: Store, runtime: Runtime, settings: Settings, carrier: Carrier, clock: Callable[[], Millis]
    ) -> None:
        self._store = store
        self._runtime = runtime
        self._settings = settings
        self._carrier = carrier
        self._clock = clock
        self._bell = asyncio.Event()
        store.on(OutboxQueued, self._queued)

    def road(self, tx: ReadTx) -> Road | None:
        """The road as it is now."""
        return road_of(tx, self._settings)

    def wake(self) -> None:
        """There may be mail to send."""
        self._bell.set()

    def _queued(self, tx: WriteTx, event: OutboxQueued) -> None:
        """A request for the user waits at home: it goes out too."""
        kind = _KINDS.get(Kind(event.kind))
        road = self.road(tx) if kind else None
        outgoing = self._runtime.outgoing(tx, event.key) if road else None
        if kind is None or road is None or outgoing is None or outgoing.request is None:
            return
        if outgoing.account != road.account:
            return
        request, now = outgoing.request.id, self._clock()
        tx.run("bridge.outside.ask", request=request, account=road.account, key=event.key, token=new_token(), now=now)
        self.queue(tx, road, kind, request, road.allowed[0])

    def queue(
        self,
        tx: WriteTx,
        road: Road,
        kind: str,
        request: str,
        to: str,
        *,
        answers: str = "",
        said: tuple[str, str] = ("", ""),
    ) -> bool:
        """Queue a mail; `said` is subject and body of an answer, `answers` the Message-ID it answers."""
        now = self._clock()
        if kind == "answer":
            lately = tx.value("bridge.outside.answers_since", account=road.account, since=now - 60 * MINUTE_MS)
            if lately >= ANSWERS_AN_HOUR:
                return False
        subject, body = said
        added = tx.run(
            "bridge.outside.queue",
            account=road.account,
            kind=kind,
            request=request,
            recipient=to,
            subject=subject,
            body=body,
            in_reply_to=answers,
            now=now,
        )
        tx.after(self.wake)
        return bool(added)

    async def run(self) -> None:
        """Send until cancelled."""
        while True:
            self._bell.clear()
            row = self._store.read(lambda tx: tx.one("bridge.outside.due", now=self._clock()))
            if row is not None:
                await self._send(row)
            else:
                await self._pause()

    async def _pause(self) -> None:
        """Until the bell, or until the next mail is due."""
        next_time = self._store.read(lambda tx: tx.value("bridge.outside.next_time"))
        seconds = None if next_time is None else max((next_time - self._clock()) / 1000, 0.05)
        try:
            async with asyncio.timeout(seconds):  # not wait_for: in Python 3.11 it can lose a cancellation
                await self._bell.wait()
        except TimeoutError:
            return

    async def _send(self, row: sqlite3.Row) -> None:
        raw = self._store.read(lambda tx: self._compose(tx, row))
        if raw is None:
            await self._settle(row, "needless", "")
            return
        mail = OutsideMail((row["recipient"],), row["subject"], "")
        try:
            reply = await self._carrier(raw).deliver(Dispatch(mail, "", row["account"], ""), _Quietly())
        except RelayRefused as refused:
            await self._fail(row, refused.text, refused.permanent)
        except (RelayUncertain, OSError) as error:
            await self._fail(row, str(error), permanent=False)
        else:
            await self._settle(row, "sent", reply)

    def _compose(self, tx: ReadTx, row: sqlite3.Row) -> bytes | None:
        """The mail; None when nobody waits for it any more."""
        road = self.road(tx)
        if road is None:
            return None
        if row["kind"] == "answer":
            return compose_answer(row, road)
        request = self._runtime.request(tx, row["account"], row["request"])
        if request is None or request.state != "open":
            return None
        return self._ask(tx, road, row["kind"], row["key"], row["token"], row["created"])

    def _ask(self, tx: ReadTx, road: Road, kind: str, key: str, token: str, at: Millis) -> bytes | None:
        outgoing = self._runtime.outgoing(tx, key)
        if outgoing is None:
            return None
        return compose_ask(outgoing, road, kind, token, self._runtime.display(outgoing.agent), at)

    async def _fail(self, row: sqlite3.Row, why: str, permanent: bool) -> None:
        """Later, for a day; then, or when the relay will never take it, it is said at home."""
        if not permanent and self._clock() - row["created"] < PATIENCE_MS:
            await self._settle(row, "queued", why, WAITS_MS[min(row["attempts"], len(WAITS_MS) - 1)])
            return
        log.warning("a mail to the user's real address was given up", extra={"kind": row["kind"], "why": why})
        await self._settle(row, "failed", why)

    async def _settle(self, row: sqlite3.Row, state: str, reply: str, wait: Millis = 0) -> None:
        at = self._clock() + wait
        await self._store.write(
            lambda tx: tx.run("bridge.outside.settle", id=row["id"], state=state, reply=reply[:300], next_at=at)
        )

    # --- what was sent, for the reader of answers

    def sent(self, tx: ReadTx, road: Road, ask: sqlite3.Row) -> SentMail | None:
        """The request as it went out, to find quotes of it in an answer."""
        raw = self._ask(tx, road, "ask", ask["key"], ask["token"], ask["created"])
        request = self._runtime.request(tx, ask["account"], ask["request"])
        if raw is None or request is None:
            return None
        message = parse(raw)
        return SentMail(
            token=ask["token"],
            message_id=message.message_id,
            address=road.answer_address(ask["token"]),
            subject=message.subject,
            text=body_text(message, raw),
            also=tuple(visible_text(p.text(raw)) for p in walk(message.root) if p.media_type == "text/html"),
            items=request.items,
            grant=False,
            names=("Postroom", *(one.display for one in message.envelope.from_ if one.display)),
            request=request.code,
        )
