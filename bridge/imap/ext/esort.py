"""ESORT (RFC 5267 section 3): SORT RETURN (...), answered by ESEARCH in the order asked for; read by SORT itself."""

from typing import Final

from bridge.imap.dialect import Extension, Feature, announces

EXTENSION: Final = Extension(
    name="ESORT",
    announce=announces(b"ESORT"),
    features=frozenset({Feature.SORT_RETURNS}),
    implies=("SORT", "ESEARCH"),
)
