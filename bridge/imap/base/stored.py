"""FETCH of what never changes of a message: its bytes, stored forms, size and date, without looking at its row.

Rule: what is in memory says which messages are there, how they are flagged and where their bytes are; the store is
asked for the bytes alone, in the order in which it keeps them. Where it lacks any, the rows have to be read instead.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, cast

from bridge.imap import sync
from bridge.imap.dialect import Mode
from bridge.imap.plan import Batch, BodyReader, FetchPlan
from bridge.imap.session import Session
from bridge.imap.states import Selected
from mailstore import messages
from mailstore.facts import Facts
from mailstore.model import ContentId, Uid
from mailstore.sqlite import ReadTx
from mailstore.store import Renderer

BODY_BYTES: Final = 1024 * 1024  # message bytes in a part with bodies, beyond its first message
IN_LOOP_ROWS: Final = 4  # so few are read in the loop: a thread would take longer to reach than they take to read
IN_LOOP_BYTES: Final = 128 * 1024


@dataclass(frozen=True, slots=True)
class _Part:
    """Parallel columns; flags and modseqs only where they are needed."""

    numbers: Sequence[int]
    uids: Sequence[int]
    facts: Facts
    flags: Sequence[bytes] = ()
    modseqs: Sequence[int] = ()

    def cut(self, start: int, stop: int) -> "_Part":
        if stop - start == len(self.uids):
            return self
        return _Part(
            self.numbers[start:stop],
            self.uids[start:stop],
            self.facts.at(range(start, stop)),
            self.flags[start:stop],
            self.modseqs[start:stop],
        )


async def send_stored(
    session: Session, selected: Selected, plan: FetchPlan, numbers: Sequence[int], uids: Sequence[int]
) -> tuple[int, Sequence[int]]:
    """How many messages were sent, and the UIDs from which on their rows have to be read; messages that have left are
    passed over."""
    facts = await session.store.facts(selected.mailbox.id)
    if facts is None:
        return 0, uids
    part = _part(session, selected, plan, facts, numbers, uids)
    by_uid = Mode.UIDONLY in session.modes
    for start, stop in _groups(part.facts.sizes if plan.needs.body else (), len(part.uids)):
        group = part.cut(start, stop)
        pieces = session.store.read(partial(_pieces, plan, group, by_uid, {})) if _is_small(plan, group) else None
        if pieces is None:  # much, or a form is not stored yet and has to be made: not in the loop
            pieces = await session.store.read_slow(partial(_pieces, plan, group, by_uid, session.store.renderers))
        if pieces is None:
            return start, part.uids[start:]
        session.write_pieces(pieces)
        del pieces  # they are large, and are waited for below
        if plan.needs.flags:
            selected.view.forget_flags(map(Uid, group.uids))
        await session.flush_much()
    return len(part.uids), ()


def _part(
    session: Session,
    selected: Selected,
    plan: FetchPlan,
    facts: Facts,
    numbers: Sequence[int],
    uids: Sequence[int],
) -> _Part:
    index = selected.index
    there = index.positions(uids)
    if len(there) < len(uids):
        uids = [facts.uids[at] for at in there]
        numbers = [selected.view.number(uid) for uid in uids]
    flags: Sequence[bytes] = ()
    if plan.needs.flags:
        flags = sync.flag_texts(session, selected, uids, [of for of in index.flag_sets(uids) if of is not None])
    modseqs = [of or 0 for of in index.modseqs(uids)] if plan.needs.modseq else ()
    return _Part(numbers, uids, facts.at(there), flags, modseqs)


def _groups(sizes: Sequence[int], count: int) -> Iterator[tuple[int, int]]:
    """From and up to which message each read goes, so that it takes a bounded number of bytes."""
    start = total = 0
    for at, size in enumerate(sizes):
        total += size
        if total > BODY_BYTES and at > start:
            yield start, at
            start, total = at, size
    if start < count:
        yield start, count


def _is_small(plan: FetchPlan, group: _Part) -> bool:
    return len(group.uids) <= IN_LOOP_ROWS and (not plan.needs.body or sum(group.facts.sizes) <= IN_LOOP_BYTES)


def _pieces(
    plan: FetchPlan, part: _Part, by_uid: bool, renderers: Mapping[str, Renderer], tx: ReadTx
) -> list[bytes] | None:
    """The lines, or None when something is not stored that `renderers` does not make. Runs on a reader's thread too,
    and looks at nothing else."""
    needs = plan.needs
    rows = messages.stored(tx, part.facts, needs.renderings, needs.header, renderers=renderers)
    if rows is None:
        return None
    body: BodyReader = partial(messages.body, tx)
    if needs.body:
        chunks = messages.first_chunks(tx, part.facts.contents)
        if not all(map(chunks.__contains__, part.facts.contents)):
            return None
        body = messages.chunk_reader(tx, chunks)
    batch = Batch(
        part.numbers,
        part.uids,
        flags=part.flags,
        modseqs=part.modseqs,
        rows=rows,
        renderings=needs.renderings,
        body=body,
        forms=rows.forms,
        contents=cast("Sequence[ContentId]", part.facts.contents),
    )
    return plan.pieces(batch, by_uid=by_uid)
