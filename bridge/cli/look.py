"""`doctor`, `agents` and `skills`: what is set up, and whether it works.

The rule: looking changes nothing.
"""

from functools import partial
from typing import Annotated, Final

import typer

from bridge.cli.common import FAILED, AsJson, Config, Home, ask, print_json, settings_of

MARKS: Final = {"ok": "ok", "note": "note", "fault": "FAULT"}


def doctor(
    login: Annotated[bool, typer.Option("--login", help="Log in to the mailboxes elsewhere, and look.")] = False,
    home: Home = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Check everything that has to be right, and say what to do where it is not (exit code 1 on a fault)."""
    from bridge.doctor import examine

    settings = settings_of(home, config)
    findings = examine(settings, partial(ask, settings), login=login)
    if as_json:
        print_json(
            [{"check": each.check, "state": each.state, "found": each.found, "fix": each.fix} for each in findings]
        )
    else:
        from bridge.cli.table import show

        rows = [(MARKS[each.state], each.check, each.found, each.fix) for each in findings]
        show("", ("", "check", "found", "what to do"), rows)
    if any(each.state == "fault" for each in findings):
        raise typer.Exit(FAILED)


def agents(home: Home = None, config: Config = None, as_json: AsJson = False) -> None:
    """List the agents: address, model, skills and tools."""
    settings = settings_of(home, config)
    rows = [
        {
            "name": agent.display or agent.name,
            "address": settings.address(agent.name),
            "model": agent.model,
            "skills": list(agent.skills),
            "tools": None if agent.tools is None else list(agent.tools),
        }
        for agent in settings.agents.values()
    ]
    if as_json:
        print_json(rows)
        return
    from bridge.cli.table import show

    shown = [
        (str(each["name"]), str(each["address"]), str(each["model"]), _listed(each["skills"]), _listed(each["tools"]))
        for each in rows
    ]
    show("Agents", ("name", "address", "model", "skills", "tools"), shown)


def _listed(names: object) -> str:
    if names is None:
        return "all"
    return ", ".join(names) if isinstance(names, list) and names else "none"
