"""FETCH and UID FETCH (RFC 3501 section 6.4.5).

Rule: an answer goes out in parts of bounded size, each read from one snapshot and sent before the next is read, so
that neither a large mailbox nor a slow client fills the memory. What the index knows is not asked of the store.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from bridge.imap import sync
from bridge.imap.base.flags import completed
from bridge.imap.base.limit import refuse_more, share, told
from bridge.imap.base.mailboxes import read_parameter
from bridge.imap.base.own import change, pieces, positions, uids_at
from bridge.imap.base.partial import Piece, cut
from bridge.imap.base.stored import BODY_BYTES, IN_LOOP_BYTES, IN_LOOP_ROWS, send_stored
from bridge.imap.command import Command, Done, Refused, Traits
from bridge.imap.dialect import Dialect, Mode
from bridge.imap.plan import Batch, FetchPlan
from bridge.imap.session import Session
from bridge.imap.states import IN_MAILBOX, Selected
from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.seqset import SeqSet, merge
from mailstore import flags, messages
from mailstore.errors import NotStored
from mailstore.model import SEEN, FetchRow, FlagOp, Uid
from mailstore.sqlite import ReadTx
from mailstore.store import Renderer

PLANS: Final = 256  # kept by their text
PLAN_BYTES: Final = 1024
FROM_INDEX: Final = 5000  # messages in a part when only the index is needed
FROM_ROWS: Final = 250  # few enough to stay in the processor's cache: larger parts took up to a third more of its time
FROM_STORE: Final = 500  # when only what is stored beside the rows is needed

_Rows = tuple[list[FetchRow], list[bytes], list[Sequence[FetchRow]]]


@dataclass(frozen=True, slots=True)
class Fetching:
    """`changed_since` leaves out messages that have not changed after that modseq (RFC 7162 CHANGEDSINCE), of what is
    left `piece` cuts out a part (RFC 9394 PARTIAL); `vanished`: tell also what has left since (RFC 7162 VANISHED)."""

    messages: SeqSet
    plan: FetchPlan
    changed_since: int | None = None
    piece: Piece | None = None
    vanished: bool = False


def parse_fetch(cursor: Cursor, dialect: Dialect, *, uid: bool) -> Fetching:
    cursor.sp()
    wanted = cursor.seqset()
    cursor.sp()
    plan = _plan(cursor, dialect, uid=uid)
    params: dict[bytes, Any] = {}
    if dialect.fetch_params and not cursor.at_end:
        cursor.sp()
        read = cursor.parenthesised(partial(read_parameter, cursor, dialect.fetch_params))
        params = {parameter.name: value for parameter, value in read}
    cursor.eol()
    since = params.get(b"CHANGEDSINCE")
    if since is not None:
        plan = plan.with_item(dialect.fetch_items[b"MODSEQ"])
    if params.keys() & {b"PARTIAL", b"VANISHED"} and not uid:
        cursor.fail("This parameter belongs to UID FETCH")
    if b"VANISHED" in params and since is None:
        cursor.fail("VANISHED needs CHANGEDSINCE")
    return Fetching(wanted, plan, since, params.get(b"PARTIAL"), b"VANISHED" in params)


def _plan(cursor: Cursor, dialect: Dialect, *, uid: bool) -> FetchPlan:
    """What is asked for. A client asks for the same again and again, so what was read once is kept by its text."""
    asked = (uid, cursor.text[cursor.pos :])
    known = None if cursor.has_literals else dialect.plans.get(asked)
    if known is not None:
        cursor.pos = len(cursor.text)
        return known
    plan = FetchPlan.compile(cursor, dialect.fetch_items, uid=uid)
    if cursor.at_end and not cursor.has_literals and len(asked[1]) <= PLAN_BYTES:
        if len(dialect.plans) >= PLANS:
            dialect.plans.clear()
        dialect.plans[asked] = plan
    return plan


async def run_fetch(session: Session, wanted: Fetching, *, uid: bool) -> Done:
    selected = session.open_mailbox()
    spans: Sequence[range] = positions(selected, wanted.messages, uid=uid)
    plan = wanted.plan
    if plan.needs.modseq:
        session.turn_on((Mode.CONDSTORE,))
    if wanted.changed_since is not None:
        if wanted.vanished:
            if Mode.QRESYNC not in session.modes:
                raise Refused("VANISHED needs ENABLE QRESYNC", bad=True)
            session.write(sync.vanished_earlier(session, selected, wanted.changed_since, wanted.messages))
        spans = _changed(selected, spans, wanted.changed_since)
    if wanted.piece is not None:
        spans = cut(spans, wanted.piece)
        refuse_more(session, sum(map(len, spans)))
    part = share(session, selected, spans)
    spans = part.spans
    if plan.sets_seen and not selected.read_only and await _see(session, selected, spans):
        plan = _with_told(session, plan)
    done = await send(session, selected, plan, spans)
    if plan.needs.modseq:
        selected.stale = True  # what has been told may be newer than the log that has been read
    limited = part.code is not None
    answer = completed("UID FETCH" if uid else "FETCH", sum(map(len, spans)), done, uid=uid, limited=limited)
    return told(session, answer, part.code)


async def send(session: Session, selected: Selected, plan: FetchPlan, spans: Sequence[range]) -> int:
    """FETCH lines of the messages at these positions; how many of them are still there."""
    if _by_uid(session):
        plan = plan.without_uid()
    needs = plan.needs
    if needs.flags:
        session.write(b"".join(sync.new_keywords(session, selected)))
    size = FROM_ROWS if needs.rows else FROM_STORE if needs.reads_store else FROM_INDEX
    done = 0
    for part in pieces(spans, size):
        if needs.rows:
            done += await _send_rows(session, selected, plan, uids_at(selected, part))
        elif needs.reads_store:
            done += await _send_stored(session, selected, plan, part)
        else:
            done += await _send_indexed(session, selected, plan, part)
    return done


def _by_uid(session: Session) -> bool:
    return Mode.UIDONLY in session.modes


def _with_told(session: Session, plan: FetchPlan) -> FetchPlan:
    """The plan with what is told of a message whose flags have changed (RFC 7162 section 3.2.4: UID and MODSEQ too)."""
    plan = plan.with_flags()
    if Mode.CONDSTORE not in session.modes:
        return plan
    return plan.with_uid().with_item(session.dialect.fetch_items[b"MODSEQ"])


def _changed(selected: Selected, spans: Sequence[range], since: int) -> list[range]:
    """The positions whose message has changed after a modseq."""
    mine = selected.view.uids
    changed = set(selected.index.changed_since(since))
    return merge((at, at + 1) for span in spans for at in span if mine[at] in changed)


async def _see(session: Session, selected: Selected, spans: Sequence[range]) -> bool:
    """Mark the unread ones among the messages read; whether there were any. The answer carries their flags."""
    index = selected.index
    unread = [uid for uid in uids_at(selected, spans) if (of := index.flag_set(uid)) and not of.bits & SEEN]
    if not unread:
        return False
    await change(session, selected, lambda tx: flags.store(tx, selected.mailbox, unread, FlagOp.ADD, ("\\Seen",)))
    return True


async def _send_indexed(session: Session, selected: Selected, plan: FetchPlan, part: Sequence[range]) -> int:
    """A part that needs no SQL. Messages that have left are passed over, unless only what they are called is asked for:
    until the client is told of their leaving that is as true as before (RFC 2180 section 4.1)."""
    numbers, uids = _named(selected, part)
    if not plan.needs.flags and not plan.needs.modseq:
        session.write(plan.render(Batch(numbers, uids), by_uid=_by_uid(session)))
        await session.flush_much()
        return len(numbers)
    there = selected.index.flag_sets(uids)
    sets = [flag_set for flag_set in there if flag_set is not None]
    if len(sets) < len(there):
        kept = [at for at, flag_set in enumerate(there) if flag_set is not None]
        numbers, uids = [numbers[at] for at in kept], [uids[at] for at in kept]
    modseqs = [of or 0 for of in selected.index.modseqs(uids)] if plan.needs.modseq else ()
    texts = sync.flag_texts(session, selected, uids, sets) if plan.needs.flags else ()
    session.write(plan.render(Batch(numbers, uids, flags=texts, modseqs=modseqs), by_uid=_by_uid(session)))
    await session.flush_much()
    return len(numbers)


def _named(selected: Selected, part: Sequence[range]) -> tuple[Sequence[int], Sequence[int]]:
    """Numbers and UIDs at the positions; one run of positions, the usual case, is cut out whole."""
    mine = selected.view.uids
    if len(part) == 1:
        return range(part[0].start + 1, part[0].stop + 1), mine[part[0].start : part[0].stop]
    numbers = [at + 1 for span in part for at in span]
    return numbers, [mine[number - 1] for number in numbers]


async def _send_stored(session: Session, selected: Selected, plan: FetchPlan, part: Sequence[range]) -> int:
    """A part for which what is stored is enough; the rows are read where it is not."""
    sent, rest = await send_stored(session, selected, plan, *_named(selected, part))
    return sent + (await _send_rows(session, selected, plan, [Uid(uid) for uid in rest]) if rest else 0)


async def _send_rows(session: Session, selected: Selected, plan: FetchPlan, wanted: Sequence[Uid]) -> int:
    """A part whose rows are in the store; bodies are read a bounded number of bytes at a time."""
    needs = plan.needs
    few = len(wanted) <= IN_LOOP_ROWS

    def read(tx: ReadTx, renderers: Mapping[str, Renderer]) -> _Rows:
        """The rows, what is said of the first ones, and the others in groups; in the loop only what is small."""
        rows = messages.fetch(tx, selected.mailbox, wanted, needs.renderings, needs.header, renderers=renderers)
        if not needs.body:
            return rows, _rendered(session, selected, plan, rows, tx), []
        groups = list(_groups(rows))
        if not groups or (few and sum(row.size for row in rows) > IN_LOOP_BYTES):
            return rows, [], groups
        return rows, _rendered(session, selected, plan, groups[0], tx), groups[1:]

    found: _Rows | None = None
    if few:
        with suppress(NotStored):  # a form that has to be made first is not made in the loop
            found = session.store.read(partial(read, renderers={}))
    if found is None:
        found = await session.store.read_slow(partial(read, renderers=session.store.renderers))
    rows, pieces, groups = found
    if needs.flags:
        selected.view.forget_flags([row.uid for row in rows])
    session.write_pieces(pieces)
    del pieces  # they are large, and are waited for below
    await session.flush_much()
    for group in groups:
        session.write_pieces(await session.store.read_slow(partial(_rendered, session, selected, plan, group)))
        await session.flush_much()
    return len(rows)


def _groups(rows: Sequence[FetchRow]) -> Iterator[Sequence[FetchRow]]:
    """The rows in groups with a bounded number of message bytes."""
    start = total = 0
    for at, row in enumerate(rows):
        total += row.size
        if total > BODY_BYTES and at > start:
            yield rows[start:at]
            start, total = at, row.size
    if start < len(rows):
        yield rows[start:]


def _rendered(
    session: Session, selected: Selected, plan: FetchPlan, rows: Sequence[FetchRow], tx: ReadTx
) -> list[bytes]:
    """The lines of these rows. Runs on a reader's thread too: while a command runs, nobody else changes its view."""
    body = messages.body_reader(tx, [row.content for row in rows]) if plan.needs.body else partial(messages.body, tx)
    uids = [row.uid for row in rows]
    batch = Batch(
        [selected.view.number(uid) for uid in uids],
        uids,
        flags=[_row_flags(session, selected, row) for row in rows] if plan.needs.flags else (),
        modseqs=[row.modseq for row in rows],
        rows=rows,
        renderings=plan.needs.renderings,
        body=body,
        whole=rows,
    )
    return plan.pieces(batch, by_uid=_by_uid(session))


def _row_flags(session: Session, selected: Selected, row: FetchRow) -> bytes:
    """The flags as the row has them; they may be newer than the index, never older than what is in the view."""
    view = selected.view
    recent = bool(view.recent) and view.is_recent(row.uid)
    return session.flag_texts.keyed(row.flag_key, row.flags_bits, row.keywords, recent=recent)


COMMANDS: Final = (
    Command(
        b"FETCH",
        IN_MAILBOX,
        partial(parse_fetch, uid=False),
        partial(run_fetch, uid=False),
        Traits(uses_numbers=True, tells_gone=False),
    ),
    Command(b"UID FETCH", IN_MAILBOX, partial(parse_fetch, uid=True), partial(run_fetch, uid=True)),
)
