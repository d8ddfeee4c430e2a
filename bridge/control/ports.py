"""What the commands need of the server: the Desk, which bridge.app's App is, running or not.

The rule: commands see this and nothing else, so that they run alike beside a server and without one.
"""

from typing import TYPE_CHECKING, Protocol

from config.settings import Settings

if TYPE_CHECKING:
    from agents.catalogue import Catalogue
    from agents.mcp.servers import Servers
    from agents.runtime import Runtime
    from bridge.submissions import Submissions
    from mailstore.store import Store


class ListeningPorts(Protocol):
    """The ports of a running server, and the file of the authority that clients are to trust."""

    @property
    def imap(self) -> int: ...
    @property
    def imaps(self) -> int: ...
    @property
    def smtp(self) -> int: ...
    @property
    def smtps(self) -> int: ...
    @property
    def web(self) -> int: ...
    @property
    def ca(self) -> str: ...


class StoreDesk(Protocol):
    """What commands need that only look at the store, or change accounts and passwords."""

    @property
    def store(self) -> "Store": ...
    @property
    def settings(self) -> Settings: ...
    @property
    def ports(self) -> ListeningPorts | None: ...
    @property
    def mcp(self) -> "Servers | None":
        """The MCP servers, where there is a server to keep them connected."""
        ...

    @property
    def skills(self) -> "Catalogue | None":
        """The skills, where there is a server that offers them."""
        ...

    def end_sessions(self, password_id: int, /) -> int:
        """End the sessions that logged in with this password; how many there were."""
        ...


class Desk(StoreDesk, Protocol):
    """What the commands need that send mail or decide."""

    @property
    def runtime(self) -> "Runtime": ...
    @property
    def accept(self) -> "Submissions": ...
