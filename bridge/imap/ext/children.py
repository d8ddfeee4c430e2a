"""CHILDREN (RFC 3348): \\HasChildren and \\HasNoChildren in LIST; made by base.listing, announced here."""

from typing import Final

from bridge.imap.dialect import Extension, Feature, announces

EXTENSION: Final = Extension(
    name="CHILDREN", announce=announces(b"CHILDREN"), features=frozenset({Feature.CHILD_MARKS})
)
