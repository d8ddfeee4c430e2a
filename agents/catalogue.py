"""The skills of an installation: from three sources, each ready, off, not ready or broken, and why.

The rule: a later source replaces an earlier one of the same name (built-in, plugin, yours), also when it is broken; a
skill is offered only when everything it names is there. It is read when asked to (`reload`), so that what a run sees
does not change under it by itself.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from agents import discover, skills
from agents import tools as tools_package
from agents.profile import Profile
from agents.skills import SkillInvalid
from agents.tool import DELEGATE, FETCH
from config.check import RESERVED
from config.paths import DataFolder, write_private
from config.settings import Settings

READY, OFF, NOT_READY, BROKEN = "ready", "off", "not ready", "broken"
BUILT_IN: Final = "built-in"
YOURS: Final = "yours"
Servers = Callable[[], Mapping[str, str]]
"""Every MCP server by name, with what keeps it from being used, or nothing."""

Users = Callable[[], Collection[str]]
"""The names of the accounts: each has an address, which no skill can have too."""


def nobody() -> Collection[str]:
    """The accounts where nobody knows of any."""
    return ()


@dataclass(frozen=True, slots=True)
class Source:
    """A folder of skill folders, and whose it is."""

    name: str
    folder: Path


@dataclass(frozen=True, slots=True)
class Listed:
    """One skill: where it is from, how it is, and everything that is in its way."""

    name: str
    source: str
    place: str
    state: str
    why: tuple[str, ...] = ()
    profile: Profile | None = None


class Refused(Exception):
    """A skill that is not turned on or off; `fix` is what to do."""

    def __init__(self, why: str, fix: str) -> None:
        super().__init__(why)
        self.why = why
        self.fix = fix


class Catalogue(Mapping[str, Profile]):
    """The ready skills by name, as the runtime takes them; `listed` has all of them. `adjust` is applied to each."""

    def __init__(
        self,
        settings: Settings,
        servers: Servers,
        adjust: Callable[[Profile], Profile] = lambda profile: profile,
        users: Users = nobody,
    ) -> None:
        self._settings = settings
        self._folder = DataFolder(settings.home)
        self._servers = servers
        self._adjust = adjust
        self._users = users
        self.revision = 0
        self.listed: tuple[Listed, ...] = ()
        self._ready: dict[str, Profile] = {}
        self.reload()

    def __getitem__(self, name: str) -> Profile:
        return self._ready[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._ready)

    def __len__(self) -> int:
        return len(self._ready)

    def profiles(self) -> tuple[Profile, ...]:
        """The ready ones, by name."""
        return tuple(self._ready[name] for name in sorted(self._ready))

    def reload(self) -> None:
        """Look at everything anew."""
        self.listed = self._examine(_read_off(self._folder.skills_off))
        self._ready = {one.name: self._adjust(one.profile) for one in self.listed if one.state == READY and one.profile}
        self.revision += 1

    def find(self, name: str) -> Listed | None:
        """A skill by its name, however it is."""
        return next((one for one in self.listed if one.name == name), None)

    def left_out(self) -> list[Listed]:
        """Those that nobody turned off and that cannot be used all the same."""
        return [one for one in self.listed if one.state in (BROKEN, NOT_READY)]

    def using(self, server: str) -> list[str]:
        """The ready skills that name a tool of a server."""
        return [name for name, profile in self._ready.items() if server in _servers_of(profile)]

    def turn(self, name: str, on: bool) -> None:
        """Turn a skill on or off. Raises Refused when others need it, or when it would not be ready."""
        found = self.find(name)
        if found is None:
            raise Refused(f"there is no skill {name}", "`postroom skills list` shows those there are")
        off = _read_off(self._folder.skills_off)
        if off is None:
            raise Refused(f"{self._folder.skills_off} cannot be read", "mend or remove it")
        if on:
            self._refuse_unready(name, off - {name})
        else:
            self._refuse_needed(name)
        wanted = sorted(off - {name} if on else off | {name})
        write_private(self._folder.skills_off, json.dumps({"off": wanted}, indent=2).encode() + b"\n")
        self.reload()

    def _refuse_unready(self, name: str, off: frozenset[str]) -> None:
        would = next(one for one in self._examine(off) if one.name == name)
        if would.state != READY:
            raise Refused(f"{name} would not be ready: {'; '.join(would.why)}", "put that right first")

    def _refuse_needed(self, name: str) -> None:
        if users := [agent.name for agent in self._settings.agents.values() if name in agent.skills]:
            where = f"agents.{users[0]}.skills"
            raise Refused(f"{name} is needed by the agent {', '.join(users)}", f"take it out of {where} first")
        if others := [each for each, profile in self._ready.items() if name in profile.requires]:
            raise Refused(f"{name} is needed by the skill {', '.join(others)}", "turn that off first")

    def sources(self) -> list[Source]:
        """Where skills come from, in rising priority."""
        plugins = self._folder.plugins
        named = sorted(path for path in plugins.iterdir() if _is_shown(path)) if plugins.is_dir() else []
        return [
            Source(BUILT_IN, skills.builtin_folder()),
            *(Source(f"plugin {path.name}", path / "skills") for path in named),
            *(Source(YOURS, folder) for folder in self._settings.skills.folders),
            Source(YOURS, self._folder.skills),
        ]

    def _examine(self, off: frozenset[str] | None) -> tuple[Listed, ...]:
        found: dict[str, Listed] = {}
        for source in self.sources():
            for folder in skills.folders(source.folder):
                found[folder.name] = self._read(source, folder)
        wanted = [self._judged(one, off) for one in found.values()]
        return tuple(sorted(_without_unmet(wanted), key=lambda one: one.name))

    def _read(self, source: Source, folder: Path) -> Listed:
        place = folder / skills.FILE
        try:
            profile = skills.read_skill(place)
            skills.check_name(profile, folder)
        except SkillInvalid as fault:
            return Listed(folder.name, source.name, str(place), BROKEN, (fault.why,))
        return Listed(profile.name, source.name, str(place), READY, (), profile)

    def _judged(self, one: Listed, off: frozenset[str] | None) -> Listed:
        """A skill that can be read, judged: off, in the way of something, or ready."""
        if one.profile is None:
            return one
        if off is None and one.source != BUILT_IN:
            return replace(one, state=OFF, why=(f"{self._folder.skills_off.name} cannot be read",))
        if off and one.name in off:
            return replace(one, state=OFF, why=("turned off",))
        why = [*self._clash(one.name), *self._missing(one.profile)]
        return replace(one, state=NOT_READY, why=tuple(why)) if why else one

    def _clash(self, name: str) -> list[str]:
        if name in RESERVED:
            return [f"its address {name}@ has a meaning of its own"]
        if name in self._settings.agents:
            return [f"the agent {name} has its address"]
        return [f"the account {name} has its address: rename the skill"] if name in self._users() else []

    def _missing(self, profile: Profile) -> list[str]:
        """The tools that a skill declares and cannot have, and the servers behind them."""
        built_in, servers = unmet(self._settings), self._servers()
        faults: list[str] = []
        for tool in profile.tools or ():
            server, dot, _ = tool.partition(".")
            if not dot:
                why = built_in.get(tool, "there is no such tool")
            else:
                why = servers.get(server, "no such server in .mcp.json")
            faults += [f"{f'server {server}' if dot else tool}: {why}"] if why else []
        return list(dict.fromkeys(faults))


def unmet(settings: Settings) -> dict[str, str]:
    """Every built-in tool by name, with what it lacks here, or nothing."""
    made = [getattr(module, "SPEC", None) for module in discover.modules(tools_package)]
    names = dict.fromkeys([*(spec.name for spec in made if spec is not None), DELEGATE], "")
    if settings.relay is None:
        names["send_mail"] = "no relay is configured"
    if settings.fetch.mode == "off":
        names[FETCH] = "fetch.mode is off"
    return names


def _without_unmet(found: Sequence[Listed]) -> list[Listed]:
    """The skills, less those that require one which is not ready (which may be required by others in turn)."""
    left = list(found)
    while True:
        ready = {one.name for one in left if one.state == READY}
        judged = [_requiring(one, ready) for one in left]
        if judged == left:
            return left
        left = judged


def _requiring(one: Listed, ready: Collection[str]) -> Listed:
    if one.state != READY or one.profile is None:
        return one
    missing = [name for name in one.profile.requires if name not in ready]
    if not missing:
        return one
    return replace(one, state=NOT_READY, why=tuple(f"it requires {name}, which is not ready" for name in missing))


def _servers_of(profile: Profile) -> set[str]:
    return {tool.partition(".")[0] for tool in profile.tools or () if "." in tool}


def _is_shown(path: Path) -> bool:
    return path.is_dir() and not path.name.startswith(".")


def _read_off(path: Path) -> frozenset[str] | None:
    """The names that are turned off; None when the file cannot be read, which turns off all but the built-in ones."""
    try:
        tree = json.loads(path.read_bytes())
    except FileNotFoundError:
        return frozenset()
    except (OSError, ValueError):
        return None
    names = tree.get("off") if isinstance(tree, dict) else None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return None
    return frozenset(names)
