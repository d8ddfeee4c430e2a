"""CONTEXT=SORT (RFC 5267): SORT RETURN (UPDATE): also where in a sorted result a message comes in, and where it was."""

from typing import Final

from bridge.imap.base.watching import COMMANDS, RETURNS
from bridge.imap.dialect import Extension, Feature, announces

EXTENSION: Final = Extension(
    name="CONTEXT=SORT",
    announce=announces(b"CONTEXT=SORT"),
    commands=COMMANDS,
    search_returns=RETURNS,
    features=frozenset({Feature.SORT_UPDATES}),
    implies=("ESORT",),
    default=False,
)
