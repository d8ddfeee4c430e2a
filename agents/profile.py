"""Who works: the profile of an agent or a skill.

The rule: a profile is configuration and never changes while a run of it is active without the run's next step seeing
the change.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True, slots=True)
class Profile:
    """An agent or a skill. `name` is its local part, `display` what the user reads ("Summariser").

    `tools` None means every tool that is offered (a server's tool is written `server.tool`, all of them `server.*`);
    `skills` are those it may delegate to (None: every ready one). `interrupt_on` names tools that always ask, whatever
    their risk. `model` None is the configured default, `fallbacks` are the tags of those that stand in for it.
    `attachments_trusted` is DECISIONS 31's setting.
    `memory`: it may keep and read notes, where the account wants that.
    """

    name: str
    display: str
    instructions: str
    description: str = ""
    tools: tuple[str, ...] | None = None
    skills: tuple[str, ...] | None = None
    model: str | None = None
    fallbacks: tuple[str, ...] = ()
    interrupt_on: frozenset[str] = frozenset()
    attachments_trusted: bool = False
    memory: bool = False
    requires: tuple[str, ...] = ()

    def allows(self, tool: str) -> bool:
        """Whether it may use a tool."""
        return self.tools is None or named(tool, self.tools)

    def always_asks(self, tool: str) -> bool:
        """Whether a tool asks before every call, whatever its risk."""
        return named(tool, self.interrupt_on)


def named(tool: str, names: Iterable[str]) -> bool:
    """Whether one of the names means the tool; a server's tool is known to models as `server__tool`."""
    return any(fnmatchcase(tool, name.replace(".", "__", 1)) for name in names)
