"""`postroom folders`: which folders of this machine agents may use.

The rule: nothing is granted that was not named here, and reading is all that is granted unless more was said.
"""

from pathlib import Path
from typing import Annotated

import typer

from bridge.cli.common import AccountName, AsJson, Config, Home, ask, print_json, settings_of


def folders_list(
    account: AccountName = None, home: Home = None, config: Config = None, as_json: AsJson = False
) -> None:
    """List the folders that are granted to the agents of an account."""
    told = ask(settings_of(home, config), "folders", {"account": account})
    if as_json:
        print_json(told["folders"])
        return
    from bridge.cli.table import show

    rows = [
        (
            each["name"],
            each["path"],
            each["agent"] or "every agent",
            "read, and write when approved" if each["writes"] else "read",
            "your own words" if each["own"] else "untrusted",
        )
        for each in told["folders"]
    ]
    show("Granted folders", ("name", "folder", "to", "may", "what is in it counts as"), rows, empty="none")


def folders_grant(
    path: Annotated[Path, typer.Argument(help="The folder.")],
    name: Annotated[str | None, typer.Option(help="How agents call it.", show_default="the folder's own name")] = None,
    agent: Annotated[str | None, typer.Option(help="The agent it is for.", show_default="every agent")] = None,
    write: Annotated[bool, typer.Option("--write", help="Writing too; each file still waits for approval.")] = False,
    own: Annotated[
        bool, typer.Option("--own", help="Trust what is in it as your own words: only for what you alone write.")
    ] = False,
    account: AccountName = None,
    home: Home = None,
    config: Config = None,
) -> None:
    """Let agents read a folder, and what is below it."""
    args = {"account": account, "path": str(path.absolute()), "name": name, "agent": agent, "writes": write, "own": own}
    told = ask(settings_of(home, config), "folder.grant", args)
    may = "read and, when you approve, write" if told["writes"] else "read"
    typer.echo(f"Granted: {told['agent'] or 'every agent'} may {may} {told['path']} as {told['name']}.")


def folders_revoke(
    name: Annotated[str, typer.Argument(help="The folder, as `postroom folders list` names it.")],
    account: AccountName = None,
    home: Home = None,
    config: Config = None,
) -> None:
    """Take a folder back; it holds at once."""
    ask(settings_of(home, config), "folder.revoke", {"account": account, "name": name})
    typer.echo(f"Taken back: no agent reaches {name} any more.")
