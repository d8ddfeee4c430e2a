"""Finds the tools and model providers that stand in `agents/tools` and `agents/models`: one file each.

The rule: importing a file has no effect. A tool file has `make(offer)`, which gives a tool or None when the
installation lacks what the tool needs; a provider file has `PROVIDER`, its name in the settings, and `make(config,
limits)`.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

from agents import models as models_package
from agents import tools as tools_package
from agents.llm import Model
from agents.offer import Offer
from agents.tool import Tool
from config import settings


class DiscoveryError(Exception):
    """A file of a discovered folder does not keep the rule, or two files claim one name."""


def modules(package: ModuleType) -> Iterator[ModuleType]:
    """Every module of a package but the private ones, by name."""
    for found in sorted(pkgutil.iter_modules(package.__path__), key=lambda module: module.name):
        if not found.name.startswith("_"):
            yield importlib.import_module(f"{package.__name__}.{found.name}")


def tools(offer: Offer, package: ModuleType = tools_package) -> tuple[Tool, ...]:
    """The built-in tools that this installation can offer, by name. Raises DiscoveryError."""
    found: dict[str, Tool] = {}
    for module in modules(package):
        tool: Tool | None = _maker(module)(offer)
        if tool is None:
            continue
        if tool.spec.name in found:
            raise DiscoveryError(f"{module.__name__}: the tool name {tool.spec.name!r} is taken")
        found[tool.spec.name] = tool
    return tuple(found[name] for name in sorted(found))


Maker = Callable[[settings.Model, settings.Limits], Model]


def providers(package: ModuleType = models_package) -> dict[str, Maker]:
    """The makers of models, by provider name. A module without PROVIDER is not one (the scripted model of the
    tests).
    """
    found: dict[str, Maker] = {}
    for module in modules(package):
        name = getattr(module, "PROVIDER", None)
        if name is None:
            continue
        if name in found:
            raise DiscoveryError(f"{module.__name__}: the provider name {name!r} is taken")
        found[name] = _maker(module)
    return found


def models(
    configs: Mapping[str, settings.Model], limits: settings.Limits | None = None, package: ModuleType = models_package
) -> dict[str, Model]:
    """One model a configured tag, held to the time limits. Raises DiscoveryError for a provider that does not exist."""
    limits = limits or settings.Limits()
    known = providers(package)
    unknown = sorted({config.provider for config in configs.values()} - known.keys())
    if unknown:
        raise DiscoveryError(f"unknown model provider {', '.join(unknown)}; there are {', '.join(sorted(known))}")
    return {tag: known[config.provider](config, limits) for tag, config in configs.items()}


async def close(package: ModuleType = models_package) -> None:
    """Let every provider close what it keeps open between calls. Call it once, at the end of the program."""
    for module in modules(package):
        closer = getattr(module, "close", None)
        if closer is not None:
            await closer()


def _maker(module: ModuleType) -> Callable[..., Any]:
    maker = getattr(module, "make", None)
    if not callable(maker):
        raise DiscoveryError(f"{module.__name__} has no function make")
    made: Callable[..., Any] = maker
    return made


class BuiltIn:
    """The built-in tools as a source of the toolbox: made again whenever `revision` says that the skills have changed,
    since what may be delegated stands in a tool's definition.
    """

    def __init__(self, offer: Offer, revision: Callable[[], int]) -> None:
        self._offer = offer
        self._revision = revision
        self._made = (revision(), tools(offer))

    def tools(self) -> tuple[Tool, ...]:
        """The tools as they are now."""
        revision = self._revision()
        if self._made[0] != revision:
            self._made = (revision, tools(self._offer))
        return self._made[1]
