"""`init`, `account` and `password`: who may log in.

The rule: a generated password is printed once, on standard output and nowhere else; a given one comes from a file or
from standard input, never from the command line, where others could see it.
"""

from pathlib import Path
from typing import Annotated

import typer

from bridge.cli.common import (
    USAGE,
    AccountName,
    AsJson,
    CliError,
    Config,
    Home,
    ask,
    print_json,
    read_password,
    settings_of,
)

PasswordFile = Annotated[
    Path | None,
    typer.Option(
        "--password-file", help='File that holds the password ("-": standard input).', show_default="generated"
    ),
]


def init(
    password_file: PasswordFile = None,
    home: Home = None,
    config: Config = None,
    user: Annotated[str | None, typer.Option("--user", help="Name of the account.", show_default="settings")] = None,
    as_json: AsJson = False,
) -> None:
    """Set up unattended: data folder, account, password, certificates. Again for the same user: sets the password."""
    from bridge.net.tls import ensure_certificates
    from bridge.signing import ensure_key

    settings = settings_of(home, config)
    given = {} if password_file is None else {"password": read_password(password_file)}
    made = ask(settings, "account.add", {"name": user or settings.user, "label": "init", "ensure": True, **given})
    ca = ensure_certificates(settings.home, settings.listen.hosts).ca_file
    if settings.relay is not None and settings.relay.dkim_domain:
        ensure_key(settings.home)
    if as_json:
        told = {"home": str(settings.home), "account": made["name"], "address": made["address"], "ca": str(ca)}
        print_json(told | {name: made[name] for name in ("password",) if name in made})
        return
    typer.echo(f"Data folder  {settings.home}")
    typer.echo(f"Account      {made['name']} ({made['address']})")
    typer.echo(f"Authority    {ca}")
    typer.echo("Next: postroom serve" + (f" --home {settings.home}" if home is not None else ""))
    _show_password(made)


def account_add(
    name: Annotated[str, typer.Argument(help="Its name; the address is NAME@domain.")],
    password_file: PasswordFile = None,
    home: Home = None,
    config: Config = None,
) -> None:
    """Make an account with a password, which is shown once unless it was given."""
    given = {} if password_file is None else {"password": read_password(password_file)}
    made = ask(settings_of(home, config), "account.add", {"name": name, **given})
    typer.echo(f"Made {made['name']} ({made['address']}).")
    _show_password(made)


def account_list(home: Home = None, config: Config = None, as_json: AsJson = False) -> None:
    """List the accounts."""
    told = ask(settings_of(home, config), "accounts", {})["accounts"]
    if as_json:
        print_json(told)
        return
    from bridge.cli.table import show

    rows = [(each["name"], each["address"], str(each["passwords"])) for each in told]
    show("Accounts", ("name", "address", "passwords"), rows, empty="none yet; `postroom serve` makes the first")


def account_remove(
    name: Annotated[str, typer.Argument(help="The account to remove.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    home: Home = None,
    config: Config = None,
) -> None:
    """Remove an account with all its mail. There is no way back."""
    settings = settings_of(home, config)
    confirm = name if yes else _confirmation(name)
    gone = ask(settings, "account.remove", {"name": name, "confirm": confirm})
    typer.echo(f"Removed {gone['name']} ({gone['address']}) and its mail.")


def _confirmation(name: str) -> str:
    import sys

    if not sys.stdin.isatty():
        raise CliError("removing an account removes its mail", "say --yes if you mean it", USAGE)
    typed: str = typer.prompt(f"This removes all mail of {name}. Type the name again to go on")
    return typed.strip()


def password_add(
    label: Annotated[str, typer.Argument(help="What it is for: the name of a device or program.")],
    account: AccountName = None,
    password_file: PasswordFile = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace the one of this label.")] = False,
    hooks: Annotated[bool, typer.Option("--hooks", help="For mail hooks only: it reads and decides nothing.")] = False,
    home: Home = None,
    config: Config = None,
) -> None:
    """Make a password for one more device, or a machine that may only send to hooks; shown once unless given."""
    args: dict[str, object] = {"label": label, "account": account, "replace": replace, "hooks_only": hooks}
    if password_file is not None:
        args["password"] = read_password(password_file)
    made = ask(settings_of(home, config), "password.add", args)
    typer.echo(f'Password "{made["label"]}" for {made["account"]} ({made["address"]}).')
    _show_password(made)


def password_list(
    account: AccountName = None, home: Home = None, config: Config = None, as_json: AsJson = False
) -> None:
    """List the passwords of an account: labels and when they were used, never themselves."""
    told = ask(settings_of(home, config), "passwords", {"account": account})
    if as_json:
        print_json(told)
        return
    from bridge.cli.table import moment, show

    rows = [(each["label"], _kind(each), moment(each["created"]), moment(each["used"])) for each in told["passwords"]]
    show(f"Passwords of {told['account']}", ("label", "kind", "made", "last used"), rows, empty="none")


def _kind(each: dict[str, object]) -> str:
    return ("generated" if each["generated"] else "given") + (", hooks only" if each["hooks_only"] else "")


def password_revoke(
    label: Annotated[str, typer.Argument(help="The label of the password.")],
    account: AccountName = None,
    home: Home = None,
    config: Config = None,
) -> None:
    """Take a password away; no new login succeeds with it."""
    gone = ask(settings_of(home, config), "password.revoke", {"label": label, "account": account})
    typer.echo(f'Revoked "{gone["label"]}" of {gone["account"]}.')


def _show_password(made: dict[str, str]) -> None:
    """The one time a generated password is seen."""
    if "password" in made:
        typer.echo(f"\n    {made['password']}\n\nIt is shown only now; write it into the mail client of that device.")
