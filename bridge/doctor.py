"""The doctor: looks at everything that has to be right for a server to work, and says what to do where it is not.

The rule: a check changes nothing and lasts seconds at most; a finding without a fault needs no reading.
"""

import asyncio
import json
import smtplib
import socket
import ssl
import stat
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from sqlite3 import DatabaseError
from typing import Any, Final

from bridge import checkup
from bridge.checkup import Ask
from bridge.control.client import call
from bridge.control.protocol import ControlError
from bridge.finding import Finding, secret_fault, short
from bridge.net.tls import server_context
from config.paths import DataFolder, FolderLock, FolderLocked, holder
from config.settings import DEMO_MODEL, Model, Settings
from mailstore.errors import StoreError

CONNECT_SECONDS: Final = 5.0
DAY: Final = 86_400
SOON_DAYS: Final = 30
OPEN_FILES: Final = ("ca.pem", "postroom.toml")
LOW_DISK_BYTES: Final = 500 * 1024 * 1024
BUILT_AFTER: Final = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
LOCAL: Final = ("ollama/", "ollama_chat/", "bedrock/")
"""Providers that take no key: on this machine, or known by the machine's own account."""

SERVICES: Final = ("imap", "imaps", "smtp", "smtps", "web")


def examine(settings: Settings, ask: Ask, *, login: bool = False) -> list[Finding]:
    """Every finding, in the order in which to mend. `login`: mailboxes elsewhere are logged in to."""
    from mailstore.store import FILE

    if not settings.home.is_dir():
        fix = "`postroom serve` or `postroom init` makes it"
        nothing = Finding("data folder", "note", f"{settings.home} does not exist yet", fix)
        return [nothing, *_outside(settings), *checkup.examine(settings, None, login=login)]
    folder = DataFolder(settings.home)
    status, server = _server(folder)
    findings = [*_folder(folder), server, *_ports(settings, status), *_certificate(settings, folder)]
    findings += _store(settings, folder, running=status is not None)
    known = ask if (folder.root / FILE).exists() and not _is_faulty(findings, "store", "server") else None
    return [*findings, *_skills(settings, known), *_outside(settings), *checkup.examine(settings, known, login=login)]


def _is_faulty(findings: list[Finding], *checks: str) -> bool:
    return any(each.state == "fault" and each.check in checks for each in findings)


def _outside(settings: Settings) -> Iterator[Finding]:
    yield from _models(settings)
    yield from _relay(settings)
    yield _clock(settings)


def _folder(folder: DataFolder) -> Iterator[Finding]:
    mode = stat.S_IMODE(folder.root.stat().st_mode)
    if sys.platform != "win32" and mode & 0o077:
        yield Finding("data folder", "fault", f"{folder.root} has mode {mode:04o}", f"chmod 700 {folder.root}")
    else:
        yield Finding("data folder", "ok", str(folder.root))
    loose = [path for path in folder.root.rglob("*") if path.is_file() and _is_loose(path)]
    if loose:
        names = " ".join(str(path) for path in loose[:3])
        count = "1 file" if len(loose) == 1 else f"{len(loose)} files"
        yield Finding("files", "fault", f"{count} can be read by others", f"chmod 600 {names}")
    free = _free_bytes(folder.root)
    if free < LOW_DISK_BYTES:
        yield Finding(
            "disk", "fault", f"{free // 1_000_000} MB left", "free some space: mail is refused when it is full"
        )


def _is_loose(path: Path) -> bool:
    """Whether others can read a file that is not meant for them. The authority's certificate is, and settings hold no
    secret: an editor writes them as it likes."""
    return sys.platform != "win32" and path.name not in OPEN_FILES and bool(path.stat().st_mode & 0o077)


def _free_bytes(path: Path) -> int:
    import shutil

    return shutil.disk_usage(path).free


def _server(folder: DataFolder) -> tuple[dict[str, Any] | None, Finding]:
    """What a running server says of itself, and the finding about lock and socket."""
    pid = holder(folder)
    if pid is None:
        return None, Finding("server", "note", "not running", "start it with `postroom serve`")
    try:
        status = call(folder.control_socket, "status", {}, seconds=CONNECT_SECONDS)
    except ControlError as error:
        fix = error.fix or "stop that process"
        return None, Finding("server", "fault", f"process {pid} has the folder: {error.message}", fix)
    return status, Finding("server", "ok", f"running, process {status['pid']}")


def _ports(settings: Settings, status: dict[str, Any] | None) -> Iterator[Finding]:
    ours = (status or {}).get("ports") or {}
    for name in SERVICES:
        wanted = getattr(settings.listen, name)
        if number := ours.get(name):
            yield _answers(name, number)
        elif not status and wanted and _taken(wanted):
            fix = f"stop what uses it, or set listen.{name} to another port"
            yield Finding(f"port {name}", "fault", f"{wanted} is taken by another program", fix)


def _answers(name: str, number: int) -> Finding:
    try:
        socket.create_connection(("localhost", number), CONNECT_SECONDS).close()
    except OSError as error:
        fix = "look at the server's log; a firewall may be in between"
        return Finding(f"port {name}", "fault", f"{number} does not answer ({error.strerror or error})", fix)
    return Finding(f"port {name}", "ok", f"{number} answers")


def _taken(number: int) -> bool:
    try:
        socket.create_connection(("localhost", number), CONNECT_SECONDS).close()
    except OSError:
        return False
    return True


def _certificate(settings: Settings, folder: DataFolder) -> Iterator[Finding]:
    """Validity and names, as noted beside the certificate when it was made."""
    try:
        note = json.loads((folder.tls / "server.json").read_bytes())
        server_context(folder.tls / "server.pem")
        days = int((float(note["not_after"]) - time.time()) // DAY)
        missing = {host.lower() for host in settings.listen.hosts} - set(note["names"])
    except FileNotFoundError:
        yield Finding("certificate", "note", "none yet", "the first `postroom serve` makes it")
        return
    except (OSError, ssl.SSLError, ValueError, KeyError, TypeError) as error:
        fix = f"remove {folder.tls / 'server.json'}; the next start makes a new one"
        yield Finding("certificate", "fault", f"cannot be used ({error})", fix)
        return
    if missing:
        fix = "restart the server: it makes a new one"
        yield Finding("certificate", "fault", f"does not name {', '.join(sorted(missing))}", fix)
    elif days < SOON_DAYS:
        yield Finding("certificate", "fault", f"ends in {days} days", "restart the server: it renews it")
    else:
        yield Finding("certificate", "ok", f"{', '.join(note['names'])}; {days} days left")


def _store(settings: Settings, folder: DataFolder, *, running: bool) -> Iterator[Finding]:
    """The store's invariants: asked of the server, or checked here."""
    from mailstore.store import FILE

    if not (folder.root / FILE).exists():
        return
    try:
        faults = _faults(settings, folder, running)
    except FolderLocked:
        return
    except (ControlError, StoreError, DatabaseError) as error:
        yield Finding("store", "fault", str(error), "restore a copy of the data folder, or ask for help")
        return
    if faults:
        fix = "keep a copy of the data folder and report this"
        yield Finding("store", "fault", "; ".join(faults[:3]), fix)
    else:
        yield Finding("store", "ok", "every invariant holds")


def _faults(settings: Settings, folder: DataFolder, running: bool) -> list[str]:
    if running:
        return list(call(folder.control_socket, "check", {}, seconds=60.0)["faults"])
    with FolderLock(folder):
        return asyncio.run(_check(settings))


async def _check(settings: Settings) -> list[str]:
    from bridge.sql import series
    from mailstore.sqlite import Series
    from mailstore.store import Store

    store = await Store.open(settings.home, [Series("agents", files("agents") / "sql"), series()])
    try:
        return await store.check()
    finally:
        await store.close()


def _skills(settings: Settings, ask: Ask | None) -> Iterator[Finding]:
    """A broken skill is a fault, as somebody counts on its gates; one that only lacks something is worth a note."""
    from agents.catalogue import BROKEN, NOT_READY
    from bridge.control.skills import of_settings, told

    try:
        listed = (ask("skills", {}) if ask is not None else told(settings, of_settings(settings)))["skills"]
    except ControlError as error:
        yield Finding("skills", "fault", error.message, error.fix)
        return
    wrong = [one for one in listed if one["state"] in (BROKEN, NOT_READY)]
    for one in wrong:
        is_broken = one["state"] == BROKEN
        fix = f"mend {one['place']}" if is_broken else "see docs/skills.md, or `postroom skills disable` it"
        found = f"{one['name']} is {one['state']}: {'; '.join(one['why'])}"
        yield Finding("skills", "fault" if is_broken else "note", found, fix)
    if not wrong:
        yield Finding("skills", "ok", f"{len(listed)} skills, each ready or turned off")


def _models(settings: Settings) -> Iterator[Finding]:
    used: set[str] = set()
    for agent in settings.agents.values():
        for tag in (agent.model, *agent.fallbacks):
            check = f"model of {agent.name}" if tag == agent.model else f"stand-in of {agent.name}"
            yield _model(check, settings.models[tag])
        used |= {agent.model, *agent.fallbacks}
    yield from (_model(f"model {tag}", each) for tag, each in settings.models.items() if tag not in used | {DEMO_MODEL})


def _model(check: str, model: Model) -> Finding:
    if model.provider == "demo":
        return Finding(
            check, "note", "the built-in demo (no AI)", "set up [models] and the agent's model for real answers"
        )
    if (problem := secret_fault(model.api_key)) is not None:
        return Finding(check, "fault", f"{model.name}: {problem[0]}", problem[1])
    if model.api_key is None and not model.api_base and not model.model.startswith(LOCAL):
        fix = f"write api_key under [models.{model.name}], unless its provider takes none"
        return Finding(check, "note", f"{model.name} ({model.model}): no key is set", fix)
    return Finding(check, "ok", f"{model.name} ({model.model})")


def _relay(settings: Settings) -> Iterator[Finding]:
    relay = settings.relay
    if relay is None:
        yield Finding("relay", "note", "none: agents cannot send mail", "set [relay] host and from to let them")
        return
    if (problem := secret_fault(relay.password)) is not None:
        yield Finding("relay", "fault", *problem)
        return
    where = f"{relay.host}:{relay.port}"
    try:
        _greet(settings)
    except (OSError, smtplib.SMTPException) as error:
        fix = "check relay.host, relay.port, relay.tls and the login"
        yield Finding("relay", "fault", f"{where}: {short(error)}", fix)
    else:
        yield Finding("relay", "ok", f"{where} answers{' and takes the login' if relay.username else ''}")


def _greet(settings: Settings) -> None:
    """Say hello to the relay, with TLS and login as configured; send nothing."""
    relay = settings.relay
    assert relay is not None
    context = ssl.create_default_context()
    make: Callable[..., smtplib.SMTP] = smtplib.SMTP
    more: dict[str, Any] = {}
    if relay.tls == "implicit":
        make, more = smtplib.SMTP_SSL, {"context": context}
    with make(relay.host, relay.port, timeout=CONNECT_SECONDS, **more) as client:
        if relay.tls == "starttls":
            client.starttls(context=context)
        if relay.username:
            client.login(relay.username, relay.password.reveal() if relay.password else "")
        else:
            client.ehlo()


def _clock(settings: Settings) -> Finding:
    """The clock against what cannot lie in its future: this program, and the newest file of the data folder."""
    now = time.time()
    newest = (
        max((path.stat().st_mtime for path in settings.home.glob("*")), default=0.0) if settings.home.is_dir() else 0.0
    )
    shown = f"{datetime.fromtimestamp(now).astimezone():%Y-%m-%d %H:%M %Z}"
    if now < BUILT_AFTER or newest > now + DAY:
        return Finding("clock", "fault", f"{shown} is in the past", "set this machine's clock, best by NTP")
    return Finding("clock", "ok", shown)
