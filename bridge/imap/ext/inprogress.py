"""INPROGRESS (RFC 9585): a command that takes long is not a dead one; the service's clock has sessions say so."""

from typing import Final

from bridge.imap.dialect import Extension, Feature, announces

EXTENSION: Final = Extension(
    name="INPROGRESS", announce=announces(b"INPROGRESS"), features=frozenset({Feature.PROGRESS}), default=False
)
