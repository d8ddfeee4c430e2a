"""`postroom memory`: what agents keep in mind, from a terminal.

The rule: memory is off until an account turns it on, and what is forgotten here is gone.
"""

from typing import Annotated

import typer

from bridge.cli.common import AccountName, AsJson, CliError, Config, Home, ask, print_json, settings_of

Note = Annotated[str | None, typer.Argument(help="The note, as `postroom memory list` names it.")]


def memory_list(account: AccountName = None, home: Home = None, config: Config = None, as_json: AsJson = False) -> None:
    """List the notes of an account, and whether its agents keep and read notes."""
    told = ask(settings_of(home, config), "memory", {"account": account})
    if as_json:
        print_json(told)
        return
    from bridge.cli.table import moment, show

    rows = [
        (
            each["code"],
            each["agent"] or "all agents",
            each["text"],
            "; ".join(
                [*(["in Trash"] if each["state"] == "off" else []), *(["from text of others"] if each["taint"] else [])]
            ),
            moment(each["updated"]),
        )
        for each in told["notes"]
    ]
    title = f"Notes (memory is {'on' if told['on'] else 'off'})"
    show(title, ("note", "for", "text", "remark", "since"), rows, empty="none")


def memory_on(account: AccountName = None, home: Home = None, config: Config = None) -> None:
    """Let the agents of an account keep short notes, and read them in later tasks."""
    _turn(True, account, home, config)


def memory_off(account: AccountName = None, home: Home = None, config: Config = None) -> None:
    """Keep and read no notes; those there are stay until they are forgotten."""
    _turn(False, account, home, config)


def memory_add(
    text: Annotated[str, typer.Argument(help="What is to be kept in mind.")],
    agent: Annotated[str | None, typer.Option(help="The agent it is for.", show_default="all")] = None,
    account: AccountName = None,
    home: Home = None,
    config: Config = None,
) -> None:
    """Write a note yourself."""
    told = ask(settings_of(home, config), "memory.add", {"account": account, "text": text, "agent": agent})
    typer.echo(f"Noted as {told['code']}.")


def memory_forget(
    note: Note = None,
    everything: Annotated[bool, typer.Option("--all", help="Forget all notes of the account.")] = False,
    account: AccountName = None,
    home: Home = None,
    config: Config = None,
) -> None:
    """Forget a note and its message, or all of them."""
    if (note is None) != everything:
        raise CliError("name one note, or say --all", "`postroom memory list` shows the notes")
    told = ask(settings_of(home, config), "memory.forget", {"account": account, "note": note})
    typer.echo(f"Forgotten: {', '.join(told['forgotten']) or 'nothing, as there was nothing'}.")


def _turn(on: bool, account: AccountName, home: Home, config: Config) -> None:
    told = ask(settings_of(home, config), "memory.turn", {"account": account, "on": on})
    before = "" if told["changed"] else " (it was before)"
    typer.echo(f"Memory is {'on' if told['on'] else 'off'} for {told['account']}{before}.")
