"""CONTEXT=SEARCH (RFC 5267): SEARCH RETURN (UPDATE): the client is told what comes into a result and what leaves it."""

from typing import Final

from bridge.imap.base.watching import COMMANDS, RETURNS
from bridge.imap.dialect import Extension, Feature, announces

EXTENSION: Final = Extension(
    name="CONTEXT=SEARCH",
    announce=announces(b"CONTEXT=SEARCH"),
    commands=COMMANDS,
    search_returns=RETURNS,
    features=frozenset({Feature.SEARCH_UPDATES}),
    implies=("ESEARCH",),
    default=False,
)
