"""LIST-EXTENDED (RFC 5258): selection and return options, several patterns; the reading is base.listing's."""

from typing import Final

from bridge.imap.dialect import Extension, Feature, ListReturn, ListRow, ListSelection, Selection, announces


def _subscribed(row: ListRow) -> tuple[bytes, ...]:
    return (b"\\Subscribed",) if row.subscribed else ()


EXTENSION: Final = Extension(
    name="LIST-EXTENDED",
    announce=announces(b"LIST-EXTENDED"),
    list_selections=(
        ListSelection(b"SUBSCRIBED", Selection.SUBSCRIBED),
        ListSelection(b"REMOTE", Selection.REMOTE),
        ListSelection(b"RECURSIVEMATCH", Selection.RECURSIVE),
    ),
    list_returns=(
        ListReturn(b"SUBSCRIBED", attributes=_subscribed),
        ListReturn(b"CHILDREN"),  # base.listing shows them whether asked or not
    ),
    features=frozenset({Feature.EXTENDED_LIST}),
)
