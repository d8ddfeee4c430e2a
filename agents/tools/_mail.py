"""What several mail tools share: recipients checked and spelled, mails shown as lines.

The rule: an address is checked for its form only (email-validator without DNS); what is shown of it is what is used.
"""

from collections.abc import Sequence
from datetime import UTC, datetime

from agents.letter import Field, OutsideMail
from agents.ports import MailSummary
from agents.tool import Args, ToolFailed

MAX_RECIPIENTS = 50
MAX_SUBJECT = 300
MAX_TEXT = 200_000


def recipients(args: Args, name: str = "to") -> tuple[str, ...]:
    """The addresses of an argument, each once, in order. Raises ToolFailed, which names the address that is wrong."""
    return tuple(dict.fromkeys(checked_address(address, name) for address in args.get(name, ())))


def checked_address(address: str, name: str) -> str:
    """One address as it will be used. Raises ToolFailed."""
    from email_validator import EmailNotValidError, validate_email

    try:
        found = validate_email(
            address.strip(), check_deliverability=False, test_environment=True, globally_deliverable=False
        )
    except EmailNotValidError as fault:
        raise ToolFailed(f'{name}: "{address}" is not a mail address: {fault}') from None
    return found.normalized


def outside_mail(args: Args) -> OutsideMail:
    """The mail that arguments to, subject and text describe. Raises ToolFailed."""
    subject = " ".join(args["subject"].split())
    if not subject:
        raise ToolFailed("subject: must not be empty")
    if not args["text"].strip():
        raise ToolFailed("text: must not be empty")
    return OutsideMail(recipients(args), subject, args["text"].strip() + "\n")


def ascii_note(address: str) -> str:
    """How a non-ASCII address reads in ASCII, so that a look-alike letter shows; empty for an ASCII one."""
    if address.isascii():
        return ""
    local, _, host = address.rpartition("@")
    try:
        host = host.encode("idna").decode()
    except UnicodeError:
        host = host.encode("ascii", "backslashreplace").decode()
    return f"in ASCII: {local.encode('ascii', 'backslashreplace').decode()}@{host}"


def recipient_fields(addresses: Sequence[str]) -> list[Field]:
    """One line a recipient."""
    return [Field("To", address, ascii_note(address)) for address in addresses]


def moment(at: int) -> str:
    """A time in UTC ms as text."""
    return f"{datetime.fromtimestamp(at / 1000, UTC):%Y-%m-%d %H:%M} UTC"


def summary_line(mail: MailSummary) -> str:
    """One found mail as a line with its reference, and a line of what it says."""
    head = f"- ref {mail.ref} | {moment(mail.at)} | {mail.sender} | {mail.mailbox} | {' '.join(mail.subject.split())}"
    preview = " ".join(mail.preview.split())[:200]
    return f"{head}\n  {preview}" if preview else head
