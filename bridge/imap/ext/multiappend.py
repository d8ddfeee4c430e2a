"""MULTIAPPEND (RFC 3502): several messages in one APPEND, all of them or none; read and kept by base.append."""

from typing import Final

from bridge.imap.dialect import Extension, Feature, announces

EXTENSION: Final = Extension(
    name="MULTIAPPEND", announce=announces(b"MULTIAPPEND"), features=frozenset({Feature.SEVERAL_APPENDS})
)
