"""`config check`: whether the configuration can be used.

The rule: it changes nothing, not even the data folder.
"""

from collections.abc import Iterator

import typer

from bridge.cli.common import Config, Home, settings_of
from config.errors import ConfigError
from config.load import child_environment
from config.paths import DataFolder
from config.secrets import SecretError
from config.settings import Settings


def check(home: Home = None, config: Config = None) -> None:
    """Read the configuration and report every fault with file, line and fix (exit code 2)."""
    from agents.mcp.file import read
    from bridge.imap.registry import extension_faults

    settings = settings_of(home, config)
    servers = read(DataFolder(settings.home).mcp_file, child_environment())
    faults = [*extension_faults(settings.imap), *servers.faults]
    if faults:
        raise ConfigError(faults)
    file = config or DataFolder(settings.home).config_file
    where = str(file) if file.exists() else f"none at {file}; the defaults hold"
    typer.echo(f"Settings file  {where}")
    typer.echo(f"Data folder    {settings.home}")
    typer.echo(f"Agents         {', '.join(settings.address(name) for name in settings.agents)}")
    typer.echo(f"Models         {', '.join(settings.models)}")
    relay = settings.relay
    typer.echo(f"Relay          {f'{relay.host}:{relay.port}' if relay else 'none: no mail can leave'}")
    typer.echo(f"MCP servers    {', '.join(servers.servers) or 'none'}")
    for missing in _unreadable(settings):
        typer.echo(f"postroom: warning: {missing}", err=True)
    typer.echo("No faults.")


def _unreadable(settings: Settings) -> Iterator[str]:
    """Secrets that cannot be read from here. No fault, as the server may run with other variables; a keyring is not
    asked, since it may ask in turn."""
    for secret in settings.secrets():
        if secret.reference.startswith("keyring:"):
            continue
        try:
            secret.reveal()
        except SecretError as error:
            yield str(error)
