"""The part of the doctor's round that looks at what an installation leans on: mailboxes elsewhere, keys of signatures,
MCP servers, granted folders, the DKIM record.

The rule: nothing elsewhere is logged in to unless that was asked for (`login`), and nothing there or here is changed.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bridge import signatures, signing, watch
from bridge.control.protocol import ControlError
from bridge.finding import Finding, secret_fault, short
from bridge.post.identity import KeyUnknown, Lookup, dns_txt
from config.settings import Outside, Settings, WatchedMailbox

Ask = Callable[[str, Mapping[str, Any]], dict[str, Any]]
"""Runs a control command on the data folder, in its server or here."""

DNS_SECONDS: Final = 5.0
LOGIN_SECONDS: Final = 10.0
_LOGIN: Final = "`postroom doctor --login` logs in there and looks"


@dataclass(slots=True)
class House:
    """What the store knows: its accounts, and of each its triggers and granted folders, asked for once."""

    accounts: tuple[str, ...] = ()
    triggers: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    folders: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    servers: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def asked(cls, ask: Ask) -> "House":
        """Raises ControlError."""
        names = tuple(each["name"] for each in ask("accounts", {})["accounts"])
        made = cls(names, servers=ask("mcp", {}))
        for name in names:
            made.triggers[name] = ask("triggers", {"account": name})["triggers"]
            made.folders[name] = ask("folders", {"account": name})["folders"]
        return made

    def named(self, kind: str) -> list[tuple[str, str]]:
        """Account and name of every trigger of a kind."""
        found = [(account, each) for account, listed in self.triggers.items() for each in listed]
        return [(account, each["name"]) for account, each in found if each["kind"] == kind]


def examine(settings: Settings, ask: Ask | None, *, login: bool = False) -> Iterator[Finding]:
    """Every finding. `ask` None: there is no store yet, and what only it knows is left out."""
    try:
        house = House.asked(ask) if ask is not None else None
    except ControlError as error:
        yield Finding("accounts", "fault", error.message, error.fix or "look at the server's log")
        house = None
    yield from _mailboxes(settings, house, login)
    yield from _webhooks(settings, house)
    yield from _dkim(settings)
    yield from _places(settings)
    if house is not None:
        yield from _names(settings, house)
        yield from _servers(house)
        yield from _folders(house)


def _mailboxes(settings: Settings, house: House | None, login: bool) -> Iterator[Finding]:
    watched: list[tuple[str, str, WatchedMailbox | Outside]] = [
        (f"mailbox {name}", each.account or settings.user, each) for name, each in settings.mailboxes.items()
    ]
    if settings.outside.enabled:
        watched.append(("mailbox of [outside]", settings.outside.account or settings.user, settings.outside))
    for check, owner, far in watched:
        if house is not None and owner not in house.accounts:
            fix = "name an account in its `account`; `postroom account list` shows those there are"
            yield Finding(check, "fault", f"is of {owner}, who has no account here", fix)
        else:
            yield _mailbox(check, far, login)
    for account, name in house.named("mailbox") if house is not None else ():
        if name not in settings.mailboxes:
            fix = f"describe it under [mailboxes.{name}], or `postroom triggers delete {name}`"
            yield Finding(f"mailbox {name}", "fault", f"{account} watches it, and the settings do not describe it", fix)


def _mailbox(check: str, far: WatchedMailbox | Outside, login: bool) -> Finding:
    where = f"{far.mailbox} of {far.username} at {far.host}:{far.port}"
    if (problem := secret_fault(far.password)) is not None:
        return Finding(check, "fault", *problem)
    if not login:
        return Finding(check, "ok", f"{where}; not tried: {_LOGIN}")
    why, idles = watch.try_out(far, LOGIN_SECONDS)
    if why:
        return Finding(check, "fault", f"{where}: {why}", "look at its host, port, tls, username, password and mailbox")
    how = "told at once" if idles else f"looked at every {far.poll_seconds} s, as it has no IDLE"
    return Finding(check, "ok", f"{where} can be read; {how}")


def _webhooks(settings: Settings, house: House | None) -> Iterator[Finding]:
    there = house.named("webhook") if house is not None else []
    if there and not settings.webhooks.enabled:
        names = ", ".join(name for _, name in there)
        yield Finding("webhooks", "note", f"off, and there is {names}", "write enabled = true under [webhooks]")
    for name, signed in settings.signatures.items():
        check, owner = f"signature {name}", signatures.owner_of(settings, signed)
        problem = secret_fault(signed.key)
        if problem is None:
            try:
                signatures.key_bytes(signed, signed.key.reveal() if signed.key else "")
            except ValueError as error:
                problem = f"its key {error}", "copy the key from the service as it gives it"
        if problem is not None:
            yield Finding(check, "fault", *problem)
        elif house is not None and (owner, name) not in there:
            fix = f'`postroom triggers add webhook {name} "what to do" --account {owner}`'
            yield Finding(check, "note", f"{owner} has no webhook {name}", fix)
        else:
            yield Finding(check, "ok", f"{signed.scheme}, and its key can be read")


def _dkim(settings: Settings, lookup: Lookup = dns_txt) -> Iterator[Finding]:
    """Whether the record that others verify our signatures with is that of our key."""
    relay = settings.relay
    if relay is None or not relay.dkim_domain:
        return
    if not signing.key_file(settings.home).exists():
        yield Finding("DKIM", "note", "there is no key yet", "`postroom dkim` makes it and prints its record")
        return
    name, wanted = signing.dns_record(settings.home, relay.dkim_selector, relay.dkim_domain)
    fix = "put the record that `postroom dkim` prints into the DNS; it may take hours to be seen"
    try:
        found = lookup(name.encode(), DNS_SECONDS)
    except KeyUnknown as error:
        yield Finding("DKIM", "note", f"the DNS does not answer ({short(error)})", "look again when it does")
        return
    if not found:
        yield Finding("DKIM", "fault", f"there is no record {name}", fix)
    elif _key_of(found.decode("ascii", "replace")) != _key_of(wanted):
        yield Finding("DKIM", "fault", f"the record {name} is of another key", fix)
    else:
        yield Finding("DKIM", "ok", f"{name} holds our key")


def _key_of(record: str) -> str:
    parts = [part.strip().partition("=") for part in record.split(";")]
    return next(("".join(value.split()) for name, _, value in parts if name.strip() == "p"), "")


def _places(settings: Settings) -> Iterator[Finding]:
    """Folders that the settings name."""
    named: list[tuple[str, Path]] = [("skills.folders", each) for each in settings.skills.folders]
    named += [("files.by_mail", each) for each in settings.files.by_mail]
    for key, folder in named:
        if not folder.is_dir():
            yield Finding(key, "fault", f"{folder} is not a folder", "make it, or take it out of the settings")


def _names(settings: Settings, house: House) -> Iterator[Finding]:
    """Agents that no account can reach, since an account has their address."""
    for name in sorted(set(house.accounts) & settings.agents.keys()):
        address = settings.address(name)
        fix = f"give the agent another name; what is written to {address} goes to the account"
        yield Finding(f"agent {name}", "fault", f"the account {name} has its address", fix)


def _servers(house: House) -> Iterator[Finding]:
    told = house.servers
    for fault in told["faults"]:
        where = f"{fault['file']}:{fault['line'] or ''}: {fault['key']}"
        yield Finding("MCP", "fault", f"{where} {fault['message']}", fault["fix"])
    for server in told["servers"]:
        check, state = f"MCP {server['name']}", server["state"]
        changed = [tool["name"] for tool in server["tools"] if tool["state"] == "changed"]
        if server["error"] and state != "off":
            fix = f"`postroom mcp show {server['name']}` shows what it wrote, `postroom mcp test` tries it"
            yield Finding(check, "fault", f"{state}: {server['error']}", fix)
        elif changed:
            fix = f"`postroom mcp approve {server['name']} {changed[0]}` shows what changed"
            yield Finding(check, "note", f"changed, and off since: {', '.join(changed)}", fix)
        elif server["note"]:
            yield Finding(check, "note", server["note"], "see docs/mcp.md")
        else:
            yield Finding(check, "ok", f"{state}, {len(server['tools'])} tools")


def _folders(house: House) -> Iterator[Finding]:
    for account, folders in house.folders.items():
        for folder in folders:
            if not Path(folder["path"]).is_dir():
                fix = f"bring it back, or `postroom folders revoke {folder['name']} --account {account}`"
                yield Finding(f"folder {folder['name']}", "fault", f"{folder['path']} is not there any more", fix)
