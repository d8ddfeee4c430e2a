"""What a person types into a mail client, from the ports of a server.

The rule: plain lines, so that they can be copied; a password stands in them only when it was made just now.
"""

from collections.abc import Iterator
from dataclasses import dataclass

HOST = "localhost"


@dataclass(frozen=True, slots=True)
class Login:
    """Whose client it is. `password` is None when it is not shown."""

    name: str
    address: str
    password: str | None = None


def client_lines(ports: dict[str, int | str], login: Login) -> Iterator[str]:
    """The lines to type into Thunderbird (Account Settings, Account Actions, Add Mail Account, Configure manually),
    and the page that says the same for other clients."""
    yield f"    Address    {login.address}"
    yield f"    User name  {login.name}"
    if login.password is not None:
        yield f"    Password   {login.password}"
    how = "STARTTLS, normal password"
    yield f"    Incoming   IMAP  {HOST}, port {ports['imap']}, {how}   (or {ports['imaps']}, SSL/TLS)"
    yield f"    Outgoing   SMTP  {HOST}, port {ports['smtp']}, {how}   (or {ports['smtps']}, SSL/TLS)"
    yield f"    Authority  {ports['ca']}"
    yield "               (Thunderbird: Settings, Privacy & Security, Manage Certificates, Authorities, Import)"
    if ports["web"]:
        yield f"    Or follow  http://{HOST}:{ports['web']}/"
