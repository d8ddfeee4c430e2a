"""`inbox` and `send`: the mail road from a terminal.

The rule: what is sent here goes the road of every other submitted mail, and starts work by the same rules.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bridge.cli.common import (
    USAGE,
    AccountName,
    AsJson,
    CliError,
    Config,
    Home,
    ask,
    is_running,
    print_json,
    settings_of,
)

if TYPE_CHECKING:
    from email.message import EmailMessage


def inbox(
    mailbox: Annotated[
        list[str] | None, typer.Argument(help="Mailboxes to list.", show_default="Action and INBOX")
    ] = None,
    count: Annotated[int, typer.Option("--count", "-n", min=1, max=1000, help="How many of each.")] = 20,
    account: AccountName = None,
    home: Home = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """List what wants you: Action, then INBOX, newest first."""
    args = {"account": account, "mailboxes": mailbox or [], "count": count}
    told = ask(settings_of(home, config), "inbox", args)
    if as_json:
        print_json(told)
        return
    from bridge.cli.table import moment, show

    for box in told["mailboxes"]:
        title = f"{box['name']}: {box['messages']} messages, {box['unseen']} unread"
        rows = [
            ("" if each["seen"] else "*", moment(each["at"]), each["from"], each["subject"]) for each in box["mails"]
        ]
        show(title, ("", "date", "from", "subject"), rows, empty="empty")
        typer.echo()


def send(
    to: Annotated[str, typer.Argument(help="Where to: an agent's name or address; several between commas.")],
    text: Annotated[str | None, typer.Argument(help="The text.", show_default="standard input")] = None,
    subject: Annotated[str, typer.Option("--subject", "-s", help="The subject.")] = "",
    attach: Annotated[
        list[Path] | None, typer.Option("--attach", "-a", help="File to attach; may be repeated.")
    ] = None,
    account: AccountName = None,
    home: Home = None,
    config: Config = None,
) -> None:
    """Send a mail as the local user: starts work like a mail from any client."""
    settings = settings_of(home, config)
    recipients = [_address(one.strip(), settings.domain) for one in to.split(",") if one.strip()]
    if text is None and sys.stdin.isatty():
        typer.echo("Write the text; end it with Ctrl-D.", err=True)
    words = sys.stdin.read() if text is None else text
    if not words.strip() and not attach:
        raise CliError("the mail is empty", "give a text, on standard input or as the second argument", USAGE)
    mail = _mail(recipients, subject or _first_words(words), words, attach or [])
    told = ask(settings, "send", {"account": account, "to": recipients}, _bytes(mail))
    typer.echo(f"Sent to {', '.join(told['to'])} as {told['from']} ({told['reference']}).")
    if not is_running(settings):
        typer.echo("No server is running: work begins when `postroom serve` does.", err=True)


def _address(name: str, domain: str) -> str:
    return name if "@" in name else f"{name}@{domain}"


def _first_words(text: str) -> str:
    first = next((line.strip() for line in text.splitlines() if line.strip()), "(no subject)")
    return first if len(first) <= 70 else first[:69].rstrip() + "…"


def _mail(recipients: list[str], subject: str, text: str, attachments: list[Path]) -> "EmailMessage":
    """The mail without From, which the server writes."""
    import mimetypes
    from email.message import EmailMessage
    from email.policy import SMTP
    from email.utils import localtime, make_msgid

    mail = EmailMessage(SMTP)
    try:
        mail["To"] = ", ".join(recipients)
        mail["Subject"] = " ".join(subject.split())
        mail["Date"] = localtime()
    except ValueError as error:
        raise CliError(f"the mail cannot be written: {error}", "check address and subject", USAGE) from None
    mail["Message-ID"] = make_msgid(domain=recipients[0].rpartition("@")[2])
    mail.set_content(text if text.endswith("\n") else text + "\n")
    for path in attachments:
        try:
            data = path.read_bytes()
        except OSError as error:
            raise CliError(f"{path} cannot be read ({error.strerror})", "", USAGE) from None
        kind, _, sub = (mimetypes.guess_type(path.name)[0] or "application/octet-stream").partition("/")
        mail.add_attachment(data, maintype=kind, subtype=sub, filename=path.name)
    return mail


def _bytes(mail: "EmailMessage") -> bytes:
    return mail.as_bytes()
