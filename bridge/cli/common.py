"""What the commands share: their options, the settings, and how a command reaches the data.

The rule: a command runs in the server that has the data folder, else in this process, which takes the folder for as
long; never both.
"""

import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from config.load import load
from config.paths import DataFolder, FolderLock, FolderLocked, holder, open_folder, restrict_new_files
from config.settings import Log, Settings

if TYPE_CHECKING:
    from agents.catalogue import Catalogue
    from agents.mcp.servers import Servers
    from bridge.control.ports import ListeningPorts, StoreDesk
    from mailstore.store import Store

DONE: Final = 0
FAILED: Final = 1
USAGE: Final = 2
IN_USE: Final = 3
INTERRUPTED: Final = 130

Home = Annotated[Path | None, typer.Option("--home", help="The data folder.", show_default="the platform's")]
Config = Annotated[Path | None, typer.Option("--config", help="The settings file.", show_default="in the data folder")]
AccountName = Annotated[
    str | None, typer.Option("--account", help="The account it is about.", show_default="the only one")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]

ATTEMPTS: Final = 30
PAUSE_SECONDS: Final = 0.1
"""A server that is starting, or another command, has the folder for a moment without a socket: wait up to 3 s."""


class CliError(Exception):
    """A command ends here: `message` is what is wrong, `fix` what to do, `code` the exit code."""

    def __init__(self, message: str, fix: str = "", code: int = FAILED) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix
        self.code = code


def settings_of(home: Path | None, config: Path | None, flags: Mapping[str, object] | None = None) -> Settings:
    """The settings. Raises ConfigError with every fault."""
    return load(home=home, config_file=config, flags=flags)


def ask(settings: Settings, command: str, args: Mapping[str, Any], payload: bytes = b"") -> dict[str, Any]:
    """Run a control command: in the server when one runs on this data folder, else here. Raises ControlError."""
    from bridge.control.client import NoServer, call

    restrict_new_files()
    folder = open_folder(settings.home)
    for attempt in range(1, ATTEMPTS + 1):
        try:
            if holder(folder) is not None:
                return call(folder.control_socket, command, args, payload)
            with FolderLock(folder):
                return _alone(settings, folder, command, args, payload)
        except (NoServer, FolderLocked):
            if attempt == ATTEMPTS:
                raise
            time.sleep(PAUSE_SECONDS)
    raise AssertionError("unreachable")


def is_running(settings: Settings) -> bool:
    """Whether some process has the data folder."""
    return holder(DataFolder(settings.home)) is not None


def _alone(
    settings: Settings, folder: DataFolder, command: str, args: Mapping[str, Any], payload: bytes
) -> dict[str, Any]:
    import asyncio

    from bridge.control.commands import run
    from config.redact import start_logging

    quiet = replace(settings, log=Log("error"))
    start_logging(quiet)

    async def once() -> dict[str, Any]:
        async with _desk(quiet, folder, command) as desk:
            return await run(desk, command, args, payload)

    return asyncio.run(once())


@dataclass(frozen=True, slots=True)
class OnlyStore:
    """The store without a server around it: enough for most commands, and quickly there."""

    store: "Store"
    settings: Settings
    ports: "ListeningPorts | None" = None
    mcp: "Servers | None" = None
    skills: "Catalogue | None" = None

    def end_sessions(self, password_id: int) -> int:
        """Without a server there are none."""
        return 0


@asynccontextmanager
async def _desk(settings: Settings, folder: DataFolder, command: str) -> AsyncIterator["StoreDesk"]:
    """What a command needs, opened without listening anywhere."""
    from bridge.control.commands import entry

    if not entry(command).store_only:
        from bridge.app import App

        app = await App.open(settings, folder)
        try:
            yield app
        finally:
            await app.close()
        return
    async with open_store(settings) as store:
        yield OnlyStore(store, settings)


@asynccontextmanager
async def open_store(settings: Settings) -> AsyncIterator["Store"]:
    """The store alone. The caller holds the folder's lock."""
    from importlib.resources import files

    from bridge.sql import series as bridge_series
    from mailstore.sqlite import Series
    from mailstore.store import Store

    store = await Store.open(settings.home, [Series("agents", files("agents") / "sql"), bridge_series()])
    try:
        yield store
    finally:
        await store.close()


def read_password(file: Path) -> str:
    """The password in a file ("-": standard input), without the line end. Warns when others can read the file."""
    if str(file) == "-":
        return sys.stdin.readline().rstrip("\r\n")
    try:
        text = file.read_text(encoding="utf-8").rstrip("\r\n")
        open_to_others = sys.platform != "win32" and file.stat().st_mode & 0o077
    except OSError as error:
        raise CliError(
            f"{file} cannot be read ({error.strerror})", "name the file that holds the password", USAGE
        ) from None
    except UnicodeDecodeError:
        raise CliError(f"{file} is not UTF-8 text", "write the password as UTF-8 text", USAGE) from None
    if not text:
        raise CliError(f"{file} is empty", "write the password into it", USAGE)
    if open_to_others:
        typer.echo(f"postroom: warning: other users can read {file}; chmod 600 it, or remove it", err=True)
    return text


def print_json(value: object) -> None:
    """A value as JSON, set for reading."""
    import json

    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def confirmed(question: str) -> bool:
    """What whoever sits at the terminal answers. Raises `CliError` where nobody does."""
    try:
        return typer.confirm(question)
    except typer.Abort:
        raise CliError("nobody answered; nothing was done", "say --yes to do it without being asked", USAGE) from None
