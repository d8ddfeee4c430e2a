"""SEARCHRES (RFC 5182): SEARCH RETURN (SAVE), and "$" for what it found wherever a set of messages stands.

The result is kept as UIDs with the selected mailbox, so numbers that move do not matter to it.
"""

from typing import Final

from bridge.imap.dialect import Extension, Feature, SearchReturn, announces

EXTENSION: Final = Extension(
    name="SEARCHRES",
    announce=announces(b"SEARCHRES"),
    search_returns=(SearchReturn(b"SAVE", lambda found, _: None, saves=True, shown=False),),
    features=frozenset({Feature.SAVED_RESULTS}),
    implies=("ESEARCH",),
)
