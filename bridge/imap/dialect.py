"""The language a server speaks: the base plus the enabled extensions, merged once at the start.

Rule: extensions contribute to a closed set of places and never touch each other; a clash, an unmet need or an announced
capability that nobody serves is an error at the start, not a surprise for a client. The session is `Any` here, as it is
built upon this module.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from itertools import chain
from types import MappingProxyType
from typing import Any, Protocol, TypeVar

from bridge.imap.command import AnyCommand
from bridge.imap.criteria import SearchKey
from bridge.imap.items.item import FetchItem
from bridge.imap.ordering import SortKey
from bridge.imap.plan import FetchPlan
from bridge.imap.states import Selected, State
from bridge.imap.wire.cursor import Cursor
from config.settings import Settings
from mailstore.model import Mailbox, Snapshot, Status, Uid


class Mode(StrEnum):
    """Extensions that change the others (DECISIONS 19): a closed set which grammar, rendering and transport read."""

    UTF8 = "utf8"
    REV2 = "rev2"
    UIDONLY = "uidonly"
    CONDSTORE = "condstore"
    QRESYNC = "qresync"
    DEFLATE = "deflate"


class Feature(Enum):
    """What the core itself can do once an extension has it announced; each is read at exactly one place."""

    CORE = "the base protocol"
    NONSYNC_LITERALS = "framer: {n+}"
    INITIAL_RESPONSE = "base.login: AUTHENTICATE with an initial response"
    PLAIN = "base.login: AUTHENTICATE PLAIN"
    SCRAM = "base.login: AUTHENTICATE SCRAM-SHA-256"
    LOGIN = "base.login: AUTHENTICATE LOGIN"
    NO_LOGIN = "session: no login without TLS"
    CHILD_MARKS = "base.listing: \\HasChildren, \\HasNoChildren"
    USE_MARKS = "base.listing: special-use attributes"
    EXTENDED_LIST = "base.listing: selection and return options, several patterns"
    CLOSED_CODE = "base.select: CLOSED between two mailboxes"
    OBJECT_IDS = "base.mailboxes: MAILBOXID of a mailbox that was made"
    SAVED_RESULTS = "base.select: $ stands for the result of a search"
    BINARY_LITERALS = "base.append: ~{n}"
    PROGRESS = "service, session: INPROGRESS of a long command"
    SEARCH_UPDATES = "base.watching: results of SEARCH kept up to date"
    SORT_UPDATES = "base.watching: results of SORT kept up to date"
    SORT_RETURNS = "SORT: return options"
    SEVERAL_APPENDS = "base.append: several messages in one APPEND"
    UPDATE_ITEMS = "CONTEXT: what is fetched of a message that comes into a watched result"
    UID_CODES = "base.append, base.copy: APPENDUID and COPYUID"
    APPEND_LIMIT = "framer and base.append: largest message"
    MESSAGE_LIMIT = "base.limit: most messages of one command"


@dataclass(frozen=True, slots=True)
class Standing:
    """What a capability list depends on: where the connection stands, and the configured limits."""

    state: State
    secure: bool  # TLS is on, or login without it is allowed
    tls_possible: bool
    append_limit: int  # bytes
    message_limit: int


Announce = Callable[[Standing], Sequence[bytes]]


@dataclass(frozen=True, slots=True)
class StatusItem:
    """An item of STATUS; `render` gives its value from the mailbox's counters and the settings.

    `turns_on`: modes that asking for it enables (RFC 7162 section 3.1).
    """

    name: bytes
    render: Callable[[Status, Settings], bytes]
    turns_on: tuple[Mode, ...] = ()


@dataclass(frozen=True, slots=True)
class Parameter:
    """A named parameter of a command. `parse` reads its value and the space before it; None: it has none.

    Of SELECT: `allow` may refuse it before anything is done, `apply` is called when the SELECT has succeeded with it.
    Of CREATE: `apply` gives what goes to the store. STORE and FETCH read their parameters themselves.
    """

    name: bytes
    parse: Callable[[Cursor], Any] | None = None
    allow: Callable[[Any, Any], None] | None = None
    apply: Callable[[Any, Any], Any] | None = None


class Selection(Enum):
    """What a LIST selection option asks for."""

    SUBSCRIBED = "subscribed"
    SPECIAL_USE = "special-use"
    REMOTE = "remote"
    RECURSIVE = "recursivematch"


@dataclass(frozen=True, slots=True)
class ListSelection:
    name: bytes
    selects: Selection


class ListRow(Protocol):
    """What an extension sees of a row of LIST."""

    @property
    def mailbox(self) -> Mailbox | None: ...
    @property
    def subscribed(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class ListReturn:
    """A LIST return option: attributes it adds to a row, and a line it writes behind a row of a selectable mailbox."""

    name: bytes
    parse: Callable[[Cursor, "Dialect"], Any] | None = None
    attributes: Callable[[ListRow], Sequence[bytes]] | None = None
    follow: Callable[[Any, Mailbox, Any], bytes] | None = None


@dataclass(frozen=True, slots=True)
class SearchReturn:
    """A return option of SEARCH and SORT. What was found is given in the order of the answer.

    `parse` reads an argument and the space before it, if there is one. `render` makes the option's part of ESEARCH from
    what was found (numbers or UIDs, as the client asked) and the argument, or None. `part`: the piece of the result
    that it speaks of; without it, all of it (what SAVE keeps, and what MODSEQ is the highest of, follows from that).
    `saves`: it is SAVE, which has the result kept as "$". `shown`: without it, the option has no part in the answer.
    `watch`: called when the answer has been given, with session, mailbox and the search as base.search.Asked; it may
    have the result kept up to date. A tag stands for one such search at a time.
    """

    name: bytes
    render: Callable[[Sequence[int], Any], bytes | None]
    parse: Callable[[Cursor, "Dialect"], Any] | None = None
    part: Callable[[Sequence[int], Any], Sequence[int]] | None = None
    saves: bool = False
    shown: bool = True
    watch: Callable[[Any, Selected, Any], None] | None = None


@dataclass(frozen=True, slots=True)
class AppendData:
    """A form in which APPEND may be given a message instead of a literal: `NAME (...)`.

    `parse` reads what follows the name. `gather` makes the bytes of it when the command runs.
    """

    name: bytes
    parse: Callable[[Cursor], Any]
    gather: Callable[[Any, Any], Awaitable[bytes]]


TellGone = Callable[[Selected, Sequence[tuple[int, Uid]]], list[bytes]]
"""Departures (number, UID) as whole lines, instead of EXPUNGE."""
TellFlags = Callable[[Selected, Uid], bytes]
"""An item to add to a FETCH answer that tells the flags of a message."""
Introduce = Callable[[Snapshot], bytes]
"""A further untagged line (without `* ` and CRLF) of SELECT."""


@dataclass(frozen=True, slots=True)
class Extension:
    """Everything one extension adds. `name` is what settings call it; `default` whether "default" includes it."""

    name: str
    announce: Announce | None = None
    commands: tuple[AnyCommand, ...] = ()
    fetch_items: tuple[FetchItem, ...] = ()
    search_keys: tuple[SearchKey, ...] = ()
    status_items: tuple[StatusItem, ...] = ()
    select_params: tuple[Parameter, ...] = ()
    store_params: tuple[Parameter, ...] = ()
    fetch_params: tuple[Parameter, ...] = ()
    create_params: tuple[Parameter, ...] = ()
    search_returns: tuple[SearchReturn, ...] = ()
    sort_keys: tuple[SortKey, ...] = ()
    append_data: tuple[AppendData, ...] = ()
    list_selections: tuple[ListSelection, ...] = ()
    list_returns: tuple[ListReturn, ...] = ()
    enables: Mapping[bytes, tuple[Mode, ...]] = field(default_factory=lambda: MappingProxyType({}))
    features: frozenset[Feature] = frozenset()
    implies: tuple[str, ...] = ()
    tell_gone: tuple[Mode, TellGone] | None = None
    tell_flags: tuple[Mode, TellFlags] | None = None
    introduce: Introduce | None = None
    default: bool = True


def announces(*names: bytes, in_clear: bool = False) -> Announce:
    """The usual announcement: fixed names, once they can be of use; `in_clear`: also to who has to start TLS first."""

    def announce(standing: Standing) -> Sequence[bytes]:
        return names if in_clear or standing.secure else ()

    return announce


class DialectError(Exception):
    """The extensions do not fit together; the text names both sides."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """The merged tables. Read-only; one for all sessions of a service."""

    extensions: tuple[Extension, ...]
    features: frozenset[Feature]
    commands: Mapping[bytes, AnyCommand]
    fetch_items: Mapping[bytes, FetchItem]
    search_keys: Mapping[bytes, SearchKey]
    status_items: Mapping[bytes, StatusItem]
    select_params: Mapping[bytes, Parameter]
    store_params: Mapping[bytes, Parameter]
    fetch_params: Mapping[bytes, Parameter]
    create_params: Mapping[bytes, Parameter]
    search_returns: Mapping[bytes, SearchReturn]
    sort_keys: Mapping[bytes, SortKey]
    append_data: Mapping[bytes, AppendData]
    list_selections: Mapping[bytes, ListSelection]
    list_returns: Mapping[bytes, ListReturn]
    enables: Mapping[bytes, tuple[Mode, ...]]
    tell_gone: Mapping[Mode, TellGone]
    tell_flags: Mapping[Mode, TellFlags]
    introduce: tuple[Introduce, ...]
    announced: dict[Standing, tuple[bytes, ...]] = field(default_factory=dict, repr=False, compare=False)
    """What was announced before, as every client is told several times."""
    plans: dict[tuple[bool, bytes], FetchPlan] = field(default_factory=dict, repr=False, compare=False)
    """What FETCH and UID FETCH (true) have asked for before, by its text."""

    def has(self, feature: Feature) -> bool:
        return feature in self.features

    def capabilities(self, standing: Standing) -> tuple[bytes, ...]:
        """What to announce now, in the order of the registry, each once."""
        known = self.announced.get(standing)
        if known is None:
            told = (extension.announce(standing) for extension in self.extensions if extension.announce)
            known = self.announced[standing] = tuple(dict.fromkeys(chain.from_iterable(told)))
        return known


def merge(extensions: Sequence[Extension]) -> Dialect:
    """Put the extensions together. Raises DialectError for a clash, a missing need, or an empty announcement."""
    names = [extension.name for extension in extensions]
    _refuse_twice(names)
    for extension in extensions:
        _check(extension, names)
    return Dialect(
        extensions=tuple(extensions),
        features=frozenset(feature for extension in extensions for feature in extension.features),
        commands=_table(extensions, "command", lambda e: [(c.name, c) for c in e.commands]),
        fetch_items=_table(extensions, "fetch item", lambda e: [(i.name, i) for i in e.fetch_items]),
        search_keys=_table(extensions, "search key", lambda e: [(k.name, k) for k in e.search_keys]),
        status_items=_table(extensions, "status item", lambda e: [(i.name, i) for i in e.status_items]),
        select_params=_table(extensions, "SELECT parameter", lambda e: [(p.name, p) for p in e.select_params]),
        store_params=_table(extensions, "STORE parameter", lambda e: [(p.name, p) for p in e.store_params]),
        fetch_params=_table(extensions, "FETCH parameter", lambda e: [(p.name, p) for p in e.fetch_params]),
        create_params=_table(extensions, "CREATE parameter", lambda e: [(p.name, p) for p in e.create_params]),
        sort_keys=_table(extensions, "sort criterion", lambda e: [(k.name, k) for k in e.sort_keys]),
        append_data=_table(extensions, "form of APPEND", lambda e: [(d.name, d) for d in e.append_data]),
        search_returns=_table(extensions, "SEARCH return option", lambda e: [(p.name, p) for p in e.search_returns]),
        list_selections=_table(extensions, "LIST selection", lambda e: [(s.name, s) for s in e.list_selections]),
        list_returns=_table(extensions, "LIST return option", lambda e: [(r.name, r) for r in e.list_returns]),
        enables=_table(extensions, "ENABLE name", lambda e: list(e.enables.items())),
        tell_gone=_table(extensions, "way to tell departures", lambda e: [e.tell_gone] if e.tell_gone else []),
        tell_flags=_table(extensions, "way to tell flags", lambda e: [e.tell_flags] if e.tell_flags else []),
        introduce=tuple(extension.introduce for extension in extensions if extension.introduce),
    )


K = TypeVar("K")
V = TypeVar("V")


def _table(
    extensions: Iterable[Extension], kind: str, entries: Callable[[Extension], Iterable[tuple[K, V]]]
) -> Mapping[K, V]:
    merged: dict[K, V] = {}
    owner: dict[K, str] = {}
    for extension in extensions:
        for key, value in entries(extension):
            if key in owner and merged[key] is not value:  # one thing may belong to two extensions
                raise DialectError(f"{kind} {_show(key)} is given by both {owner[key]} and {extension.name}")
            merged[key], owner[key] = value, extension.name
    return MappingProxyType(merged)


def _show(key: object) -> str:
    return key.decode("ascii", "replace") if isinstance(key, bytes) else str(key)


def _refuse_twice(names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise DialectError(f"extension {name} is registered twice")


def _check(extension: Extension, names: Sequence[str]) -> None:
    missing = [need for need in extension.implies if need not in names]
    if missing:
        raise DialectError(f"{extension.name} needs {', '.join(missing)}, which is not enabled")
    if extension.announce and not _serves(extension):
        raise DialectError(f"{extension.name} is announced, but nothing serves it")


def _serves(extension: Extension) -> bool:
    return bool(
        extension.commands
        or extension.fetch_items
        or extension.search_keys
        or extension.status_items
        or extension.select_params
        or extension.store_params
        or extension.fetch_params
        or extension.create_params
        or extension.search_returns
        or extension.sort_keys
        or extension.append_data
        or extension.list_selections
        or extension.list_returns
        or extension.enables
        or extension.features
    )
