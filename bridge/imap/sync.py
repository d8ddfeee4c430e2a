"""News of the selected mailbox to the wire: read the change log, fold it into the view, say what may be said.

Rule: the log is the truth. A doorbell only says that there is something to read, and nothing is said that the log and
the mailbox index do not say.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import chain, compress
from typing import Final, Protocol

from bridge.imap.dialect import Dialect, Mode
from bridge.imap.host import Host
from bridge.imap.items.flags import FlagTexts
from bridge.imap.pipeline import News
from bridge.imap.states import Selected
from bridge.imap.view import Told
from bridge.imap.wire import codes
from bridge.imap.wire.grammar import MAX_NUMBER
from bridge.imap.wire.render import flag_list, number_set, range_set
from bridge.imap.wire.seqset import SeqSet, overlap, without
from mailstore import changes, flags
from mailstore.keywords import MAX_KEYWORDS
from mailstore.model import Delta, FlagSet, ModSeq, Snapshot, Uid
from mailstore.store import Store

SYSTEM_FLAGS: Final = ("\\Answered", "\\Flagged", "\\Deleted", "\\Seen", "\\Draft")


class Reader(Protocol):
    """The session, as far as telling news needs it."""

    selected: Selected | None
    modes: frozenset[Mode]
    dialect: Dialect

    @property
    def tells_uids(self) -> bool: ...
    @property
    def store(self) -> Store: ...
    @property
    def host(self) -> Host: ...
    @property
    def flag_texts(self) -> FlagTexts: ...
    def write(self, data: bytes) -> None: ...


def catch_up(session: Reader, news: News) -> bool:
    """Tell what may be told; whether anything was said. Raises NoSuchMailbox when the mailbox is gone."""
    selected = session.selected
    if selected is None or not news.any:
        return False
    if selected.stale:
        note(session, selected)
        selected.stale = False
    lines: list[bytes] = []
    if selected.view.pending:
        lines = render_told(session, selected, selected.view.tell(gone=news.gone, flags=news.flags))
    if Mode.QRESYNC in session.modes:
        lines += _place(selected)
    if lines:
        session.write(b"".join(lines))
    return bool(lines)


def _place(selected: Selected) -> list[bytes]:
    """How far the client may believe to know everything, while departures wait to be told (RFC 7162 section 3.2).

    A client takes the highest modseq that it hears for that, and would not ask for the departures when it comes back
    after losing the connection now. Once they have been told it hears that too.
    """
    view = selected.view
    waits = bool(view.withheld) or selected.index.highest_modseq > view.modseq
    if not waits and not selected.held_back:
        return []
    selected.held_back = waits
    at = codes.highestmodseq(view.settled if waits else view.modseq)
    return [b"* OK [%b] %b\r\n" % (at, b"Departures are yet to be told" if waits else b"All is told")]


def note(session: Reader, selected: Selected) -> None:
    """Fold in what the log holds beyond the view. A point read, in the loop."""
    view, mailbox = selected.view, selected.mailbox
    delta = session.store.read(lambda tx: changes.since(tx, mailbox, view.modseq))
    if not delta.complete:
        delta = _whole(selected, delta, session.store.read(lambda tx: changes.snapshot(tx, mailbox)))
    fold(session, selected, delta)


def _whole(selected: Selected, delta: Delta, snapshot: Snapshot) -> Delta:
    """For a session older than the log: what is gone and new by comparing the whole lists."""
    there, mine = set(snapshot.uids), selected.view.uids
    gone = [Uid(uid) for uid in mine if uid not in there]
    arrived = [Uid(uid) for uid in snapshot.uids if not mine or uid > mine[-1]]
    return Delta(snapshot.highest_modseq, arrived, gone, delta.changed)


def fold(session: Reader, selected: Selected, delta: Delta, *, silent: bool = False) -> None:
    """Fold a piece of the log into the view; of what is new, claim what nobody has been told to be \\Recent.

    A read may see a commit whose doorbell has not rung yet: then the index is told to look again, as flags are told
    from it and would be those before the change.
    """
    selected.view.note(delta, silent=silent)
    if selected.index.highest_modseq < delta.highest:
        selected.index.stale = True
    if delta.arrived and not selected.read_only and Mode.REV2 not in session.modes:
        claimed = session.host.recents.take(selected.mailbox.id, delta.arrived[0], delta.arrived[-1])
        if claimed is not None:
            selected.view.claim(*claimed)
            session.host.note_claim(selected.mailbox)


def render_told(session: Reader, selected: Selected, told: Told) -> list[bytes]:
    """The untagged lines for a round of news, in its order."""
    lines = new_keywords(session, selected) if told.flags else []
    if told.gone:
        lines += [watch.leaving(told.gone) for watch in selected.watches.values()]
        lines += _gone(session, selected, told.gone)
    if told.exists is not None:
        lines.append(b"* %d EXISTS\r\n" % told.exists)
    if told.recent is not None and Mode.REV2 not in session.modes:
        lines.append(b"* %d RECENT\r\n" % told.recent)
    if told.flags:
        lines += flag_lines(session, selected, told.flags, uid=session.tells_uids)
    return lines


def new_keywords(session: Reader, selected: Selected) -> list[bytes]:
    """FLAGS and PERMANENTFLAGS once more when keywords have been added: they must be known before FETCH uses them."""
    keywords = session.store.read(lambda tx: flags.known(tx, selected.mailbox.account))
    return keyword_lines(selected, keywords) if len(keywords) > selected.keywords else []


def last_keywords(session: Reader, selected: Selected) -> list[bytes]:
    """The same when no more can be made from now on, which must be told at once (RFC 9051 section 7.1)."""
    keywords = session.store.read(lambda tx: flags.known(tx, selected.mailbox.account))
    return keyword_lines(selected, keywords) if len(keywords) == MAX_KEYWORDS > selected.keywords else []


def keyword_lines(selected: Selected, keywords: Sequence[str]) -> list[bytes]:
    """What flags there are, and which of them the client may keep."""
    selected.keywords = len(keywords)
    names = (*SYSTEM_FLAGS, *keywords)
    more = ("\\*",) if len(keywords) < MAX_KEYWORDS else ()  # no more can be made (RFC 9051 section 7.1)
    permanent = () if selected.read_only else (*names, *more)
    return [
        b"* FLAGS %b\r\n" % flag_list(names),
        b"* OK [%b] Flags that can be kept\r\n" % codes.permanentflags(permanent),
    ]


def _gone(session: Reader, selected: Selected, gone: Sequence[tuple[int, Uid]]) -> list[bytes]:
    for mode, tell in session.dialect.tell_gone.items():
        if mode in session.modes:
            return tell(selected, gone)
    return [b"* %d EXPUNGE\r\n" * len(gone) % tuple([number for number, _ in gone])]


def vanished_earlier(session: Reader, selected: Selected, modseq: int, among: SeqSet | None, first: int = 1) -> bytes:
    """VANISHED (EARLIER): UIDs from `first` on that left after `modseq`, of those named (RFC 7162 section 3.2.10).

    What the client still counts is left out: it is told of that by VANISHED itself. `n:*` goes on without end here, as
    what has left may have had higher UIDs than what is there.
    """
    mailbox, mine = selected.mailbox, selected.view.uids
    gone = session.store.read(lambda tx: changes.expunged_since(tx, mailbox, ModSeq(modseq)))
    named = [(1, MAX_NUMBER)] if among is None else among.uid_ranges(MAX_NUMBER)
    left = without(overlap(overlap(gone, named), [(first, MAX_NUMBER)]), mine)
    return b"* VANISHED (EARLIER) %b\r\n" % range_set(left) if left else b""


def vanished(selected: Selected, gone: Sequence[tuple[int, Uid]]) -> list[bytes]:
    """Departures by UID, for modes that tell them so."""
    return [b"* VANISHED %b\r\n" % number_set(sorted(uid for _, uid in gone))]


def flag_lines(
    session: Reader, selected: Selected, messages: Sequence[tuple[int, Uid]], *, uid: bool = False
) -> list[bytes]:
    """FETCH lines with the present flags of messages (number, UID). `uid`: with the UID, as UID commands must have."""
    if not messages:
        return []
    numbers, uids = zip(*messages, strict=True)
    return flag_columns(session, selected, numbers, uids, uid=uid)


def flag_columns(
    session: Reader,
    selected: Selected,
    numbers: Sequence[int],
    uids: Sequence[Uid],
    *,
    uid: bool = False,
    flags: bool = True,
) -> list[bytes]:
    """The same for numbers and UIDs as columns.

    Without `flags` only what the session's modes add is told: the client knows the flags, as it set them silently.
    """
    uid = uid or Mode.CONDSTORE in session.modes  # RFC 7162 section 3.2.4, which has that of QRESYNC too
    by_uid = Mode.UIDONLY in session.modes
    extras = [extra for mode, extra in session.dialect.tell_flags.items() if mode in session.modes]
    sets = selected.index.flag_sets(uids)
    there = [flag_set for flag_set in sets if flag_set is not None]
    if not there:
        return []
    if len(there) < len(sets):
        known = [flag_set is not None for flag_set in sets]
        numbers, uids = list(compress(numbers, known)), list(compress(uids, known))
    items: list[bytes] = []
    columns: list[Sequence[int | bytes]] = [uids if by_uid else numbers]
    if uid and not by_uid:
        items.append(b"UID %d")
        columns.append(uids)
    if flags:
        items.append(b"FLAGS (%b)")
        columns.append(flag_texts(session, selected, uids, there))
    for extra in extras:
        items.append(b"%b")
        columns.append([extra(selected, of) for of in uids])
    line = (b"* %d UIDFETCH (" if by_uid else b"* %d FETCH (") + b" ".join(items) + b")\r\n"
    return [line * len(there) % tuple(chain.from_iterable(zip(*columns, strict=True)))]


def flag_texts(session: Reader, selected: Selected, uids: Sequence[int], sets: Sequence[FlagSet]) -> list[bytes]:
    """The texts of FLAGS of messages (UIDs ascending); the plain column is made at once, and \\Recent is put in where
    this session has it."""
    memo = session.flag_texts
    texts = memo.many(sets)
    for first, last in selected.view.recent:
        span = slice(bisect_left(uids, first), bisect_right(uids, last))
        texts[span] = memo.many(sets[span], recent=True)
    return texts
