"""The commands of IMAP4rev1 (RFC 3501), one family a file. `BASE` puts them together as any extension would."""

from typing import Final

from bridge.imap.base import append, copy, expunge, fetch, flags, general, listing, login, mailboxes, search, select
from bridge.imap.criteria import BASE_KEYS
from bridge.imap.dialect import Extension, Feature, Standing
from bridge.imap.plan import BASE_ITEMS
from bridge.imap.states import State


def _announce(standing: Standing) -> tuple[bytes, ...]:
    """LOGINDISABLED until TLS is on: clients must not even try (RFC 3501 section 6.2.3)."""
    closed = standing.state is State.FRESH and not standing.secure
    return (b"IMAP4rev1", b"LOGINDISABLED") if closed else (b"IMAP4rev1",)


BASE: Final = Extension(
    name="IMAP4rev1",
    announce=_announce,
    commands=(
        *general.COMMANDS,
        *login.COMMANDS,
        *mailboxes.COMMANDS,
        *listing.COMMANDS,
        *select.COMMANDS,
        *append.COMMANDS,
        *fetch.COMMANDS,
        *flags.COMMANDS,
        *search.COMMANDS,
        *copy.COMMANDS,
        *expunge.COMMANDS,
    ),
    fetch_items=tuple(BASE_ITEMS.values()),
    search_keys=tuple(BASE_KEYS.values()),
    status_items=mailboxes.STATUS_ITEMS,
    features=frozenset({Feature.CORE, Feature.NO_LOGIN}),
)
