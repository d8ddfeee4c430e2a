"""`postroom serve`: takes the data folder, listens, and works until it is told to stop.

The rule: what can be wrong is said before anything listens; SIGTERM and SIGINT end it cleanly; and a password
is shown on a terminal or not at all.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bridge.cli.common import CliError, Config, Home, OnlyStore, open_store, settings_of
from bridge.cli.setup import Login, client_lines
from config.errors import ConfigError
from config.load import keep_time_of, prepare_library_environment
from config.paths import DataFolder, FolderLock, open_folder, restrict_new_files, write_private
from config.settings import MAX_PORT, Settings

if TYPE_CHECKING:
    import asyncio

    from bridge.app import Ports

Port = Annotated[
    int | None, typer.Option(min=0, max=MAX_PORT, help="Listen here; 0: any free port.", show_default="settings")
]


@dataclass(frozen=True, slots=True)
class _Server:
    """What one run of the command works with."""

    settings: Settings
    folder: DataFolder
    ready_file: Path | None


def serve(
    home: Home = None,
    config: Config = None,
    ready_file: Annotated[
        Path | None, typer.Option("--ready-file", help="Written, as JSON of the ports, once everything listens.")
    ] = None,
    host: Annotated[
        list[str] | None, typer.Option("--host", help="Address to listen on; may be repeated.", show_default="settings")
    ] = None,
    imap_port: Port = None,
    imaps_port: Port = None,
    smtp_port: Port = None,
    smtps_port: Port = None,
    web_port: Port = None,
    require_tls: Annotated[
        bool | None,
        typer.Option("--require-tls/--no-require-tls", help="Log in over TLS only.", show_default="settings"),
    ] = None,
    log_level: Annotated[
        str | None, typer.Option("--log-level", help="debug, info, warning or error.", show_default="settings")
    ] = None,
) -> None:
    """Run the server until it is stopped (Ctrl-C, SIGTERM)."""
    prepare_library_environment()
    given: dict[str, object | None] = {
        "listen.hosts": tuple(host) if host else None,
        "listen.imap": imap_port,
        "listen.imaps": imaps_port,
        "listen.smtp": smtp_port,
        "listen.smtps": smtps_port,
        "listen.web": web_port,
        "require_tls": require_tls,
        "log.level": log_level,
    }
    settings = settings_of(home, config, {name: value for name, value in given.items() if value is not None})
    keep_time_of(settings)
    restrict_new_files()
    folder = open_folder(settings.home)
    with FolderLock(folder):
        _serve(_Server(settings, folder, ready_file))


def _serve(server: _Server) -> None:
    import asyncio

    from agents.discover import DiscoveryError
    from bridge.imap.registry import extension_faults
    from bridge.net.listener import ListenError
    from bridge.net.memory import keep_large_blocks_apart
    from config.redact import start_logging
    from mailstore.errors import StoreError

    faults = extension_faults(server.settings.imap)
    if faults:
        raise ConfigError(faults)
    keep_large_blocks_apart()
    redactor = start_logging(server.settings)
    if server.ready_file is not None:
        server.ready_file.unlink(missing_ok=True)
    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            login = runner.run(_first_account(server.settings))
            if login.password is not None:
                redactor.learn(login.password)
            runner.run(_until_stopped(server, login))
    except (ListenError, DiscoveryError, StoreError) as error:
        raise CliError(str(error)) from None


def _loop_factory() -> "Callable[[], asyncio.AbstractEventLoop] | None":
    """uvloop where there is one: an idle TLS connection costs a tenth of the memory."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


async def _first_account(settings: Settings) -> Login:
    """The account that the settings name, made if there is none at all; its password is for a terminal's eyes only."""
    from bridge.control.accounts import add, create
    from bridge.control.protocol import Args
    from bridge.control.who import usual

    async with open_store(settings) as store:
        desk = OnlyStore(store, settings)
        there = usual(desk)
        if there is not None:
            return Login(there.name, there.address)
        if not sys.stdout.isatty():
            made = await create(desk, settings.user)
            hint = "`postroom password add LABEL` makes a password for it"
            typer.echo(f"postroom: made the account {made.name}, without a password: {hint}", err=True)
            return Login(made.name, made.address)
        told = await add(desk, Args({"name": settings.user}))
        return Login(told["name"], told["address"], told["password"])


async def _until_stopped(server: _Server, login: Login) -> None:
    import asyncio

    from bridge.app import serve as serve_app

    stop = asyncio.Event()
    _on_signals(stop)
    await serve_app(server.settings, server.folder, on_ready=lambda ports: _ready(server, login, ports), stop=stop)


def _on_signals(stop: "asyncio.Event") -> None:
    """SIGTERM and SIGINT ask for a clean end; the same again ends at once, as the system would."""
    import asyncio
    import signal

    loop = asyncio.get_running_loop()

    def end(number: int) -> None:
        stop.set()
        signal.signal(number, signal.SIG_DFL)

    def later(number: int, frame: object) -> None:
        loop.call_soon_threadsafe(end, number)

    for number in (signal.SIGTERM, signal.SIGINT):
        if sys.platform == "win32":
            signal.signal(number, later)
        else:
            loop.add_signal_handler(number, end, number)


def _ready(server: _Server, login: Login, ports: "Ports") -> None:
    """Everything listens: tell whoever waits for the file, and whoever looks at the terminal."""
    import json

    told = ports.as_dict()
    if server.ready_file is not None:
        write_private(server.ready_file.absolute(), json.dumps(told).encode() + b"\n")
    if not sys.stdout.isatty():
        return
    lines = ["Postroom is running; Ctrl-C stops it. In your mail client:", "", *client_lines(told, login), ""]
    if login.password is not None:
        lines.append("The password is shown only now. `postroom password add LABEL` makes one for each further device.")
    else:
        lines.append("`postroom password add LABEL` makes a password for a device.")
    agents = ", ".join(server.settings.address(name) for name in server.settings.agents)
    typer.echo("\n".join([*lines, f"Then write to {agents}.", ""]))
