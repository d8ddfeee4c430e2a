"""What every function of the runtime needs around it: settings, clock, tools, models, profiles, and the bells to ring
after a commit.

The rule: it holds no state of any run; two runtimes on one database could not tell each other apart by it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import Protocol

from agents.llm import Model
from agents.ports import Clock, Mail, Millis, Steady
from agents.profile import Profile
from agents.toolbox import Toolbox
from config.settings import Limits, Settings


class Bells(Protocol):
    """Wake-ups, rung only by `tx.after`: they carry no data, and losing one loses nothing a start does not find."""

    def runs(self) -> None:
        """Some run may be queued."""
        ...

    def mail(self) -> None:
        """Some mail may wait for the relay."""
        ...

    def clock(self) -> None:
        """The next moment of interest may have moved."""
        ...

    def stop(self, run: str) -> None:
        """A run was cancelled: what it does right now should end."""
        ...

    def activity(self, run: str) -> None:
        """Activity should show a run's new state soon."""
        ...


@dataclass(frozen=True, slots=True)
class Office:
    """Handed to every function that decides or writes. `models` are by tag, `agents` and `skills` by name."""

    settings: Settings
    clock: Clock
    toolbox: Toolbox
    models: Mapping[str, Model]
    agents: Mapping[str, Profile]
    skills: Mapping[str, Profile]
    bells: Bells
    mail: Mail
    relay_name: str = ""
    zone: tzinfo = UTC

    def now(self) -> int:
        return self.clock.now()

    def steady(self) -> Millis:
        """Milliseconds that no setting of the clock and no sleep of the machine moves: what work is measured by. A
        clock without them measures by its own time.
        """
        return self.clock.steady() if isinstance(self.clock, Steady) else self.clock.now()

    def profile(self, name: str, depth: int = 0) -> Profile | None:
        """The agent of a name, or the skill: a delegated run is always a skill's; a skill has an address of its own
        too.
        """
        return self.skills.get(name) if depth else self.agents.get(name) or self.skills.get(name)

    def limits(self, agent: str) -> Limits:
        return self.settings.limits_of(agent)


def agent_profiles(settings: Settings) -> dict[str, Profile]:
    """The configured agents as profiles."""
    return {
        agent.name: Profile(
            name=agent.name,
            display=agent.display or agent.name.capitalize(),
            instructions=agent.instructions,
            tools=agent.tools,
            skills=agent.skills,
            model=agent.model,
            fallbacks=agent.fallbacks,
            attachments_trusted=agent.trust_attachments,
            memory=agent.memory,
        )
        for agent in settings.agents.values()
    }
