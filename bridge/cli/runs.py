"""`postroom runs`: what the agents did, one run as a story.

The rule: what came from mails, models and tools is shown as text, its control characters made visible.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final

import typer

from bridge.cli.common import USAGE, AccountName, AsJson, CliError, Config, Home, ask, print_json, settings_of

SHOWN_ID: Final = 8
INDENT: Final = 14
STYLES: Final[Mapping[str, str]] = {
    "letter": "bold cyan",
    "answer": "bold green",
    "tool": "yellow",
    "model": "dim",
    "request": "bold magenta",
    "decision": "bold magenta",
    "summary": "dim",
    "end": "bold",
}
Ident = Annotated[str, typer.Argument(help="The run: its id or the end of it, as `postroom runs` shows it.")]
Agent = Annotated[str | None, typer.Option("--agent", help="Only runs of this agent or skill.", show_default="all")]
State = Annotated[str | None, typer.Option("--state", help="Only runs in this state.", show_default="all")]
Limit = Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many, the newest first.")]


def runs(
    ctx: typer.Context,
    agent: Agent = None,
    state: State = None,
    limit: Limit = 30,
    account: AccountName = None,
    home: Home = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """List the newest runs: who worked on what, how it stands, how long it took, what it cost."""
    if ctx.invoked_subcommand is None:
        runs_list(agent, state, limit, account, home, config, as_json)
    elif any((agent, state, account, home, config, as_json)):
        raise CliError(
            "options stand behind the command", f"postroom runs {ctx.invoked_subcommand} ... --home DIR", USAGE
        )


def runs_list(
    agent: Agent = None,
    state: State = None,
    limit: Limit = 30,
    account: AccountName = None,
    home: Home = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """List the newest runs: who worked on what, how it stands, how long it took, what it cost."""
    wish = {"account": account, "agent": agent, "state": state, "limit": limit}
    told = ask(settings_of(home, config), "runs", wish)
    if as_json:
        print_json(told["runs"])
        return
    from bridge.cli.table import moment, show

    rows = [
        (
            each["id"][-SHOWN_ID:],
            moment(each["created"]),
            each["state"].replace("_", " "),
            f"{'  ' if each['parent'] else ''}{each['agent']}",
            each["subject"],
            span(((each["ended"] or each["created"]) - each["created"]) / 1000) if each["ended"] else "",
            str(each["model_calls"]),
            str(each["tools"]),
            f"{each['tokens']:,}",
            money(each["cost"], each["cost_known"]),
        )
        for each in told["runs"]
    ]
    columns = ("id", "begun (here)", "state", "agent", "subject", "took", "model calls", "tools", "tokens", "EUR")
    show("Runs", columns, rows, empty="none")


def runs_show(
    ident: Ident, account: AccountName = None, home: Home = None, config: Config = None, as_json: AsJson = False
) -> None:
    """Show one run as a story: letters, answers, tools, requests, decisions, costs."""
    told = ask(settings_of(home, config), "run", {"account": account, "id": ident})
    if as_json:
        print_json(told)
        return
    from rich.text import Text

    from bridge.cli.table import console

    screen = console()
    screen.print(Text(_head(told), style="bold"))
    screen.print(Text(_facts(told)))
    day = ""
    for entry in told["story"]:
        at = datetime.fromtimestamp(entry["at"] / 1000).astimezone()
        if f"{at:%a %d %b %Y}" != day:
            day = f"{at:%a %d %b %Y}"
            screen.print(Text(f"\n{day}", style="dim"))
        for line in _entry(entry, f"{at:%H:%M:%S}"):
            screen.print(line)
    for child in told["children"]:
        screen.print(
            Text(
                f"Task of {child['agent']}: {child['state']}, postroom runs show {child['id'][-SHOWN_ID:]}", style="dim"
            )
        )


def _head(told: Mapping[str, Any]) -> str:
    from config.redact import escape

    return escape(f"{told['agent']}: {told['subject']} [{told['state'].replace('_', ' ')}]")


def _facts(told: Mapping[str, Any]) -> str:
    facts = [
        f"run {told['id']}",
        f"{told['model_calls']} model calls",
        f"{told['tools']} tools",
        f"{told['tokens']:,} tokens",
        f"{money(told['cost'], told['cost_known'])} EUR",
        f"worked {span(told['active_seconds'])}",
    ]
    return ", ".join(facts) + (", has read text of others" if told["untrusted"] else "")


def _entry(entry: Mapping[str, Any], at: str) -> Sequence[Any]:
    """A line of the story with its text below it, indented."""
    from rich.padding import Padding
    from rich.text import Text

    from config.redact import escape

    line = Text(f"  {at}  ", style="dim")
    line.append(escape(f"{entry['who']} "), style=STYLES.get(entry["kind"], ""))
    line.append(escape(entry["title"]))
    return [line, *(Padding(Text(escape(said)), (0, 0, 0, INDENT)) for said in entry["text"].splitlines())]


def span(seconds: float) -> str:
    """A length of time in a few characters."""
    if seconds < 90:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def money(cost: float, known: bool) -> str:
    """An amount; one that counts at an assumed price is marked."""
    return f"{cost:.4f}" if known else f"~{cost:.4f}"
