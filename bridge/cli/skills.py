"""`postroom skills`: the specialists, where they are from and what is in their way; ZIP files of skills and plugins.

The rule: what is not ready, and what of an archive is not used, is said.
"""

from pathlib import Path
from typing import Annotated, Any

import typer

from bridge.cli.common import FAILED, USAGE, AsJson, CliError, Config, Home, ask, confirmed, print_json, settings_of

Skill = Annotated[str, typer.Argument(help="The skill, as `postroom skills list` names it.")]


def skills_list(home: Home = None, config: Config = None, as_json: AsJson = False) -> None:
    """List the skills: those that are ready, and what is wrong with the others (exit code 1 when one is broken)."""
    from bridge.control.skills import of_settings, told
    from mailstore.store import FILE

    settings = settings_of(home, config)
    is_made = (settings.home / FILE).exists()
    found = (ask(settings, "skills", {}) if is_made else told(settings, of_settings(settings)))["skills"]
    if as_json:
        print_json(found)
    else:
        _show(found)
    if any(each["state"] == "broken" for each in found):
        raise typer.Exit(FAILED)


def skills_import(
    file: Annotated[Path, typer.Argument(help="A ZIP file of skills, or of a plugin.")],
    replace: Annotated[bool, typer.Option("--replace", help="Put it in place of what has the same name.")] = False,
    home: Home = None,
    config: Config = None,
) -> None:
    """Take skills or a plugin in; its MCP servers stay off until you turn them on."""
    from agents.bundle import MAX_PACKED
    from config.redact import escape

    try:
        with file.open("rb") as opened:
            data = opened.read(MAX_PACKED + 1)  # what is larger is refused, and need not be read for that
    except OSError as error:
        raise CliError(f"{file} cannot be read ({error.strerror})", "name a ZIP file", USAGE) from None
    told = ask(settings_of(home, config), "skills.import", {"replace": replace}, data)
    if told["plugin"]:
        typer.echo(f"Plugin {told['plugin']}:")
    for each in told["skills"]:
        typer.echo(escape(f"  skill {each['name']}: {each['state']}{_behind(each['why'])}"))
    for server in told["servers"]:
        typer.echo(escape(f"  server {server}: off; look at it in .mcp.json, then `postroom mcp enable {server}`"))
    for line in told["unused"]:
        typer.echo(escape(f"  {line}"))


def skills_enable(name: Skill, home: Home = None, config: Config = None) -> None:
    """Turn a skill on; refused while something that it needs is missing."""
    ask(settings_of(home, config), "skills.turn", {"name": name, "on": True})
    typer.echo(f"{name} is on.")


def skills_disable(name: Skill, home: Home = None, config: Config = None) -> None:
    """Turn a skill off; refused while an agent or another skill needs it."""
    ask(settings_of(home, config), "skills.turn", {"name": name, "on": False})
    typer.echo(f"{name} is off.")


def skills_remove(
    name: Annotated[str, typer.Argument(help="A skill or a plugin that was imported.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    home: Home = None,
    config: Config = None,
) -> None:
    """Take away a skill or a plugin that was imported, with the servers it brought."""
    settings = settings_of(home, config)
    if not yes and not confirmed(f"Remove {name} with all its files?"):
        raise CliError("nothing was removed")
    told = ask(settings, "skills.remove", {"name": name})
    typer.echo(f"The {told['what']} {name} is gone.")


def _show(told: list[dict[str, Any]]) -> None:
    from bridge.cli.table import show

    ready = [
        (each["name"], each["address"], each["source"], ", ".join(each["tools"]), each["description"])
        for each in told
        if each["state"] == "ready"
    ]
    show("Skills", ("name", "address", "from", "tools", "what it does"), ready, empty="none")
    others = [
        (each["name"], each["state"], each["source"], "; ".join(each["why"]), each["place"])
        for each in told
        if each["state"] != "ready"
    ]
    if others:
        show("Not ready", ("name", "state", "from", "why", "file"), others)


def _behind(why: list[str]) -> str:
    return f" ({'; '.join(why)})" if why else ""
