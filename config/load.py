"""The one load of the configuration, and the only module that touches the process's environment.

Later sources win: defaults, the TOML file, the environment (`POSTROOM_` and the path with `__` between levels, such
as POSTROOM_IMAP__EXTENSIONS), flags. All faults are found in one go.
"""

import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, get_args

from config.build import HIDDEN, Builder, did_you_mean, file_key, first_origin
from config.check import check, mailbox_name_fault, name_fault
from config.errors import ConfigError, Fault
from config.paths import DataFolder, usual_home
from config.settings import (
    Agent,
    Limits,
    Model,
    Settings,
    Signature,
    WatchedMailbox,
    default_agents,
    default_models,
)
from config.source import Leaf, Origin, Tree, from_words, merge, origins, read_toml

PREFIX: Final = "POSTROOM_"
PLACES: Final = frozenset({"home", "config"})
"""POSTROOM_HOME and POSTROOM_CONFIG say where to look, so they are read before everything else."""

NAMED: Final = frozenset({"agents", "models", "mailboxes", "signatures"})
"""Tables of tables, which a name in the file makes."""

LIBRARY_ENVIRONMENT: Final = MappingProxyType({
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # else the import fetches a price list from the network
    "LITELLM_LOCAL_BLOG_POSTS": "True",
    "LITELLM_MODE": "PRODUCTION",  # else the import reads ./.env into the environment
    "LITELLM_LOG": "ERROR",
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TOKENIZERS_PARALLELISM": "false",
})  # packed, to be seen at a glance  # fmt: skip


def load(
    *,
    home: Path | None = None,
    config_file: Path | None = None,
    flags: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """The settings from all sources. Raises ConfigError with every fault.

    `flags` are dotted names and values ("listen.imap": 0). `home` and `config_file` are the flags that say where to
    look; without them POSTROOM_HOME, POSTROOM_CONFIG, then the platform's data folder and its postroom.toml.
    """
    environ = os.environ if environ is None else environ
    root = _place(home, environ.get(f"{PREFIX}HOME"))
    named_file = _place(config_file, environ.get(f"{PREFIX}CONFIG"))
    file = named_file or DataFolder(root or usual_home()).config_file
    tree, faults = read_toml(file) if named_file or _is_there(file) else ({}, [])
    written_home = _take_home(tree, may_stand=named_file is not None, faults=faults)
    tree = merge(tree, _from_environ(environ))
    tree = merge(tree, _from_flags(flags or {}))
    settings, found = _build(tree, (root or written_home or usual_home()).absolute(), environ, file.absolute().parent)
    faults += found
    faults += _stray_variables(environ, settings)
    if faults:
        raise ConfigError(sorted(dict.fromkeys(faults), key=lambda fault: (fault.file or "", fault.line or 0)))
    return settings


def prepare_library_environment() -> None:
    """Set what libraries read from the environment when they are imported; what the owner set stays."""
    for name, value in LIBRARY_ENVIRONMENT.items():
        os.environ.setdefault(name, value)


def keep_time_of(settings: Settings) -> None:
    """Let this process, and those it starts, live in the time zone that is set, so that every time shown is of one
    clock. Where a process cannot change its zone (Windows) schedules alone keep to the setting.
    """
    if settings.timezone and hasattr(time, "tzset"):
        os.environ["TZ"] = settings.timezone
        time.tzset()


def child_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """A copy of the environment for a child process, with `extra` on top."""
    return {**os.environ, **(extra or {})}


def _place(flag: Path | None, variable: str | None) -> Path | None:
    if flag is not None:
        return flag.expanduser()
    return Path(variable).expanduser() if variable else None


def _is_there(file: Path) -> bool:
    """A file that cannot be looked at counts as there, so that reading it says why."""
    try:
        file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def _take_home(tree: Tree, *, may_stand: bool, faults: list[Fault]) -> Path | None:
    """Take `home` out of the tree: it makes sense only in a file that was named, not in one found in the home."""
    node = tree.pop("home", None)
    if node is None:
        return None
    value = node.value if isinstance(node, Leaf) else None
    if may_stand and isinstance(value, str) and value:
        return Path(value).expanduser()
    origin = first_origin(node)
    message = "must be text" if may_stand else "cannot stand in a file that was found in the data folder itself"
    fix = 'write home = "/path"' if may_stand else "use --home or POSTROOM_HOME"
    faults.append(Fault(origin.file if origin else None, origin.line if origin else None, "home", message, fix))
    return None


def _from_environ(environ: Mapping[str, str]) -> Tree:
    known = frozenset(field.name for field in fields(Settings)) - PLACES
    words: dict[str, object] = {}
    places: dict[str, Origin] = {}
    for variable in sorted(environ):
        path = variable.removeprefix(PREFIX).lower().replace("__", ".")
        if variable.startswith(PREFIX) and path.partition(".")[0] in known:
            words[path] = environ[variable]
            places[path] = Origin(f"environment variable {variable}")
    return from_words(words, places)


def _from_flags(flags: Mapping[str, object]) -> Tree:
    return from_words(flags, {name: Origin(f"flag {name}") for name in flags})


def _build(tree: Tree, home: Path, environ: Mapping[str, str], folder: Path) -> tuple[Settings, list[Fault]]:
    builder = Builder(environ, folder)
    rest = {name: node for name, node in tree.items() if name not in NAMED}
    settings = builder.table(Settings, rest, "", Settings(home))
    models = builder.named(Model, tree.get("models", {}), "models", _base_model, name_fault)
    agents = builder.named(Agent, tree.get("agents", {}), "agents", _base_agent, name_fault)
    mailboxes = builder.named(
        WatchedMailbox, tree.get("mailboxes", {}), "mailboxes", WatchedMailbox, mailbox_name_fault
    )
    signatures = builder.named(Signature, tree.get("signatures", {}), "signatures", Signature, mailbox_name_fault)
    agents = {name: _with_limits(agent, settings.limits, tree) for name, agent in agents.items()}
    settings = replace(
        settings,
        models=MappingProxyType({**default_models(), **models}),
        mailboxes=MappingProxyType(mailboxes),
        signatures=MappingProxyType(signatures),
        agents=MappingProxyType(agents) if agents else settings.agents,
    )
    reported = {fault.key for fault in builder.faults}
    broken = [fault for fault in check(settings, dict(origins(tree))) if fault.key not in reported]
    return settings, builder.faults + broken


def _base_model(tag: str) -> Model:
    return default_models().get(tag) or Model(tag)


def _base_agent(name: str) -> Agent:
    return default_agents().get(name) or Agent(name, display=name.replace("-", " ").capitalize())


def _with_limits(agent: Agent, general: Limits, tree: Tree) -> Agent:
    """The agent's limits on top of the general ones rather than of the defaults."""
    if agent.limits is None:
        return agent
    node: Tree | Leaf = tree
    for name in ("agents", agent.name, "limits"):
        node = node[name] if isinstance(node, dict) else {}
    named = node if isinstance(node, dict) else {}
    own = {field.name: getattr(agent.limits, field.name) for field in fields(Limits) if field.name in named}
    return replace(agent, limits=replace(general, **own))


def _stray_variables(environ: Mapping[str, str], settings: Settings) -> Iterator[Fault]:
    """Variables with our prefix that are no setting but look like one misspelt; others may be somebody's own."""
    import difflib

    known = [_variable(path) for path in setting_names()] + [f"{PREFIX}HOME", f"{PREFIX}CONFIG"]
    tops = {field.name for field in fields(Settings)} | PLACES
    referred = {secret.reference.removeprefix("env:") for secret in settings.secrets()}
    for variable in sorted(environ):
        top = variable.removeprefix(PREFIX).lower().partition("__")[0]
        if not variable.startswith(PREFIX) or top in tops or variable in referred:
            continue
        if "__" in variable or difflib.get_close_matches(variable, known, n=1, cutoff=0.9):
            yield Fault(f"environment variable {variable}", None, "", "is not a setting", did_you_mean(variable, known))


def _variable(path: str) -> str:
    return PREFIX + path.upper().replace(".", "__")


def setting_names(kind: Any = Settings, path: str = "") -> Iterator[str]:
    """The dotted name of every setting outside the named tables, as files and the reference page spell it."""
    for field in fields(kind):
        if field.name in HIDDEN or (kind is Settings and field.name in {"home", *NAMED}):
            continue
        inner = next((each for each in (field.type, *get_args(field.type)) if is_dataclass(each)), None)
        dotted = f"{path}{file_key(field)}"
        if inner is not None:
            yield from setting_names(inner, f"{dotted}.")
        else:
            yield dotted
