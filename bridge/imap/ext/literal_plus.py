"""LITERAL+ (RFC 7888): `{n+}` literals, cut by the framer; of use before login too."""

from typing import Final

from bridge.imap.dialect import Extension, Feature, announces

EXTENSION: Final = Extension(
    name="LITERAL+", announce=announces(b"LITERAL+", in_clear=True), features=frozenset({Feature.NONSYNC_LITERALS})
)
