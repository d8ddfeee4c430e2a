"""AUTH=PLAIN (RFC 4616): the mechanism is base.login's; this file has it announced, once TLS is on."""

from typing import Final

from bridge.imap.dialect import Extension, Feature, Standing
from bridge.imap.states import State


def _announce(standing: Standing) -> tuple[bytes, ...]:
    return (b"AUTH=PLAIN",) if standing.state is State.FRESH and standing.secure else ()


EXTENSION: Final = Extension(name="AUTH=PLAIN", announce=_announce, features=frozenset({Feature.PLAIN}))
