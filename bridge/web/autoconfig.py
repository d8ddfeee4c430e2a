"""What mail clients ask for to set themselves up: Thunderbird's autoconfig XML and Apple's configuration profile.

The rule: names and ports are those that this server listens on now. Apple's profile can only say implicit TLS, and the
certificate names `localhost`, so both name that.
"""

import plistlib
import uuid
from dataclasses import dataclass
from xml.sax.saxutils import escape

NAME = "localhost"
_SPACE = uuid.UUID("6a6f0a52-52c5-4e0b-9d3a-6f1d0f6f6d70")


@dataclass(frozen=True, slots=True)
class Places:
    """What a client has to know. Ports are numbers, `ca` the PEM text of the authority."""

    domain: str
    imap: int
    imaps: int
    smtp: int
    smtps: int
    ca: str


def thunderbird(places: Places) -> str:
    """The answer to /mail/config-v1.1.xml (Thunderbird's autoconfiguration file format 1.1)."""
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<clientConfig version="1.1">
  <emailProvider id="{escape(places.domain)}">
    <domain>{escape(places.domain)}</domain>
    <displayName>Postroom</displayName>
    <displayShortName>Postroom</displayShortName>
{_server("incomingServer", "imap", places.imaps, "SSL")}
{_server("incomingServer", "imap", places.imap, "STARTTLS")}
{_server("outgoingServer", "smtp", places.smtps, "SSL")}
{_server("outgoingServer", "smtp", places.smtp, "STARTTLS")}
  </emailProvider>
</clientConfig>
"""


def _server(element: str, kind: str, port: int, socket: str) -> str:
    return f"""    <{element} type="{kind}">
      <hostname>{NAME}</hostname>
      <port>{port}</port>
      <socketType>{socket}</socketType>
      <authentication>password-cleartext</authentication>
      <username>%EMAILLOCALPART%</username>
    </{element}>"""


def apple(places: Places, user: str) -> bytes:
    """A .mobileconfig for Apple Mail: the account over implicit TLS, and the authority to trust. No password in it."""
    mail = {
        **_payload("com.apple.mail.managed", places, user),
        "EmailAccountType": "EmailTypeIMAP",
        "EmailAccountDescription": "Postroom",
        "EmailAddress": f"{user}@{places.domain}",
        "IncomingMailServerAuthentication": "EmailAuthPassword",
        "IncomingMailServerHostName": NAME,
        "IncomingMailServerPortNumber": places.imaps,
        "IncomingMailServerUseSSL": True,
        "IncomingMailServerUsername": user,
        "OutgoingMailServerAuthentication": "EmailAuthPassword",
        "OutgoingMailServerHostName": NAME,
        "OutgoingMailServerPortNumber": places.smtps,
        "OutgoingMailServerUseSSL": True,
        "OutgoingMailServerUsername": user,
        "OutgoingPasswordSameAsIncomingPassword": True,
    }
    root = {
        **_payload("com.apple.security.root", places, user),
        "PayloadCertificateFileName": "postroom-ca.pem",
        "PayloadContent": places.ca.encode("ascii"),
    }
    profile = {
        **_payload("Configuration", places, user),
        "PayloadDisplayName": "Postroom mail",
        "PayloadDescription": "Reads and sends mail through the Postroom on this machine.",
        "PayloadContent": [mail, root],
    }
    return plistlib.dumps(profile)


def _payload(kind: str, places: Places, user: str) -> dict[str, object]:
    """The fields every payload has; the same installation and user give the same ids, so a second install replaces."""
    name = uuid.uuid5(_SPACE, f"{kind} {user}@{places.domain}")
    return {
        "PayloadType": kind,
        "PayloadVersion": 1,
        "PayloadIdentifier": f"postroom.{kind}.{name}",
        "PayloadUUID": str(name).upper(),
    }
