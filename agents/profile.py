"""Who works: the profile of an agent or a skill.

The rule: a profile is configuration and never changes while a run of it is active without the run's next step seeing
the change.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Profile:
    """An agent or a skill. `name` is its local part, `display` what the user reads ("Summariser").

    `tools` None means every tool that is offered; `skills` are those it may delegate to (None: every ready one).
    `interrupt_on` names tools that always ask, whatever their risk. `model` None is the configured default.
    `attachments_trusted` is DECISIONS 31's setting.
    """

    name: str
    display: str
    instructions: str
    description: str = ""
    tools: tuple[str, ...] | None = None
    skills: tuple[str, ...] | None = None
    model: str | None = None
    interrupt_on: frozenset[str] = frozenset()
    attachments_trusted: bool = False
