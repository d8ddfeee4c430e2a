"""Which tools an agent has: one lookup over all sources of tools.

The rule: a name belongs to one tool; the first source that offers it wins and the clash is reported, so a late source
cannot replace one.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from agents.profile import Profile
from agents.tool import Tool

Source = Callable[[], Iterable[Tool]]


@dataclass(frozen=True, slots=True)
class Clash:
    """Two sources offer one name; the later one is left out."""

    name: str


class Toolbox:
    """All tools of the program. Sources are asked each time, since a server's tools come and go."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = tuple(sources)

    @classmethod
    def of(cls, *tools: Tool) -> "Toolbox":
        return cls([lambda: tools])

    def all(self) -> tuple[Mapping[str, Tool], tuple[Clash, ...]]:
        found: dict[str, Tool] = {}
        clashes: list[Clash] = []
        for source in self._sources:
            for tool in source():
                kept = found.setdefault(tool.spec.name, tool)
                clashes += [Clash(tool.spec.name)] if kept is not tool else []
        return found, tuple(clashes)

    def for_profile(self, profile: Profile) -> Mapping[str, Tool]:
        """The tools this profile may use, by name."""
        found, _ = self.all()
        return {name: tool for name, tool in found.items() if profile.allows(name)}
