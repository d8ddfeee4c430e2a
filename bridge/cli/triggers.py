"""`postroom triggers`: schedules, reminders and what is set off from outside, from a terminal.

The rule: a word here does what the same word in answer to a trigger's message does. A secret is printed once, when it
is made; a given one comes from a file or from standard input, never from the command line, where others could see it.
"""

from pathlib import Path
from typing import Annotated, Any

import typer

from bridge.cli.common import (
    AccountName,
    AsJson,
    Config,
    Home,
    ask,
    is_running,
    print_json,
    read_password,
    settings_of,
)

SHOWN_ID = 8
Ident = Annotated[str, typer.Argument(help="The trigger: its id or its name, as `postroom triggers list` shows it.")]
SecretFile = Annotated[
    Path | None,
    typer.Option("--secret-file", help='File that holds the secret ("-": standard input).', show_default="generated"),
]


def triggers_add(
    kind: Annotated[str, typer.Argument(help="webhook, hook (mail) or mailbox (of the settings).")],
    name: Annotated[str, typer.Argument(help="Its name: small letters, digits, dashes.")],
    task: Annotated[str, typer.Argument(help="What the agent is to do with what comes.")],
    agent: Annotated[str | None, typer.Option("--agent", help="Who does it.", show_default="the first")] = None,
    title: Annotated[str | None, typer.Option("--title", help="A few words for it.", show_default="the task")] = None,
    overlap: Annotated[str, typer.Option("--overlap", help="While a run goes on: queue, skip or replace.")] = "queue",
    secret_file: SecretFile = None,
    account: AccountName = None,
    home: Home = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Make a webhook, a mail hook, or watch a mailbox; its secret is shown once."""
    wish: dict[str, object] = {"kind": kind, "name": name, "task": task, "agent": agent, "title": title}
    given = {} if secret_file is None else {"secret": read_password(secret_file)}
    settings = settings_of(home, config)
    told = ask(settings, "trigger.add", {**wish, "overlap": overlap, "account": account, **given})
    if as_json:
        print_json(told)
        return
    typer.echo(f"Made {told['spec']} ({told['id'][-SHOWN_ID:]}): {told['agent']} works {told['when']}.")
    _show_door(told)


def triggers_secret(
    ident: Ident,
    secret_file: SecretFile = None,
    account: AccountName = None,
    home: Home = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Make a new secret for a webhook or mail hook; the one before stops counting."""
    given = {} if secret_file is None else {"secret": read_password(secret_file)}
    told = ask(settings_of(home, config), "trigger.secret", {"id": ident, "account": account, **given})
    if as_json:
        print_json(told)
        return
    typer.echo(f"{told['spec']} has a new secret; the one before no longer counts.")
    _show_door(told)


def _show_door(told: dict[str, Any]) -> None:
    """How it is reached, and the one time that its secret is seen."""
    if "address" in told:
        typer.echo(
            f"\n    {told['address']}\n\nThis address is shown only now. Whoever knows it can send to it by a login"
        )
        typer.echo("of yours; `postroom password add LABEL --hooks` makes one that can do nothing else.")
    if "url" in told:
        typer.echo(f"\n    POST {told['url']}")
        if told["signed"]:
            typer.echo(f"    signed ({told['signed']}) with the key of [signatures.{told['name']}]; no secret counts.")
        elif told["shown"]:
            typer.echo(f"    Authorization: Bearer {told['secret']}\n\nThe secret is shown only now.")
        if not told["enabled"]:
            typer.echo("Webhooks are off: write enabled = true under [webhooks] in the settings.", err=True)


def triggers_list(
    account: AccountName = None, home: Home = None, config: Config = None, as_json: AsJson = False
) -> None:
    """List the triggers of an account: schedules, reminders, webhooks, hooks, watched mailboxes."""
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
            each["when"] if each["name"] else f"{each['when']} ({each['zone']})",
            moment(each["next"]) if each["next"] else "",
            each["last"],
        )
        for each in told["triggers"]
    ]
    show("Triggers", ("id", "state", "what", "when", "next (here)", "last"), rows, empty="none")


def triggers_show(
    ident: Ident, account: AccountName = None, home: Home = None, config: Config = None, as_json: AsJson = False
) -> None:
    """Show one trigger with everything that is known of it."""
    told = ask(settings_of(home, config), "trigger", {"account": account, "id": ident})
    if as_json:
        print_json(told)
        return
    from config.redact import escape

    does = "reminder" if told["act"] == "remind" else f"task for {told['agent']}"
    lines = [
        f"{told['title']} [{told['state']}]",
        f"When     {told['when']}" + ("" if told["name"] else f" ({told['zone']}), {told['spec']}"),
        *([] if told["name"] else [f"Next     {told['upcoming'] or 'not while it is not active'}"]),
        f"Last     {told['last'] or 'never'}",
        f"Missed   {told['late']}; while the run before goes on: {told['overlap']}",
        f"Does     {does}",
    ]
    typer.echo("\n".join(escape(line) for line in lines))
    for line in told["text"].splitlines():
        typer.echo(f"         {escape(line)}")


def triggers_pause(ident: Ident, account: AccountName = None, home: Home = None, config: Config = None) -> None:
    """Let a trigger rest until it is resumed."""
    _say("pause", ident, account, home, config)


def triggers_resume(ident: Ident, account: AccountName = None, home: Home = None, config: Config = None) -> None:
    """Let a paused trigger go on."""
    _say("resume", ident, account, home, config)


def triggers_run(ident: Ident, account: AccountName = None, home: Home = None, config: Config = None) -> None:
    """Do now what a trigger does; its usual times stay as they are."""
    _say("run now", ident, account, home, config)


def triggers_delete(ident: Ident, account: AccountName = None, home: Home = None, config: Config = None) -> None:
    """Delete a trigger and its message."""
    _say("delete", ident, account, home, config)


def _say(word: str, ident: str, account: str | None, home: Home, config: Config) -> None:
    settings = settings_of(home, config)
    told = ask(settings, "trigger.word", {"account": account, "id": ident, "word": word})
    typer.echo(told["text"])
    if word == "run now" and not is_running(settings):
        typer.echo("No server is running: it begins when `postroom serve` does.", err=True)
