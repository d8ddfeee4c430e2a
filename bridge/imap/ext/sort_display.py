"""SORT=DISPLAY (RFC 5957): by the names that clients show, and the address where there is no name."""

from typing import Final

from bridge.imap.dialect import Extension, announces
from bridge.imap.ordering import SortKey

EXTENSION: Final = Extension(
    name="SORT=DISPLAY",
    announce=announces(b"SORT=DISPLAY"),
    sort_keys=(
        SortKey(b"DISPLAYFROM", lambda entry: entry.keys.display_from),
        SortKey(b"DISPLAYTO", lambda entry: entry.keys.display_to),
    ),
    implies=("SORT",),
)
