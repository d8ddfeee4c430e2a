"""SASL-IR (RFC 4959): the initial response in the AUTHENTICATE line; read by base.login."""

from typing import Final

from bridge.imap.dialect import Extension, Feature, announces

EXTENSION: Final = Extension(
    name="SASL-IR", announce=announces(b"SASL-IR"), features=frozenset({Feature.INITIAL_RESPONSE})
)
