"""The table of commands, and the one place where an error becomes a text and an exit code.

The rule: a person sees what is wrong and what to do, never a traceback; what no one foresaw is named as our fault.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from sqlite3 import DatabaseError
from types import TracebackType
from typing import Any, Final

import typer

from bridge.cli import (
    accounts,
    configuration,
    costs,
    decide,
    demo,
    explain,
    folders,
    look,
    mail,
    mcp,
    memory,
    models,
    runs,
    serve,
    skills,
    status,
    triggers,
    trust,
)
from bridge.cli.common import FAILED, IN_USE, INTERRUPTED, USAGE, CliError
from bridge.control.protocol import ControlError
from config.errors import ConfigError
from config.paths import FolderError, FolderLocked
from config.secrets import SecretError
from mailstore.errors import StoreError

Foreseen = CliError | ControlError | ConfigError | FolderError | SecretError | StoreError | DatabaseError
FORESEEN: Final = (CliError, ControlError, ConfigError, FolderError, SecretError, StoreError, DatabaseError)
"""What a command may end with; DatabaseError is SQLite's, for a file that is broken or on a disk that is."""

HELP: Final = "A local mail server behind which AI agents work."
SINGLE: Final[tuple[tuple[str, Callable[..., None]], ...]] = (
    ("demo", demo.demo),
    ("serve", serve.serve),
    ("status", status.status),
    ("inbox", mail.inbox),
    ("send", mail.send),
    ("approve", decide.approve),
    ("reject", decide.reject),
    ("audit", trust.audit),
    ("doctor", look.doctor),
    ("init", accounts.init),
    ("explain", explain.explain),
    ("dkim", trust.dkim),
    ("agents", look.agents),
    ("costs", costs.costs),
)
BARE: Final[Mapping[str, Callable[..., None]]] = {"models": models.models, "runs": runs.runs}
"""Groups that do something by their name alone."""

GROUPS: Final[Mapping[str, tuple[str, tuple[tuple[str, Callable[..., None]], ...]]]] = {
    "account": (
        "Accounts: who has mail here.",
        (("add", accounts.account_add), ("list", accounts.account_list), ("remove", accounts.account_remove)),
    ),
    "password": (
        "Passwords of an account, one a device.",
        (("add", accounts.password_add), ("list", accounts.password_list), ("revoke", accounts.password_revoke)),
    ),
    "triggers": (
        "Triggers: schedules, reminders, webhooks, mail hooks, watched mailboxes.",
        (
            ("add", triggers.triggers_add),
            ("secret", triggers.triggers_secret),
            ("list", triggers.triggers_list),
            ("show", triggers.triggers_show),
            ("pause", triggers.triggers_pause),
            ("resume", triggers.triggers_resume),
            ("run", triggers.triggers_run),
            ("delete", triggers.triggers_delete),
        ),
    ),
    "skills": (
        "Skills: specialists with an address of their own, and plugins that bring some.",
        (
            ("list", skills.skills_list),
            ("import", skills.skills_import),
            ("enable", skills.skills_enable),
            ("disable", skills.skills_disable),
            ("remove", skills.skills_remove),
        ),
    ),
    "folders": (
        "Folders of this machine that agents may use.",
        (("list", folders.folders_list), ("grant", folders.folders_grant), ("revoke", folders.folders_revoke)),
    ),
    "memory": (
        "Memory: what agents keep in mind from one task to the next.",
        (
            ("list", memory.memory_list),
            ("on", memory.memory_on),
            ("off", memory.memory_off),
            ("add", memory.memory_add),
            ("forget", memory.memory_forget),
        ),
    ),
    "grants": (
        "Standing approvals: what is done without asking.",
        (("list", trust.grants_list), ("revoke", trust.grants_revoke)),
    ),
    "mcp": (
        "MCP servers: programs and services whose tools the agents may use.",
        (
            ("list", mcp.mcp_list),
            ("show", mcp.mcp_show),
            ("approve", mcp.mcp_approve),
            ("enable", mcp.mcp_enable),
            ("disable", mcp.mcp_disable),
            ("reload", mcp.mcp_reload),
            ("test", mcp.mcp_test),
        ),
    ),
    "models": (
        "Models: which there are, and whether they work.",
        (("list", models.models_list), ("test", models.models_test)),
    ),
    "runs": ("Runs: what the agents did.", (("list", runs.runs_list), ("show", runs.runs_show))),
    "config": ("The configuration.", (("check", configuration.check),)),
}


def program() -> typer.Typer:
    """The whole command line."""
    made = _typer(HELP)
    made.callback(invoke_without_command=True, no_args_is_help=True)(_root)
    for name, function in SINGLE:
        made.command(name)(function)
    for group, (text, commands) in GROUPS.items():
        below = _typer(text)
        if group in BARE:
            below = typer.Typer(help=text, add_completion=False, pretty_exceptions_enable=False)
            below.callback(invoke_without_command=True, help=text)(BARE[group])
        for name, function in commands:
            below.command(name)(function)
        made.add_typer(below, name=group)
    return made


def _typer(text: str) -> typer.Typer:
    return typer.Typer(help=text, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


def _root(version: bool = typer.Option(False, "--version", help="Show the version and exit.")) -> None:
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"postroom {installed('postroom')}")
        raise typer.Exit


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line with these arguments (the process's own); returns the exit code."""
    before, sys.excepthook = sys.excepthook, _report
    try:
        # Not program()(...), which would put typer's own hook for exceptions in place of ours.
        typer.main.get_command(program()).main(args=arguments, prog_name="postroom")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else FAILED if end.code else 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return _end_of_pipe()
    except FORESEEN as error:
        return _tell(error)
    finally:
        if sys.exc_info()[0] is None:
            sys.excepthook = before
    return 0


def _tell(error: Foreseen) -> int:
    """Say what is wrong and what to do; returns the exit code."""
    match error:
        case ConfigError():
            lines, code = str(error).splitlines(), USAGE
        case CliError():
            lines, code = _sentences(error.message, error.fix), error.code
        case FolderLocked():
            lines, code = [str(error)], IN_USE
        case FolderError() | SecretError():
            lines, code = [str(error)], USAGE
        case DatabaseError():
            lines, code = _sentences(f"the database cannot be used: {error}", "`postroom doctor` says more"), FAILED
        case StoreError():
            lines, code = [str(error)], FAILED
        case ControlError():
            lines, code = _sentences(error.message, error.fix), IN_USE if error.kind == "no-server" else FAILED
    typer.echo("\n".join(["postroom: " + lines[0], *lines[1:]]), err=True)
    return code


def _sentences(message: str, fix: str) -> list[str]:
    return [message, *([f"    fix: {fix}"] if fix else [])]


def _end_of_pipe() -> int:
    """Whoever read our output has closed it (`postroom inbox | head`): no complaint, also not at the exit."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return FAILED


def _report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> Any:
    """What nobody foresaw: one line that names the fault and its place, for a report."""
    import traceback

    frames = traceback.extract_tb(trace)
    place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "nowhere"
    sys.stderr.write(f"postroom: a fault of Postroom itself: {kind.__name__}: {error} (at {place}); please report it\n")
