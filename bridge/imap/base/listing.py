"""LIST and LSUB (RFC 3501 section 6.3.8; the options of RFC 5258 and RFC 6154 when a dialect has them).

Rule: the rows are made once as data (names, what exists, what is subscribed), then chosen by the selection options and
dressed by the return options; special-use and child attributes stand in plain LIST too, where macOS Mail reads them.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final
from unicodedata import is_normalized, normalize

from bridge.imap.command import Command, Done
from bridge.imap.dialect import Dialect, Feature, ListReturn, ListSelection, Mode, Selection
from bridge.imap.session import Session
from bridge.imap.states import LOGGED_IN
from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.render import mailbox_name
from mailstore import mailboxes
from mailstore.errors import NoSuchMailbox
from mailstore.model import AccountId, Mailbox
from mailstore.sqlite import ReadTx

DELIMITER: Final = "/"
LONGEST_PATTERN: Final = 2000  # characters; no name is as long, and reading such a pattern would hold up everybody


@dataclass(frozen=True, slots=True)
class Listing:
    """What a LIST asks for. `returns` pairs each return option with its argument."""

    reference: str
    patterns: tuple[str, ...]
    selects: frozenset[Selection] = frozenset()
    returns: tuple[tuple[ListReturn, Any], ...] = ()
    extended: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One name of the hierarchy; `mailbox` is None for a name that only has children, or is only subscribed to."""

    name: str
    mailbox: Mailbox | None
    subscribed: bool
    has_children: bool
    child_matches: bool = False  # RECURSIVEMATCH: something below it is subscribed


# Reading


def parse_list(cursor: Cursor, dialect: Dialect) -> Listing:
    cursor.sp()
    extended = dialect.has(Feature.EXTENDED_LIST)
    selects: frozenset[Selection] = frozenset()
    if extended and cursor.peek() == b"(":
        options = cursor.parenthesised(partial(_selection, cursor, dialect), empty=True)
        selects = _checked(cursor, frozenset(option.selects for option in options))
        cursor.sp()
        is_extended = True
    else:
        is_extended = False
    reference = cursor.list_mailbox()
    cursor.sp()
    if extended and cursor.peek() == b"(":
        patterns = tuple(cursor.parenthesised(cursor.list_mailbox))
        is_extended = True
    else:
        patterns = (cursor.list_mailbox(),)
    if cursor.utf8:  # a name is found in either of its forms
        patterns = tuple(dict.fromkeys((*patterns, *(normalize("NFC", pattern) for pattern in patterns))))
    returns: Sequence[tuple[ListReturn, Any]] = ()
    if extended and not cursor.at_end:
        returns = _returns(cursor, dialect)
        is_extended = True
    cursor.eol()
    return Listing(reference, patterns, selects, tuple(returns), is_extended)


def _selection(cursor: Cursor, dialect: Dialect) -> ListSelection:
    option = dialect.list_selections.get(cursor.word("a selection option"))
    if option is None:
        cursor.fail("Unknown selection option")
    return option


def _checked(cursor: Cursor, selects: frozenset[Selection]) -> frozenset[Selection]:
    """RFC 5258 section 3.1: RECURSIVEMATCH needs another selection that says what to match below."""
    if Selection.RECURSIVE in selects and not selects - {Selection.RECURSIVE, Selection.REMOTE}:
        cursor.fail("RECURSIVEMATCH needs another selection option")
    return selects


def _returns(cursor: Cursor, dialect: Dialect) -> Sequence[tuple[ListReturn, Any]]:
    cursor.sp()
    if not cursor.try_word(b"RETURN"):
        cursor.fail("Expected RETURN")
    cursor.sp()
    once: dict[bytes, tuple[ListReturn, Any]] = {}  # an option given twice counts once (RFC 9051 section 6.3.9)
    for option, argument in cursor.parenthesised(partial(_return, cursor, dialect), empty=True):
        once.setdefault(option.name, (option, argument))
    return tuple(once.values())


def _return(cursor: Cursor, dialect: Dialect) -> tuple[ListReturn, Any]:
    option = dialect.list_returns.get(cursor.word("a return option"))
    if option is None:
        cursor.fail("Unknown return option")
    return option, option.parse(cursor, dialect) if option.parse else None


def parse_lsub(cursor: Cursor, dialect: Dialect) -> Listing:
    cursor.sp()
    reference = cursor.list_mailbox()
    cursor.sp()
    pattern = cursor.list_mailbox()
    cursor.eol()
    return Listing(reference, (pattern,))


# Matching


def matcher(reference: str, pattern: str) -> Callable[[str], bool]:
    """Whether a name matches reference + pattern: `*` any text, `%` any text without a delimiter; INBOX in any case."""
    whole = reference + pattern
    if whole.partition(DELIMITER)[0].upper() == "INBOX":
        whole = "INBOX" + whole[5:]
    if len(whole) > LONGEST_PATTERN:
        return lambda name: False
    *before, last = whole.split("*")
    parts = [_segment(segment, last=False) for segment in before]
    opening = "".join(f"(?>{part})" if at == 0 else f"(?>.*?{part})" for at, part in enumerate(parts))
    expression = re.compile(opening + (".*" if parts else "") + _segment(last, last=True), re.DOTALL)
    return lambda name: expression.fullmatch(name) is not None


def _segment(segment: str, *, last: bool) -> str:
    """What stands between two `*`. Each `%` takes as little as it can and is never tried again: nothing that follows
    could gain by it, and a pattern full of wildcards would otherwise be tried in every combination."""
    head, *pieces = map(re.escape, segment.split("%"))
    shortest = [f"(?>[^{DELIMITER}]*?{piece})" for piece in pieces]
    if last and pieces:
        shortest[-1] = f"[^{DELIMITER}]*{pieces[-1]}"
    return head + "".join(shortest)


def rows_of(boxes: Sequence[Mailbox], subscriptions: Iterable[str]) -> list[Row]:
    """Every name there is: mailboxes in the store's order, names that only group others, names only subscribed to."""
    by_name = {mailbox.name: mailbox for mailbox in boxes}
    subscribed = set(subscriptions)
    parents = {parent for name in (*by_name, *subscribed) for parent in _parents(name)}
    existing_parents = {parent for name in by_name for parent in _parents(name)}
    names = dict.fromkeys((*by_name, *sorted(parents | subscribed)))
    above = {parent for name in subscribed for parent in _parents(name)}
    return [Row(name, by_name.get(name), name in subscribed, name in existing_parents, name in above) for name in names]


def _parents(name: str) -> Iterable[str]:
    at = name.find(DELIMITER)
    while at > 0:
        yield name[:at]
        at = name.find(DELIMITER, at + 1)


# Choosing


def chosen(listing: Listing, rows: Sequence[Row]) -> list[Row]:
    """The rows that the patterns match and the selection options keep."""
    tests = [matcher(listing.reference, pattern) for pattern in listing.patterns]
    matching = [row for row in rows if any(test(row.name) for test in tests)]
    if Selection.RECURSIVE in listing.selects:
        matching = _with_hidden(matching, rows)
    return [row for row in matching if _selected(listing.selects, row)]


def _with_hidden(matching: Sequence[Row], rows: Sequence[Row]) -> list[Row]:
    """CHILDINFO speaks only of what the patterns themselves do not show (RFC 5258 section 3.5)."""
    shown = {row.name for row in matching}
    hidden = {parent for row in rows if row.subscribed and row.name not in shown for parent in _parents(row.name)}
    return [replace(row, child_matches=row.name in hidden) for row in matching]


def _selected(selects: frozenset[Selection], row: Row) -> bool:
    if Selection.SPECIAL_USE in selects and not (row.mailbox and row.mailbox.special_use):
        return False
    if Selection.SUBSCRIBED in selects:
        return row.subscribed or (Selection.RECURSIVE in selects and row.child_matches)
    return row.mailbox is not None or row.has_children


def _for_children(selects: frozenset[Selection], row: Row) -> bool:
    """Whether a row is told for what is below it alone; of such a one nothing more is told (RFC 9051 6.3.9.8, 11)."""
    return Selection.RECURSIVE in selects and Selection.SUBSCRIBED in selects and not row.subscribed


def attributes(row: Row, listing: Listing, dialect: Dialect) -> list[bytes]:
    """The attributes of a row, the most telling first; one that says that the mailbox cannot be opened leads."""
    found: list[bytes] = []
    if row.mailbox is None:
        found.append(b"\\NonExistent" if listing.extended else b"\\Noselect")
    elif not row.mailbox.selectable:
        found.append(b"\\Noselect")
    if dialect.has(Feature.CHILD_MARKS):
        found.append(b"\\HasChildren" if row.has_children else b"\\HasNoChildren")
    if Selection.SUBSCRIBED in listing.selects and row.subscribed:
        found.append(b"\\Subscribed")
    if dialect.has(Feature.USE_MARKS) and row.mailbox and row.mailbox.special_use:
        found.append(row.mailbox.special_use.encode("ascii"))
    for option, _ in listing.returns:
        found.extend(name for name in (option.attributes(row) if option.attributes else ()) if name not in found)
    return found


# Answering


async def run_list(session: Session, listing: Listing) -> Done:
    if listing.patterns == ("",) and not listing.extended:
        root = listing.reference if listing.reference.startswith(DELIMITER) else ""
        session.say(b'LIST (\\Noselect) "/" ' + _name(session, root[:1]))
        return Done("LIST completed")
    account = session.user().account
    for row in chosen(listing, session.store.read(lambda tx: read_rows(tx, account))):
        marks = attributes(row, listing, session.dialect)
        try:
            further = _further(session, listing, row)
        except NoSuchMailbox:  # it was deleted since the names were read (RFC 5819 section 2)
            further, marks = b"", [b"\\NonExistent", b"\\Noselect", *marks]
        session.write(_line(b"LIST", session, row.name, marks, listing, row) + further)
    return Done("LIST completed")


def _further(session: Session, listing: Listing, row: Row) -> bytes:
    """What is told behind a row, of mailboxes that can be selected. Raises NoSuchMailbox."""
    if row.mailbox is None or not row.mailbox.selectable or _for_children(listing.selects, row):
        return b""
    told = [option.follow(session, row.mailbox, argument) for option, argument in listing.returns if option.follow]
    return b"".join(told)


def read_rows(tx: ReadTx, account: AccountId) -> list[Row]:
    """Every name of the account."""
    return rows_of(mailboxes.all(tx, account), mailboxes.subscriptions(tx, account))


async def run_lsub(session: Session, listing: Listing) -> Done:
    """Subscribed names; with `%`, a name above one that is itself not listed shows as \\Noselect (section 6.3.9)."""
    test = matcher(listing.reference, listing.patterns[0])
    account = session.user().account
    for row in session.store.read(lambda tx: read_rows(tx, account)):
        if not test(row.name):
            continue
        if row.subscribed:
            marks = [] if row.mailbox is None or row.mailbox.selectable else [b"\\Noselect"]
        elif row.child_matches and "%" in listing.patterns[0]:
            marks = [b"\\Noselect"]
        else:
            continue
        session.write(_line(b"LSUB", session, row.name, marks, listing, None))
    return Done("LSUB completed")


def _line(word: bytes, session: Session, name: str, marks: Sequence[bytes], listing: Listing, row: Row | None) -> bytes:
    child = b""
    if row is not None and Selection.RECURSIVE in listing.selects and row.child_matches:
        child = b' ("CHILDINFO" ("SUBSCRIBED"))'
    return b'* %b (%b) "/" %b%b\r\n' % (word, b" ".join(marks), _name(session, name), child)


def _name(session: Session, name: str) -> bytes:
    return mailbox_name(name, session.framer.utf8)


# One mailbox, told outside LIST


def composed(session: Session, name: str) -> str:
    """A name to be made, in Net-Unicode (RFC 9051 section 5.1); modified UTF-7 is kept as it is (RFC 3501 5.1.3)."""
    return normalize("NFC", name) if session.framer.utf8 else name


def introduce(session: Session, mailbox: Mailbox, given: str, marks: Sequence[bytes] | None = None) -> None:
    """LIST of one mailbox, with OLDNAME when the client called it otherwise than it is called (RFC 9051 6.3.9.7)."""
    if marks is None:
        has_children = session.store.read(lambda tx: mailboxes.has_below(tx, mailbox))  # not all names: SELECT tells it
        row = Row(mailbox.name, mailbox, mailbox.subscribed, has_children)
        marks = attributes(row, Listing("", (), frozenset({Selection.SUBSCRIBED})), session.dialect)
    old = b' ("OLDNAME" (%b))' % _name(session, given) if _decomposed(session, given) and given != mailbox.name else b""
    session.say(b'LIST (%b) "/" %b%b' % (b" ".join(marks), _name(session, mailbox.name), old))


def introduce_composed(
    session: Session, mailbox: Mailbox, given: str, *more: str, marks: Sequence[bytes] | None = None
) -> None:
    """The same where only a name that was given otherwise has to be told; `more`: other names that were given."""
    if any(_decomposed(session, name) for name in (given, *more)):
        introduce(session, mailbox, given, marks)


def _decomposed(session: Session, name: str) -> bool:
    return Mode.REV2 in session.modes and not is_normalized("NFC", name)


COMMANDS: Final = (
    Command(b"LIST", LOGGED_IN, parse_list, run_list),
    Command(b"LSUB", LOGGED_IN, parse_lsub, run_lsub),
)
