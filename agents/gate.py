"""Whether a call may run, must be asked about, or not: the only place that decides it.

The rule: pure, and closed by default. A server's hints can only raise a risk; a run that has read untrusted text asks
before anything that writes, sends or leaks, whatever leaves there are; no model's opinion is heard.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from agents.profile import Profile
from agents.tool import Ask, Plan, Risk, Tool


class Verdict(StrEnum):
    """What the gate says."""

    RUN = "run"
    ASK = "ask"


@dataclass(frozen=True, slots=True)
class Ruling:
    """The gate's word and its reason, which becomes the call's note when it runs."""

    verdict: Verdict
    reason: str = ""


_FREE: Final = frozenset({Risk.READ, Risk.WRITE_OWN, Risk.SEND})
_ORDER: Final = tuple(Risk)


@dataclass(frozen=True, slots=True)
class Setting:
    """What the gate knows of the run: whether it is marked, and the user's own words so far."""

    tainted: bool
    user_words: str
    two: bool = False
    """Two people must approve this call."""


def effective_risk(tool: Tool) -> Risk:
    """The tool's risk; a hint that it destroys raises it, no hint lowers it."""
    hints = tool.spec.annotations
    if tool.risk is not Risk.READ and hints.get("destructiveHint") is True:
        return max(tool.risk, Risk.WRITE_USER, key=_ORDER.index)
    return tool.risk


def rule(
    tool: Tool, plan: Plan, args: Mapping[str, Any], profile: Profile, setting: Setting, use_grant: Callable[[], bool]
) -> Ruling:
    """Rule on one call. `use_grant` is asked last, and only when a leave would do; it uses the leave up."""
    risk = effective_risk(tool)
    if isinstance(plan, Ask):
        return Ruling(Verdict.ASK)
    if setting.tainted and tool.lasting:
        return Ruling(Verdict.ASK, "the run has read untrusted text, and later runs would read this")
    if setting.two:
        return Ruling(Verdict.ASK, "two people must approve it")
    if profile.always_asks(tool.spec.name):
        return Ruling(Verdict.ASK, "its skill always asks")
    if setting.tainted and tool.open_world and not _from_user(args, setting.user_words):
        return Ruling(Verdict.ASK, "the run has read untrusted text, and this names something you did not")
    if risk in _FREE:
        return Ruling(Verdict.RUN)
    if setting.tainted or risk is Risk.DANGER:
        return Ruling(Verdict.ASK)
    if use_grant():
        return Ruling(Verdict.RUN, "allowed by your standing approval")
    return Ruling(Verdict.ASK)


def grantable(risk: Risk, tainted: bool) -> bool:
    """Whether "always approve" may be offered for a call."""
    return risk in (Risk.WRITE_USER, Risk.SEND_OUT) and not tainted


def _from_user(value: Any, words: str) -> bool:
    """Whether every text in the arguments stands word for word in what the user wrote."""
    if isinstance(value, str):
        return value in words
    if isinstance(value, Mapping):
        return all(_from_user(item, words) for item in value.values())
    if isinstance(value, list | tuple):
        return all(_from_user(item, words) for item in value)
    return True
