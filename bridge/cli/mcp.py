"""`postroom mcp`: the MCP servers and their tools from a terminal.

The rule: what a server says of itself is shown as it is, made harmless, and before anything is approved.
"""

from enum import StrEnum
from typing import Annotated, Any

import typer

from bridge.cli.common import FAILED, AsJson, CliError, Config, Home, ask, confirmed, print_json, settings_of

Server = Annotated[str, typer.Argument(help="The server, as `.mcp.json` names it.")]


class Asks(StrEnum):
    """What an approved tool may do, in the words of the command line."""

    ALWAYS = "danger"
    OUTSIDE = "send_out"
    UNLESS_ALLOWED = "write_user"
    NEVER = "read"


MEANING = {
    Asks.ALWAYS: "asks before every call",
    Asks.OUTSIDE: "asks, unless you said `always approve` to exactly this call",
    Asks.UNLESS_ALLOWED: "asks, unless you said `always approve` to exactly this call",
    Asks.NEVER: "runs without asking, where no untrusted text was read",
}


def mcp_list(home: Home = None, config: Config = None, as_json: AsJson = False) -> None:
    """List the MCP servers of .mcp.json: state, tools, who uses them (exit code 1 when one has a fault)."""
    told = ask(settings_of(home, config), "mcp", {})
    _show(told, as_json)


def mcp_show(server: Server, home: Home = None, config: Config = None, as_json: AsJson = False) -> None:
    """Show one server: its tools with their pins, calls under way, and the last lines of its standard error."""
    told = _named(ask(settings_of(home, config), "mcp", {}), server)
    if as_json:
        print_json(told)
        return
    from bridge.cli.table import show

    typer.echo("\n".join(_safe(line) for line in _about(told)))
    rows = [
        (each["name"], each["offered_as"], each["state"], each["risk"], each["hash"][:12]) for each in told["tools"]
    ]
    show("Tools", ("tool", "known to agents as", "state", "risk", "pin"), rows, empty="none seen yet")
    for line in told["lines"]:
        typer.echo(f"  | {_safe(line)}")


def mcp_approve(
    server: Server,
    tool: Annotated[str, typer.Argument(help="The tool, as the server names it.")],
    risk: Annotated[Asks, typer.Option(help="danger and send_out ask, write_user too, read does not.")] = (
        Asks.UNLESS_ALLOWED
    ),
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    home: Home = None,
    config: Config = None,
) -> None:
    """Look at a tool as it reads now, and approve it; one that has changed is off until then."""
    settings = settings_of(home, config)
    known = _named(ask(settings, "mcp", {}), server)["tools"]
    found = next((each for each in known if each["name"] == tool), None)
    if found is None:
        raise CliError(f"{server} has no tool {tool}", f"`postroom mcp show {server}` lists them")
    typer.echo("\n".join(_safe(line) for line in _definition(found)))
    if not yes and not confirmed(f"Approve {server}.{tool}? From then on it {MEANING[risk]}."):
        raise CliError("nothing was approved")
    args = {"server": server, "tool": tool, "hash": found["hash"], "risk": risk.value}
    made = ask(settings, "mcp.approve", args)
    typer.echo(f"{server}.{tool} is approved as it reads now: it {MEANING[_asks(made['risk'])]}.")


def mcp_enable(server: Server, home: Home = None, config: Config = None) -> None:
    """Turn a server on: `"enabled": true` in the file."""
    _show(ask(settings_of(home, config), "mcp.enable", {"server": server, "on": True}), False)


def mcp_disable(server: Server, home: Home = None, config: Config = None) -> None:
    """Turn a server off: its program ends, its tools are not offered."""
    _show(ask(settings_of(home, config), "mcp.enable", {"server": server, "on": False}), False)


def mcp_reload(home: Home = None, config: Config = None) -> None:
    """Read .mcp.json again; a running Postroom connects and leaves what changed."""
    _show(ask(settings_of(home, config), "mcp.reload", {}), False)


def mcp_test(server: Server, home: Home = None, config: Config = None, as_json: AsJson = False) -> None:
    """Connect to a server once, list its tools and leave it (exit code 1 when that fails)."""
    told = ask(settings_of(home, config), "mcp.test", {"server": server})
    if as_json:
        print_json(told)
    elif told["works"]:
        tools = ", ".join(told["tools"]) or "none"
        typer.echo(_safe(f"{server} works: {told['about']}, {told['seconds']} s, tools: {tools}"))
    else:
        typer.echo(_safe(f"{server} does not work: {told['why']}"), err=True)
        for line in told["lines"]:
            typer.echo(f"  | {_safe(line)}", err=True)
    if not told["works"]:
        raise typer.Exit(FAILED)


def _show(told: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(told)
    else:
        from bridge.cli.table import show

        rows = [_row(each) for each in told["servers"]]
        show(
            "MCP servers",
            ("server", "what", "state", "tools", "used by", "note"),
            rows,
            empty=f"none in {told['file']}",
        )
        for fault in told["faults"]:
            typer.echo(_safe(f"{fault['file']}:{fault['line'] or ''}: {fault['key']}: {fault['message']}"))
            typer.echo(_safe(f"    fix: {fault['fix']}"))
    if told["faults"]:
        raise typer.Exit(FAILED)


def _row(server: dict[str, Any]) -> tuple[str, ...]:
    counts: dict[str, int] = {}
    for tool in server["tools"]:
        counts[tool["state"]] = counts.get(tool["state"], 0) + 1
    changed = f"{counts['changed']} changed and off: `postroom mcp approve`" if counts.get("changed") else ""
    notes = [server["error"], server["note"], changed]
    return (
        server["name"],
        f"{server['transport']} {server['where']}{' (trusted)' if server['trusted'] else ''}",
        server["state"],
        ", ".join(f"{number} {state}" for state, number in sorted(counts.items())),
        ", ".join(server["used_by"]),
        "; ".join(note for note in notes if note),
    )


def _named(told: dict[str, Any], server: str) -> dict[str, Any]:
    found: dict[str, Any] | None = next((each for each in told["servers"] if each["name"] == server), None)
    if found is None:
        fault = next((each for each in told["faults"] if each["key"].split(".")[0] == server), None)
        if fault is not None:
            raise CliError(f"{server} is left out: {fault['message']} ({fault['file']}:{fault['line']})", fault["fix"])
        raise CliError(f"there is no MCP server {server}", "`postroom mcp list` shows those there are")
    return found


def _about(server: dict[str, Any]) -> list[str]:
    lines = [
        f"{server['name']} [{server['state']}] {server['transport']} {server['where']}",
        f"Says     {server['about'] or 'nothing yet'}",
        f"Results  {'trusted' if server['trusted'] else 'untrusted: they mark the run'}",
        f"Started  {server['starts']} times; lines that were no message: {server['garbage']}",
        f"Used by  {', '.join(server['used_by']) or 'nobody'}",
    ]
    lines += [f"Error    {server['error']}"] if server["error"] else []
    lines += [f"Note     {server['note']}"] if server["note"] else []
    return lines + [f"Busy     {each['tool']} {each['progress']}" for each in server["busy"]]


def _definition(tool: dict[str, Any]) -> list[str]:
    """A tool as its server describes it, each line behind a mark."""
    import json

    lines = [f"{tool['name']} [{tool['state']}], known to agents as {tool['offered_as']}", "It says of itself:"]
    lines += [f"  | {line}" for line in tool["description"].splitlines()]
    if tool["before"] is not None:
        lines += ["Before it said:", *(f"  | {line}" for line in tool["before"].splitlines())]
    lines += [f"Arguments: {json.dumps(tool['schema'], ensure_ascii=False)}"]
    return [*lines, f"Its hints (not believed): {json.dumps(tool['hints'], ensure_ascii=False) or 'none'}"]


def _asks(risk: str) -> Asks:
    return Asks(risk) if risk in set(Asks) else Asks.UNLESS_ALLOWED


def _safe(text: str) -> str:
    from config.redact import escape

    return escape(text)
