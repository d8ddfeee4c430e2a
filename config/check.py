"""The rules between settings: what each is right for itself, and may still be wrong together."""

import ipaddress
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from config.build import did_you_mean
from config.errors import Fault
from config.settings import Settings
from config.source import Origin
from config.zone import zone

RESERVED: Final = ("action", "help", "hook", "postmaster", "schedule")
"""Local parts with a meaning of their own; no agent, skill or user may have one."""

NAME: Final = re.compile(r"[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])?")
DOMAIN: Final = re.compile(r"(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*")
ADDRESS: Final = re.compile(r"[^\s@<>,;:\"()\[\]\\\x00-\x1f\x7f]{1,64}@[^\s@<>,;:\"()\[\]\\\x00-\x1f\x7f]{1,253}")
MAILBOX_NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")
HEADER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,99}")
LANGUAGE: Final = re.compile(r"[a-z]{2,3}")


def name_fault(name: str) -> str | None:
    """What is wrong with the name of a user, agent, skill or model as a local part; None when nothing is."""
    if NAME.fullmatch(name) is None or ".." in name:
        return "is not a name that can stand in an address"
    return None


def mailbox_name_fault(name: str) -> str | None:
    """What is wrong with the name of a watched mailbox or a webhook; None when nothing is."""
    return None if MAILBOX_NAME.fullmatch(name) else "is not a name of up to 40 small letters, digits and dashes"


def is_loopback(host: str) -> bool:
    """Is this address or name the machine itself? Names other than localhost are not."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def check(settings: Settings, origins: Mapping[str, Origin]) -> list[Fault]:
    """Every broken rule; `origins` tells where the settings were written."""
    rules = (
        _identity,
        _listen,
        _relay,
        _dkim,
        _outside,
        _mailboxes,
        _signatures,
        _models,
        _agents,
        _seconds,
        _fetch,
        _local_parts,
    )
    return [_placed(fault, origins) for rule in rules for fault in rule(settings)]


def local_part_faults(settings: Settings, skills: Iterable[str], users: Iterable[str] = ()) -> list[Fault]:
    """Clashes between agents, the given skills and users, and the reserved local parts; for what is found at start."""
    named = [("agents", "agent", name) for name in settings.agents]
    named += [("skills", "skill", name) for name in skills]
    named += [("user", "user", name) for name in {settings.user, *users}]
    owners: dict[str, str] = dict.fromkeys(RESERVED, "a word with a meaning of its own")
    faults: list[Fault] = []
    for key, kind, name in named:
        taken = owners.setdefault(name.lower(), f"the name of the {kind} {name}")
        if taken != f"the name of the {kind} {name}":
            dotted = key if kind == "user" else f"{key}.{name}"
            faults.append(_fault(dotted, f"{name!r} is already {taken}, and an address has one meaning", "rename one"))
    return faults


def _fault(key: str, message: str, fix: str) -> Fault:
    return Fault(None, None, key, message, fix)


def _placed(fault: Fault, origins: Mapping[str, Origin]) -> Fault:
    """The fault with the place of its key, of the first setting below it, or of the table around it."""
    key = fault.key
    while key and key not in origins and not _below(key, origins):
        key = key.rpartition(".")[0]
    origin = origins.get(key) or next(iter(_below(key, origins)), None)
    return fault if origin is None else Fault(origin.file, origin.line, fault.key, fault.message, fault.fix)


def _below(table: str, origins: Mapping[str, Origin]) -> list[Origin]:
    """Where the settings of a table stand, from the top of the file."""
    found = [origin for name, origin in origins.items() if table and name.startswith(f"{table}.")]
    return sorted(found, key=lambda origin: origin.line or 0)


def _identity(settings: Settings) -> Iterator[Fault]:
    if DOMAIN.fullmatch(settings.domain) is None:
        yield _fault("domain", f"{settings.domain!r} is not a domain", "write a name such as postroom.internal")
    if (problem := name_fault(settings.user)) is not None:
        yield _fault("user", f"{settings.user!r} {problem}", "choose lower-case letters, digits, '.', '_' and '-'")
    if settings.timezone and zone(settings.timezone) is None:
        yield _fault("timezone", f"{settings.timezone!r} is not a time zone", "write a name such as Europe/Berlin")
    for language in settings.languages:
        if LANGUAGE.fullmatch(language) is None:
            yield _fault("languages", f"{language!r} is not a language", 'write codes such as "en", "de"')


def _listen(settings: Settings) -> Iterator[Fault]:
    listen = settings.listen
    if not listen.hosts:
        yield _fault("listen.hosts", "names no address", 'write ["127.0.0.1", "::1"]')
    for host in listen.hosts:
        if not _is_address(host):
            yield _fault("listen.hosts", f"{host!r} is not an address", 'write addresses such as "127.0.0.1" or "::1"')
        elif not settings.require_tls and not is_loopback(host):
            message = f"{host} is open to other machines while require_tls is false: passwords would travel in clear"
            yield _fault("listen.hosts", message, "set require_tls = true, or listen on 127.0.0.1 and ::1 only")
    ports: dict[int, str] = {}
    for name in ("imap", "imaps", "smtp", "smtps", "web"):
        number = getattr(listen, name)
        other = ports.setdefault(number, name)
        if number and other != name:
            yield _fault(
                f"listen.{name}", f"{number} is also the port of {other}", "choose another, or 0 for a free one"
            )


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return host.lower() == "localhost"
    return True


def _relay(settings: Settings) -> Iterator[Fault]:
    relay = settings.relay
    if relay is None:
        return
    if not relay.host:
        yield _fault("relay.host", "is missing", "name the server that takes your outgoing mail")
    if not relay.sender:
        yield _fault("relay.from", "is missing", "write the address that outgoing mail comes from")
    if relay.tls == "none" and relay.host and not is_loopback(relay.host):
        message = f"{relay.host} is another machine: mail and password would travel in clear"
        yield _fault("relay.tls", message, 'write "starttls" or "implicit"')
    if bool(relay.username) != (relay.password is not None):
        missing = "password" if relay.username else "username"
        yield _fault(f"relay.{missing}", "is missing", "give both username and password, or neither")
    for key, address in (("from", relay.sender), ("bounce_mailbox", relay.bounce_mailbox)):
        if address and ADDRESS.fullmatch(address) is None:
            yield _fault(f"relay.{key}", f"{address!r} is not an address", "write name@domain")


def _dkim(settings: Settings) -> Iterator[Fault]:
    relay = settings.relay
    if relay is None:
        return
    if relay.dkim_domain and DOMAIN.fullmatch(relay.dkim_domain) is None:
        yield _fault("relay.dkim_domain", f"{relay.dkim_domain!r} is not a domain", "write that of your address")
    if DOMAIN.fullmatch(relay.dkim_selector) is None:
        yield _fault("relay.dkim_selector", f"{relay.dkim_selector!r} is no DNS name", 'write a word like "postroom"')


def _outside(settings: Settings) -> Iterator[Fault]:
    """A road for approvals from outside is whole, or it is off."""
    outside = settings.outside
    if not outside.enabled:
        return
    if settings.relay is None:
        yield _fault("outside.enabled", "needs a relay: requests are sent out through it", "write [relay]")
    for key, fix in (("addresses", "write your own address"), ("host", "name the IMAP server"), ("username", "")):
        if not getattr(outside, key):
            yield _fault(f"outside.{key}", "is missing", fix or "write the login of the mailbox")
    if outside.password is None:
        yield _fault("outside.password", "is missing", "write env:NAME, file:PATH or keyring:SERVICE/NAME")
    if outside.tls == "none" and outside.host and not is_loopback(outside.host):
        message = f"{outside.host} is another machine: mail and password would travel in clear"
        yield _fault("outside.tls", message, 'write "implicit" or "starttls"')
    named = [("addresses", address) for address in outside.addresses]
    for key, address in [*named, ("reply_to", outside.reply_to)]:
        if address and (ADDRESS.fullmatch(address) is None or not address.isascii()):
            yield _fault(f"outside.{key}", f"{address!r} is not an address", "write name@domain")
        elif address.lower().endswith(f"@{settings.domain.lower()}"):
            yield _fault(f"outside.{key}", f"{address} is an address of this bridge", "write one of the outside world")


def _mailboxes(settings: Settings) -> Iterator[Fault]:
    for name, watched in settings.mailboxes.items():
        yield from _whose(f"mailboxes.{name}.account", watched.account)
        for key, fix in (("host", "name the IMAP server"), ("username", "write the login of the mailbox")):
            if not getattr(watched, key):
                yield _fault(f"mailboxes.{name}.{key}", "is missing", fix)
        if watched.password is None:
            fix = "write env:NAME, file:PATH or keyring:SERVICE/NAME"
            yield _fault(f"mailboxes.{name}.password", "is missing", fix)
        if watched.tls == "none" and watched.host and not is_loopback(watched.host):
            message = f"{watched.host} is another machine: mail and password would travel in clear"
            yield _fault(f"mailboxes.{name}.tls", message, 'write "implicit" or "starttls"')


def _whose(key: str, account: str) -> Iterator[Fault]:
    """An account is named as it is: written otherwise it would be nobody, and the table would count for nothing."""
    if account and name_fault(account) is not None:
        yield _fault(key, f"{account!r} is no name of an account", "write its name alone, in small letters")


def _signatures(settings: Settings) -> Iterator[Fault]:
    for name, signed in settings.signatures.items():
        yield from _whose(f"signatures.{name}.account", signed.account)
        if signed.key is None:
            fix = "write env:NAME, file:PATH or keyring:SERVICE/NAME"
            yield _fault(f"signatures.{name}.key", "is missing", fix)
        if HEADER.fullmatch(signed.header) is None:
            yield _fault(f"signatures.{name}.header", f"{signed.header!r} is no name of a header", "copy the service's")


def _models(settings: Settings) -> Iterator[Fault]:
    for tag, model in settings.models.items():
        if model.provider == "litellm" and not model.model:
            fix = 'write the provider\'s name for it, such as "ollama/llama3"'
            yield _fault(f"models.{tag}.model", "is missing", fix)
    demo = settings.models["demo"]
    if demo.provider != "demo":
        yield _fault("models.demo.provider", "demo is the built-in model", "give your model another tag")


def _agents(settings: Settings) -> Iterator[Fault]:
    for name, agent in settings.agents.items():
        if agent.model not in settings.models:
            fix = did_you_mean(agent.model, settings.models)
            yield _fault(f"agents.{name}.model", f"{agent.model!r} is not a tag in [models]", fix)
        for tag in agent.fallbacks:
            if tag not in settings.models:
                fix = did_you_mean(tag, settings.models)
                yield _fault(f"agents.{name}.fallbacks", f"{tag!r} is not a tag in [models]", fix)
        for skill in agent.skills:
            if (problem := name_fault(skill)) is not None:
                yield _fault(f"agents.{name}.skills", f"{skill!r} {problem}", "write the name in its SKILL.md")
        if any(character in agent.display for character in '/\r\n\0*%"'):
            yield _fault(f"agents.{name}.display", "holds a character no folder can have", "use plain words")
    displays: dict[str, str] = {}
    for name, agent in settings.agents.items():
        other = displays.setdefault(agent.display.casefold(), name)
        if other != name:
            yield _fault(f"agents.{name}.display", f"is also the display name of {other}", "give each its own")


def _seconds(settings: Settings) -> Iterator[Fault]:
    """Where two people must approve there must be a second one, whom a request can reach."""
    for table, agent in (("approvals", ""), *((f"agents.{name}", name) for name in settings.agents)):
        two, second = settings.two_of(agent)
        if two and not second:
            message = "names tools that two people must approve, and nobody who is the second"
            yield _fault(f"{table}.two", message, 'write second = ["bo"], the name of an account here')
        for name in second if table == "approvals" else settings.agents[agent].second:
            if problem := _second_fault(settings, name):
                yield _fault(f"{table}.second", f"{name!r} {problem}", "write the name of an account here")


def _second_fault(settings: Settings, name: str) -> str | None:
    if "@" not in name:
        return name_fault(name)
    if ADDRESS.fullmatch(name) is None:
        return "is not an address"
    local = name.lower().rpartition("@")[2] == settings.domain.lower()
    return None if local else "is an outside address, which no request is sent to for a second approval"


def _fetch(settings: Settings) -> Iterator[Fault]:
    for entry in settings.fetch.allow_private:
        if DOMAIN.fullmatch(entry.lower()) is None and not _is_network(entry):
            fix = 'write a host name, an address, or a network such as "192.168.1.0/24"'
            yield _fault("fetch.allow_private", f"{entry!r} is neither a host nor a network", fix)


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def _local_parts(settings: Settings) -> Iterator[Fault]:
    skills = dict.fromkeys(skill for agent in settings.agents.values() for skill in agent.skills)
    for fault in local_part_faults(settings, skills):
        kind, _, name = fault.key.partition(".")
        if kind != "skills":
            yield fault
            continue
        agent = next(agent for agent in settings.agents.values() if name in agent.skills)
        yield Fault(None, None, f"agents.{agent.name}.skills", fault.message, fault.fix)
