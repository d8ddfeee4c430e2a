"""`audit`, `grants` and `dkim`: who decided what, what is always allowed, and how others know our mail.

The rule: the trail is shown as it was written; what is no longer kept is said to be gone, never made up.
"""

import json
from typing import Annotated, Any, Final

import typer

from bridge.cli.common import USAGE, AccountName, AsJson, CliError, Config, Home, ask, print_json, settings_of

_COLUMNS: Final = ("by", "via", "line", "rule")
_LONGEST: Final = 100


def audit(
    code: Annotated[
        str | None, typer.Argument(help="A request's code, such as A-7F3K.", show_default="the newest entries")
    ] = None,
    count: Annotated[int, typer.Option("--count", "-n", min=1, max=10_000, help="How many entries.")] = 50,
    account: AccountName = None,
    home: Home = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Show who decided what, through what, when, by which line and rule; with a code also the exact arguments."""
    told = ask(settings_of(home, config), "audit", {"account": account, "code": code, "count": count})
    if as_json:
        print_json(told)
        return
    from bridge.cli.table import moment, show

    if code is not None:
        title = _plain(told["title"]) or "The request itself was deleted; its trail is left"
        typer.echo(f"{title} [{code.strip('[] ').upper()}] {told['state']}".rstrip() + "\n")
    rows = [(moment(each["at"]), each["what"], *_facts(each["facts"])) for each in told["entries"]]
    show("Audit trail", ("when", "what", *_COLUMNS, "more"), rows, empty="empty")
    for asked in told["asked"]:
        typer.echo(f"\nRevision {asked['revision']}, item {asked['number']}: {asked['tool']}, {asked['state']}")
        typer.echo(f"Hash of the arguments: {asked['args_hash']}")
        _show_arguments(asked["arguments"])


def _plain(text: str) -> str:
    """Somebody else's text on one line of a terminal."""
    from config.redact import escape

    return escape(text)


def _facts(facts: dict[str, Any]) -> tuple[str, ...]:
    rest = {name: value for name, value in facts.items() if name not in _COLUMNS and value not in ("", None, False)}
    more = ", ".join(f"{name} {_cut(str(value))}" for name, value in rest.items())
    return (*(str(facts.get(name, "")) for name in _COLUMNS), more)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _show_arguments(arguments: dict[str, Any] | None) -> None:
    if arguments is None:
        typer.echo("    (an edit took its place later; its hash is above)")
        return
    for name, value in arguments.items():
        for line in _text(value).splitlines() or [""]:
            typer.echo(f"    {name}: {_plain(line)}")


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def grants_list(account: AccountName = None, home: Home = None, config: Config = None, as_json: AsJson = False) -> None:
    """List what is always approved: exactly which values, how often more, until when."""
    told = ask(settings_of(home, config), "grants", {"account": account})
    if as_json:
        print_json(told)
        return
    from bridge.cli.table import moment, show

    rows = [
        (each["code"], each["agent"], each["tool"], _values(each), str(each["uses_left"]), moment(each["expires"]))
        for each in told["grants"]
    ]
    show("Standing approvals", ("code", "agent", "tool", "values", "uses left", "until"), rows, empty="none")


def _values(grant: dict[str, Any]) -> str:
    return "; ".join(f"{name}: {_text(value)}" for name, value in grant["arguments"].items())


def grants_revoke(
    grant: Annotated[str, typer.Argument(help="Its code, such as G-7F3KQ2.")],
    account: AccountName = None,
    home: Home = None,
    config: Config = None,
) -> None:
    """Take a standing approval back: the next such call asks again."""
    told = ask(settings_of(home, config), "grant.revoke", {"account": account, "grant": grant})
    typer.echo(f"{told['revoked']} was taken back.")


def dkim(home: Home = None, config: Config = None, as_json: AsJson = False) -> None:
    """Print the DNS record of the key that signs outgoing mail; the key is made now if there is none."""
    from bridge.signing import dns_record, zone_line
    from config.paths import open_folder, restrict_new_files

    settings = settings_of(home, config)
    relay = settings.relay
    if relay is None or not relay.dkim_domain:
        fix = "write dkim_domain under [relay]: the domain of the address that mail is sent from"
        raise CliError("outgoing mail is not signed", fix, USAGE)
    restrict_new_files()
    open_folder(settings.home)
    name, value = dns_record(settings.home, relay.dkim_selector, relay.dkim_domain)
    if as_json:
        print_json({"name": name, "type": "TXT", "value": value})
        return
    typer.echo(f"Name   {name.rstrip('.')}\nType   TXT\nValue  {value}\n")
    typer.echo(f"As a line of a zone file:\n{zone_line(name, value)}")
