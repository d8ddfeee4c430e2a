"""`postroom costs`: what the agents have cost, by day and agent, as a table and as bars.

The rule: every number is of the ledger; an amount in which a price was not known is marked, never left out.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

import typer

from bridge.cli.common import AccountName, AsJson, Config, Home, ask, print_json, settings_of
from bridge.cli.runs import money

WIDTH: Final = 40
EIGHTHS: Final = " ▏▎▍▌▋▊▉"
COLOURS: Final = ("cyan", "magenta", "green", "yellow", "blue", "red")
Days = Annotated[int, typer.Option("--days", min=1, max=3660, help="How many days, up to today.")]


def costs(
    days: Days = 30, account: AccountName = None, home: Home = None, config: Config = None, as_json: AsJson = False
) -> None:
    """Show what was spent by day and agent, by model, and what today's limits leave."""
    told = ask(settings_of(home, config), "costs", {"account": account, "days": days})
    if as_json:
        print_json(told)
        return
    from bridge.cli.table import console, show

    spent: list[dict[str, Any]] = told["days"]
    rows = [
        (
            each["day"],
            each["agent"],
            str(each["calls"]),
            f"{each['tokens']:,}",
            money(each["cost"], not each["unknown"]),
        )
        for each in spent
    ]
    show(
        f"Costs of {told['account']}",
        (f"day ({told['zone']})", "agent", "model calls", "tokens", "EUR"),
        rows,
        empty="nothing was spent",
    )
    if not spent:
        return
    screen = console()
    screen.print()
    for line in bars(spent):
        screen.print(line)
    screen.print()
    models = [
        (each["model"], str(each["calls"]), f"{each['tok_in']:,}", f"{each['tok_out']:,}", f"{each['cost']:.4f}")
        for each in told["models"]
    ]
    show("By model", ("model", "calls", "tokens in", "tokens out", "EUR"), models, empty="nothing")
    screen.print()
    for line in _today(told):
        typer.echo(line)


def bars(spent: Sequence[Mapping[str, Any]]) -> list[Any]:
    """One line a day: a bar with a part for each agent, as long as the day cost; the dearest day fills the width."""
    from rich.text import Text

    agents = list(dict.fromkeys(each["agent"] for each in spent))
    colours = {agent: COLOURS[number % len(COLOURS)] for number, agent in enumerate(agents)}
    by_day: dict[str, list[Mapping[str, Any]]] = {}
    for each in spent:
        by_day.setdefault(each["day"], []).append(each)
    most = max(sum(each["cost"] for each in parts) for parts in by_day.values())
    lines = []
    for day, parts in by_day.items():
        line = Text(f"{day}  ")
        for each in parts:
            line.append(bar(each["cost"], most), style=colours[each["agent"]])
        line.append(f"  {sum(each['cost'] for each in parts):.4f}")
        lines.append(line)
    legend = Text("            ")
    for agent in agents:
        legend.append("█ ", style=colours[agent])
        legend.append(f"{agent}  ")
    return [*lines, legend]


def bar(part: float, most: float, width: int = WIDTH) -> str:
    """A bar of blocks, an eighth of a character fine; nothing for nothing, a sliver for the least amount."""
    if part <= 0 or most <= 0:
        return ""
    eighths = max(1, round(part / most * width * 8))
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()


def _today(told: Mapping[str, Any]) -> list[str]:
    today = [each for each in told["days"] if each["day"] == told["today"]]
    spent = sum(each["cost"] + each["set_aside"] for each in today)
    lines = [
        f"Today {spent:.4f} of {told['limit_day']:.2f} EUR for all agents, {told['limit_agent_day']:.2f} EUR for one."
    ]
    if any(each["unknown"] for each in told["days"]):
        lines.append("~ a price was not known: counted at unknown_price_eur of the settings.")
    return lines
