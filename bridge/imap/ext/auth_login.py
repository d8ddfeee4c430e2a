"""AUTH=LOGIN, the old two-question mechanism that Outlook uses; base.login's, announced here once TLS is on."""

from typing import Final

from bridge.imap.dialect import Extension, Feature, Standing
from bridge.imap.states import State


def _announce(standing: Standing) -> tuple[bytes, ...]:
    return (b"AUTH=LOGIN",) if standing.state is State.FRESH and standing.secure else ()


EXTENSION: Final = Extension(name="AUTH=LOGIN", announce=_announce, features=frozenset({Feature.LOGIN}))
