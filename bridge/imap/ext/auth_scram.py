"""AUTH=SCRAM-SHA-256 (RFC 7677): a login that does not tell the password, announced once TLS is on; base.login's.

Not in the default set: what it needs of a password is weaker against whoever steals the data folder than the argon2
hash beside it, so it is kept only where it is offered; and clients that prefer it try no other way when it fails.
"""

from typing import Final

from bridge.imap.dialect import Extension, Feature, Standing
from bridge.imap.states import State
from config.settings import SCRAM


def _announce(standing: Standing) -> tuple[bytes, ...]:
    return (SCRAM.encode(),) if standing.state is State.FRESH and standing.secure else ()


EXTENSION: Final = Extension(name=SCRAM, announce=_announce, features=frozenset({Feature.SCRAM}), default=False)
