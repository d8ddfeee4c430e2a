"""SELECT, EXAMINE and CLOSE (RFC 3501 sections 6.3.1, 6.3.2, 6.4.2).

Rule: the list of UIDs and the place in the log come from one snapshot, and the doorbell is subscribed before it, so
that nothing falls between them.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from bridge.imap import sync
from bridge.imap.base.listing import introduce
from bridge.imap.base.mailboxes import read_parameter, selectable
from bridge.imap.command import Command, Done, Traits, nothing
from bridge.imap.dialect import Dialect, Feature, Mode, Parameter
from bridge.imap.session import Session
from bridge.imap.states import IN_MAILBOX, LOGGED_IN, Selected
from bridge.imap.view import View
from bridge.imap.wire import codes
from bridge.imap.wire.cursor import Cursor
from mailstore import flags, mailboxes, messages
from mailstore.model import Mailbox, Snapshot
from mailstore.sqlite import ReadTx, WriteTx


@dataclass(frozen=True, slots=True)
class Opening:
    """What SELECT asks for: a name, and parameters with their values."""

    name: str
    params: tuple[tuple[Parameter, Any], ...] = ()


def parse_select(cursor: Cursor, dialect: Dialect) -> Opening:
    cursor.sp()
    name = cursor.mailbox()
    params: list[tuple[Parameter, Any]] = []
    if dialect.select_params and not cursor.at_end:
        cursor.sp()
        params = cursor.parenthesised(partial(read_parameter, cursor, dialect.select_params))
    cursor.eol()
    return Opening(name, tuple(params))


async def run_select(session: Session, opening: Opening) -> Done:
    return await _open(session, opening, read_only=False)


async def run_examine(session: Session, opening: Opening) -> Done:
    return await _open(session, opening, read_only=True)


async def _open(session: Session, opening: Opening, *, read_only: bool) -> Done:
    """A failed SELECT leaves no mailbox selected (section 6.3.1)."""
    for parameter, value in opening.params:
        if parameter.allow is not None:
            parameter.allow(session, value)
    if session.selected is not None and session.dialect.has(Feature.CLOSED_CODE):
        session.say(b"OK [CLOSED] The mailbox that was open is closed")  # what follows is about another
    session.unselect()
    account = session.user().account
    mailbox = session.store.read(lambda tx: selectable(tx, account, opening.name))
    selected, snapshot, keywords = await _enter(session, mailbox, read_only=read_only)
    session.select(selected)
    _introduce(session, selected, snapshot, keywords, opening.name)
    for parameter, value in opening.params:
        if parameter.apply is not None:
            parameter.apply(session, value)
    word = "EXAMINE" if read_only else "SELECT"
    return Done(f"{word} completed", codes.Code.READ_ONLY.value if read_only else codes.Code.READ_WRITE.value)


async def _enter(session: Session, mailbox: Mailbox, *, read_only: bool) -> tuple[Selected, Snapshot, Sequence[str]]:
    """Count among those who have the mailbox open, be told of changes, and only then look at it, and at the account's
    keywords, in one snapshot."""
    store = session.store
    if mailbox.view is not None:  # who has another open matters to nobody
        await store.sessions.opened(mailbox.id, session)
    unsubscribe = store.doorbell.subscribe(mailbox.id, session.rung)

    def leave() -> None:
        unsubscribe()
        store.sessions.closed(mailbox.id, session)

    with ExitStack() as undo:
        undo.callback(leave)
        await store.load_index(mailbox.id)
        snapshot, keywords = store.read(lambda tx: (store.snapshot(mailbox.id), flags.known(tx, mailbox.account)))
        view = View(mailbox.id, snapshot.uids, snapshot.highest_modseq, session.host.shelf)
        selected = Selected(mailbox, view, store, read_only, leave, stale=True)
        if session.dialect.has(Feature.SAVED_RESULTS):
            selected.saved = ()
        await _claim(session, selected, snapshot)
        undo.pop_all()
    return selected, snapshot, keywords


async def _claim(session: Session, selected: Selected, snapshot: Snapshot) -> None:
    r"""Take what is \Recent; only a session that may write takes it from others (RFC 3501 section 6.3.2)."""
    if Mode.REV2 in session.modes:
        return  # RFC 9051 has no \Recent
    recents, mailbox = session.host.recents, selected.mailbox
    take = recents.unclaimed if selected.read_only else recents.take
    claimed = take(mailbox.id, snapshot.recent_from, snapshot.uidnext - 1)
    if claimed is None:
        return
    selected.view.claim(*claimed)
    if not selected.read_only:
        await session.store.write(lambda tx: flags.claim_recent(tx, mailbox))


def _introduce(session: Session, selected: Selected, snapshot: Snapshot, keywords: Sequence[str], given: str) -> None:
    view = selected.view
    for line in sync.keyword_lines(selected, keywords):
        session.write(line)
    session.say(b"%d EXISTS" % len(view))
    if Mode.REV2 not in session.modes:
        session.say(b"%d RECENT" % view.recent_count())
    first = None if session.modes & {Mode.UIDONLY, Mode.REV2} else snapshot.first_unseen
    if first is not None and (number := view.number(first)):
        session.say(b"OK [" + codes.unseen(number) + b"] First unseen")
    session.say(b"OK [" + codes.uidvalidity(snapshot.uidvalidity) + b"] UIDs are valid")
    session.say(b"OK [" + codes.uidnext(snapshot.uidnext) + b"] Next UID")
    if Mode.REV2 in session.modes:
        introduce(session, selected.mailbox, given)
    for further in session.dialect.introduce:
        session.say(further(snapshot))


async def run_close(session: Session, _: None) -> Done:
    """Expunge what is \\Deleted without telling it, unless the mailbox was opened read-only."""
    selected = session.open_mailbox()
    if not selected.read_only:

        def expunge(tx: WriteTx) -> None:
            messages.expunge(tx, selected.mailbox, None)

        if session.store.read(partial(_has_deleted, selected.mailbox)):
            await session.commit(expunge)
    session.unselect()
    return Done("CLOSE completed")


def _has_deleted(mailbox: Mailbox, tx: ReadTx) -> bool:
    return mailboxes.status(tx, mailbox).deleted > 0


COMMANDS: Final = (
    Command(b"SELECT", LOGGED_IN, parse_select, run_select, Traits(changes_mailbox=True)),
    Command(b"EXAMINE", LOGGED_IN, parse_select, run_examine, Traits(changes_mailbox=True)),
    Command(b"CLOSE", IN_MAILBOX, nothing, run_close, Traits(changes_mailbox=True)),
)
