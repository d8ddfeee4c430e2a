"""From an address to what it stands for: a user, an agent, a skill, a request, a trigger, or nothing of ours.

The rule: a pure reading of the address against what is configured; whoever is refused is told which addresses exist.
Local parts: `agent[+model]`, `skill`, `action+token`, `hook+name.token`, `schedule`, `help`, `postmaster`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from bridge.submissions import Refused

ACTION, HOOK, SCHEDULE, HELP, POSTMASTER = "action", "hook", "schedule", "help", "postmaster"


@dataclass(frozen=True, slots=True)
class ToUser:
    """Another user's INBOX, or one's own."""

    account: int


@dataclass(frozen=True, slots=True)
class ToAgent:
    """An agent; `model` is the tag behind the plus, if any."""

    agent: str
    model: str | None = None


@dataclass(frozen=True, slots=True)
class ToSkill:
    """A skill as a specialist with an address of its own."""

    skill: str


@dataclass(frozen=True, slots=True)
class ToAction:
    """The one-time address of a request."""

    token: str


@dataclass(frozen=True, slots=True)
class ToHook:
    """A mail hook, as it is written; whether there is one, and whether the token is right, is for `hooks` to say."""

    name: str
    token: str


@dataclass(frozen=True, slots=True)
class ToHelp:
    """The program itself: `help@`, `postmaster@`."""


@dataclass(frozen=True, slots=True)
class ToSchedule:
    """Schedules: a new one in plain words, or a word to one that is there."""


Target = ToUser | ToAgent | ToSkill | ToAction | ToHook | ToHelp | ToSchedule


@dataclass(frozen=True, slots=True)
class Directory:
    """What has an address here. `users` by login name, `models` and the names of agents and skills in lower case."""

    domain: str
    users: Mapping[str, int]
    agents: frozenset[str]
    skills: frozenset[str]
    models: frozenset[str]
    relay: bool = False

    def resolve(self, address: str) -> Target | Refused:
        """What `address` stands for. Case does not matter."""
        local, _, domain = address.strip().lower().rpartition("@")
        if domain != self.domain.lower():
            return self._outside(address)
        head, plus, tag = local.partition("+")
        found = self._plain(local) or (self._tagged(head, tag) if plus else None)
        return found or self._unknown(address)

    def _plain(self, local: str) -> Target | None:
        if local in self.users:
            return ToUser(self.users[local])
        if local in self.agents:
            return ToAgent(local)
        if local in self.skills:
            return ToSkill(local)
        if local == SCHEDULE:
            return ToSchedule()
        return ToHelp() if local in (HELP, POSTMASTER) else None

    def _tagged(self, head: str, tag: str) -> Target | Refused | None:
        if head == ACTION and tag:
            return ToAction(tag)
        if head == HOOK:
            name, _, token = tag.partition(".")
            return ToHook(name, token)
        if head in self.agents:
            if tag in self.models:
                return ToAgent(head, tag)
            known = ", ".join(sorted(self.models))
            return Refused(550, "5.1.1", f"There is no model tagged {tag!r} for {head}. Tags: {known}.")
        return None

    def addresses(self) -> list[str]:
        """Every address one can write to, agents first."""
        names = [*sorted(self.agents), *sorted(self.skills), *sorted(self.users), SCHEDULE, HELP]
        return [f"{name}@{self.domain}" for name in names]

    def _unknown(self, address: str) -> Refused:
        return Refused(550, "5.1.1", f"{address} does not exist here. You can write to: {', '.join(self.addresses())}.")

    def _outside(self, address: str) -> Refused:
        way = "ask an agent to send it for you" if self.relay else "no relay is configured"
        text = f"Postroom takes mail for {self.domain} only, not for {address}; {way}, or use your usual account."
        return Refused(550, "5.7.1", text)
