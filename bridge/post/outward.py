"""The road out: requests, reminders, answers and ends of tasks on their way to the user's real address, by the relay.

The rule: a request goes out under a token of its own, and the same mail (one Message-ID) however often it is tried.
Sending it twice does no harm, so what is in doubt is sent again; nothing here decides anything.
"""

import asyncio
import logging
import sqlite3
from collections.abc import Callable
from typing import Final

from agents.events import OutboxQueued
from agents.ids import new_token
from agents.letter import Kind, Outgoing, OutsideMail
from agents.ports import Dispatch, Relay, RelayRefused, RelayUncertain
from agents.requests import RequestInfo
from agents.runtime import Runtime
from agents.states import RunState
from bridge.post import notices
from bridge.post.content import body_text
from bridge.post.reading import SentMail, visible_text
from bridge.post.road import Road, compose_answer, compose_ask, compose_result, road_of
from bridge.post.shown import visible
from config.settings import Settings
from mailstore.model import Millis
from mailstore.parse import parse, walk
from mailstore.sqlite import ReadTx, WriteTx
from mailstore.store import Store

log = logging.getLogger(__name__)

MINUTE_MS: Final = 60_000
HOUR_MS: Final = 60 * MINUTE_MS
WAITS_MS: Final = (MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 60 * MINUTE_MS)
PATIENCE_MS: Final = 24 * 60 * MINUTE_MS
ANSWERS_AN_HOUR: Final = 20
"""Answers of the program to the real address in an hour; beyond it the audit alone tells what came."""
RESULTS_AN_HOUR: Final = 60
"""Ends of tasks that go to the real address in an hour; the others lie at home only."""
TOLD_AN_HOUR: Final = 3
"""Notices at home about what could not be sent out, in an hour."""
_ASKS: Final = {Kind.REQUEST: "ask", Kind.QUESTION: "ask", Kind.REMINDER: "again"}
_ENDS: Final = frozenset({Kind.RESULT, Kind.FAILURE})
_UNSENT: Final = "outside.unsent."

Carrier = Callable[[bytes], Relay]
"""A relay that will hand over exactly these bytes, signed where there is a key of their From domain."""


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
        """A mail for the user waits at home: a request goes out too, and so does the end of what was answered there."""
        kind = Kind(event.kind)
        road = self.road(tx) if kind in _ASKS or kind in _ENDS or kind is Kind.NOTICE else None
        outgoing = self._runtime.outgoing(tx, event.key) if road else None
        if road is None or outgoing is None or outgoing.account != road.account:
            return
        if outgoing.request is not None and kind in _ASKS:
            request, fields = outgoing.request.id, {"account": road.account, "key": event.key}
            tx.run("bridge.outside.ask", request=request, token=new_token(), now=self._clock(), **fields)
            self.queue(tx, road, _ASKS[kind], request, road.allowed[0])
        elif kind in _ENDS or outgoing.state == RunState.WAITING_BUDGET:
            self._tell_end(tx, road, outgoing)

    def _tell_end(self, tx: WriteTx, road: Road, outgoing: Outgoing) -> None:
        """What was answered from outside is answered outside: how it ended, or that it paused at a limit."""
        wanted = self._settings.outside.results
        heard = tx.one("bridge.outside.heard", run=outgoing.run) if outgoing.run else None
        if wanted == "never" or (heard is None and wanted != "always"):
            return
        to, answers = (heard["answered_by"], heard["answered_id"]) if heard else (road.allowed[0], "")
        if to not in {one.lower() for one in road.allowed}:  # it was one of them then, and is none now
            to, answers = road.allowed[0], ""
        self.queue(tx, road, "result", "", to, key=outgoing.key, answers=answers, said=(outgoing.subject, ""))

    def queue(
        self,
        tx: WriteTx,
        road: Road,
        kind: str,
        request: str,
        to: str,
        *,
        key: str = "",
        answers: str = "",
        said: tuple[str, str] = ("", ""),
    ) -> bool:
        """Queue a mail; `said` is subject and body of an answer, `answers` the Message-ID it answers, `key` the mail
        at home that it repeats. False: it is queued already, or there were too many of its kind lately.
        """
        now, most = self._clock(), {"answer": ANSWERS_AN_HOUR, "result": RESULTS_AN_HOUR}.get(kind)
        lately = {"account": road.account, "kind": kind, "since": now - HOUR_MS}
        if most is not None and tx.value("bridge.outside.lately", **lately) >= most:
            return False
        subject, body = said
        added = tx.run(
            "bridge.outside.queue",
            account=road.account,
            kind=kind,
            request=request,
            key=key,
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
        if row["kind"] == "result":
            outgoing = self._runtime.outgoing(tx, row["key"])
            return compose_result(outgoing, road, row, self._runtime.display(outgoing.agent)) if outgoing else None
        request = self._runtime.request(tx, row["account"], row["request"])
        if request is None or request.state != "open":
            return None
        return self._ask(tx, road, row["kind"], row["asked"], row["token"], row["created"])

    def _ask(self, tx: ReadTx, road: Road, kind: str, key: str, token: str, at: Millis) -> bytes | None:
        outgoing = self._runtime.outgoing(tx, key)
        if outgoing is None:
            return None
        return compose_ask(outgoing, road, kind, token, self._runtime.display(outgoing.agent), at)

    async def _fail(self, row: sqlite3.Row, why: str, permanent: bool) -> None:
        """Later, for a day; then, or when the relay will never take it, it is told at home of a request
        that still waits.
        """
        if not permanent and self._clock() - row["created"] < PATIENCE_MS:
            await self._settle(row, "queued", why, WAITS_MS[min(row["attempts"], len(WAITS_MS) - 1)])
            return
        log.warning("a mail to the user's real address was given up", extra={"kind": row["kind"], "why": why})
        await self._store.write(lambda tx: self._give_up(tx, row, why))

    def _give_up(self, tx: WriteTx, row: sqlite3.Row, why: str) -> None:
        now = self._clock()
        tx.run("bridge.outside.settle", id=row["id"], state="failed", reply=why[:300], next_at=now)
        request = self._runtime.request(tx, row["account"], row["request"]) if row["request"] else None
        lately = tx.value("bridge.outside.told_since", first=_UNSENT, since=now - HOUR_MS)
        if request is not None and request.state == "open" and lately < TOLD_AN_HOUR:
            self._tell_unsent(tx, request, row, why)

    def _tell_unsent(self, tx: WriteTx, request: RequestInfo, row: sqlite3.Row, why: str) -> None:
        body = notices.UNSENT.format(code=request.code, to=row["recipient"], why=visible(why) or "it gave no reason")
        self._runtime.notice(
            tx,
            key=f"{_UNSENT}{request.id}.{row['kind']}",
            account=request.account,
            agent=request.agent,
            thread=request.thread,
            subject=f"A request could not be sent to you [{request.code}]",
            body=body,
            in_reply_to=request.message_id or None,
        )

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
