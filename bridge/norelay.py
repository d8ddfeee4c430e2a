"""The relay of a Postroom that has none.

The rule: it is apart from the real one, so that who sends nothing loads no SMTP client.
"""

from agents.ports import Dispatch, Phases, RelayRefused


class NoRelay:
    """No relay is configured: nothing can leave."""

    configured = False
    name = ""
    sender = ""

    async def deliver(self, dispatch: Dispatch, phases: Phases) -> str:
        """Refuses."""
        raise RelayRefused(True, "no relay is configured, so no mail can leave")
