"""`postroom status`: what the server is doing.

The rule: it works beside a running server and without one, and makes nothing that is not there.
"""

from typing import Any

import typer

from bridge.cli.common import AsJson, Config, Home, ask, print_json, settings_of


def status(home: Home = None, config: Config = None, as_json: AsJson = False) -> None:
    """Show whether the server runs, its ports, runs by state, open requests and queues."""
    settings = settings_of(home, config)
    if not settings.home.exists():
        told: dict[str, Any] = {"running": False, "home": str(settings.home), "made": False}
        print_json(told) if as_json else typer.echo(
            f"Nothing here yet: {settings.home} does not exist. `postroom serve` makes it."
        )
        return
    told = {"home": str(settings.home), "made": True, **ask(settings, "status", {})}
    if as_json:
        print_json(told)
        return
    for line in _lines(told):
        typer.echo(line)
    _requests(told["requests"])


def _lines(told: dict[str, Any]) -> list[str]:
    from config.redact import escape

    state = f"running, process {told['pid']}" if told["running"] else "not running"
    lines = [f"Server    {state}", f"Folder    {told['home']}"]
    if ports := told["ports"]:
        listening = ", ".join(f"{name} {number}" for name, number in ports.items() if name != "ca" and number)
        lines += [f"Ports     {listening}", f"Authority {ports['ca']}"]
    lines.append(f"Accounts  {', '.join(each['address'] for each in told['accounts']) or 'none'}")
    lines.append(f"Runs      {_counts(told['runs'])}")
    lines.append(f"Queues    {_counts(told['queues'])}")
    lines += [f"Left out  {name}, {escape(why)}" for name, why in told["left_out"].items()]
    return lines


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in counts.items()) or "none"


def _requests(requests: list[dict[str, Any]]) -> None:
    """What waits for a decision. Only then is rich imported."""
    if not requests:
        typer.echo("Requests  none waits")
        return
    from bridge.cli.table import moment, show

    typer.echo()
    rows = [(each["code"], each["account"], each["title"], moment(each["expires"])) for each in requests]
    show("Waiting for a decision (`postroom approve CODE`)", ("code", "account", "what", "expires"), rows)
