"""SPECIAL-USE (RFC 6154): \\Sent and its like, always in LIST, and as selection and return option."""

from typing import Final

from bridge.imap.dialect import Extension, Feature, ListReturn, ListSelection, Selection, announces

EXTENSION: Final = Extension(
    name="SPECIAL-USE",
    announce=announces(b"SPECIAL-USE"),
    list_selections=(ListSelection(b"SPECIAL-USE", Selection.SPECIAL_USE),),
    list_returns=(ListReturn(b"SPECIAL-USE"),),  # base.listing shows the attributes whether asked or not
    features=frozenset({Feature.USE_MARKS}),
)
