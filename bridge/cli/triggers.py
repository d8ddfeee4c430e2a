"""`postroom triggers`: schedules and reminders from a terminal.

The rule: a word here does what the same word in answer to a schedule's message does.
"""

from typing import Annotated

import typer

from bridge.cli.common import AccountName, AsJson, Config, Home, ask, is_running, print_json, settings_of

SHOWN_ID = 8
Ident = Annotated[str, typer.Argument(help="The schedule, as `postroom triggers list` names it.")]


def triggers_list(
    account: AccountName = None, home: Home = None, config: Config = None, as_json: AsJson = False
) -> None:
    """List the schedules and reminders of an account."""
    told = ask(settings_of(home, config), "triggers", {"account": account})
    if as_json:
        print_json(told["triggers"])
        return
    from bridge.cli.table import moment, show

    rows = [
        (
            each["id"][-SHOWN_ID:],
            each["state"],
            each["title"],
            f"{each['when']} ({each['zone']})",
            moment(each["next"]) if each["next"] else "",
            each["last"],
        )
        for each in told["triggers"]
    ]
    show("Schedules", ("id", "state", "what", "when", "next (here)", "last"), rows, empty="none")


def triggers_show(
    ident: Ident, account: AccountName = None, home: Home = None, config: Config = None, as_json: AsJson = False
) -> None:
    """Show one schedule with everything that is known of it."""
    told = ask(settings_of(home, config), "trigger", {"account": account, "id": ident})
    if as_json:
        print_json(told)
        return
    from config.redact import escape

    does = "reminder" if told["act"] == "remind" else f"task for {told['agent']}"
    lines = [
        f"{told['title']} [{told['state']}]",
        f"When     {told['when']} ({told['zone']}), {told['spec']}",
        f"Next     {told['upcoming'] or 'not while it is not active'}",
        f"Last     {told['last'] or 'never'}",
        f"Missed   {told['late']}; while the run before goes on: {told['overlap']}",
        f"Does     {does}",
    ]
    typer.echo("\n".join(escape(line) for line in lines))
    for line in told["text"].splitlines():
        typer.echo(f"         {escape(line)}")


def triggers_pause(ident: Ident, account: AccountName = None, home: Home = None, config: Config = None) -> None:
    """Let a schedule rest until it is resumed."""
    _say("pause", ident, account, home, config)


def triggers_resume(ident: Ident, account: AccountName = None, home: Home = None, config: Config = None) -> None:
    """Let a paused schedule go on."""
    _say("resume", ident, account, home, config)


def triggers_run(ident: Ident, account: AccountName = None, home: Home = None, config: Config = None) -> None:
    """Do now what a schedule does; its usual times stay as they are."""
    _say("run now", ident, account, home, config)


def triggers_delete(ident: Ident, account: AccountName = None, home: Home = None, config: Config = None) -> None:
    """Delete a schedule and its message."""
    _say("delete", ident, account, home, config)


def _say(word: str, ident: str, account: str | None, home: Home, config: Config) -> None:
    settings = settings_of(home, config)
    told = ask(settings, "trigger.word", {"account": account, "id": ident, "word": word})
    typer.echo(told["text"])
    if word == "run now" and not is_running(settings):
        typer.echo("No server is running: it begins when `postroom serve` does.", err=True)
