"""Reads `.mcp.json`: which MCP servers there are, in the form that other programs use too.

The rule: a server with a fault is left out and the fault says file, line and fix; no fault repeats a value, since
values are where secrets stand. A server that is not enabled is not resolved, so its variables may be missing.

    {"mcpServers": {"files": {"command": "npx", "args": ["..."], "env": {"TOKEN": "${TOKEN}"}},
                    "tickets": {"url": "https://...", "headers": {"Authorization": "Bearer ${file:ticket-token}"}}}}
"""

import ipaddress
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import urlsplit

from config.build import did_you_mean
from config.errors import Fault
from config.paths import write_private
from config.secrets import Secret, SecretError

NAME: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]|_(?!_)){0,30}[A-Za-z0-9]|[A-Za-z0-9]")
REFERENCE: Final = re.compile(r"\$\{([^}]*)\}")
VARIABLE: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?", re.DOTALL)
KEYS: Final = frozenset({
    "type", "command", "args", "env", "cwd", "url", "headers", "enabled", "trusted", "description",
})  # packed, to be seen at a glance  # fmt: skip
HTTP_TYPES: Final = frozenset({"http", "streamable-http", "streamableHttp"})
SECRET_NAME: Final = re.compile(r"(?i)token|key|secret|passw|auth|credential|cookie")
BLOT: Final = "[redacted]"
SHORT: Final = 8
"""Values below this many characters are not blotted out of texts: they would blot out words."""


def _empty() -> Mapping[str, str]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """One server: a program with `command`, or a service with `url`. `trusted`: its results do not mark a run."""

    name: str
    command: str = ""
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=_empty, repr=False)
    cwd: str = ""
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=_empty, repr=False)
    enabled: bool = True
    trusted: bool = False
    resolved: tuple[str, ...] = field(default=(), repr=False)
    hidden: tuple[str, ...] = field(default=(), repr=False)

    @property
    def transport(self) -> str:
        return "http" if self.url else "stdio"

    @property
    def where(self) -> str:
        """What it is, without anything secret: the program's name, or the service's host."""
        return urlsplit(self.url).netloc.rpartition("@")[2] if self.url else Path(self.command).name

    def secrets(self) -> tuple[str, ...]:
        """Values that must not be shown: everything that was referred to, and all of environment and headers."""
        values = (*self.resolved, *self.env.values(), *self.headers.values())
        return tuple(value for value in values if len(value) >= SHORT)

    def veil(self, text: str) -> str:
        """A result without the keys that the server was given. Only those: a result is work, and a folder that stands
        in the environment too has to stay in it.
        """
        named = [value for name, value in (*self.env.items(), *self.headers.items()) if SECRET_NAME.search(name)]
        for value in sorted({*self.hidden, *(one.split()[-1] for one in named if one.strip())}, key=len, reverse=True):
            text = text.replace(value, BLOT) if len(value) >= SHORT else text
        return text


@dataclass(frozen=True, slots=True)
class McpFile:
    """What the file says: the servers that can be used, in its order, and what is wrong with the others."""

    servers: Mapping[str, ServerConfig]
    faults: tuple[Fault, ...]


def read(path: Path, environ: Mapping[str, str]) -> McpFile:
    """Read the file; one that is not there names no server."""
    try:
        text = path.read_bytes().decode()
        tree = json.loads(text, object_pairs_hook=_once)
    except FileNotFoundError:
        return McpFile({}, ())
    except OSError as error:
        return _broken(path, None, f"cannot be read ({error.strerror})", "check its mode")
    except UnicodeDecodeError:
        return _broken(path, None, "is not UTF-8 text", "save it as UTF-8")
    except json.JSONDecodeError as error:
        return _broken(path, error.lineno, f"is not JSON: {error.msg}", "mend this line")
    except _Twice as twice:
        return _broken(path, line_of(text, twice.name), f"{twice.name!r} stands twice", "keep one")
    except RecursionError:
        return _broken(path, None, "is nested too deeply", "mend it")
    listed = tree.get("mcpServers") if isinstance(tree, dict) else None
    if not isinstance(listed, dict):
        return _broken(path, 1, 'has no object "mcpServers"', 'write {"mcpServers": {"NAME": {"command": "..."}}}')
    return _servers(path, text, listed, environ)


def _servers(path: Path, text: str, listed: Mapping[str, Any], environ: Mapping[str, str]) -> McpFile:
    servers: dict[str, ServerConfig] = {}
    faults: list[Fault] = []
    for name, node in listed.items():
        reader = _Reader(path, text, name, environ)
        made = reader.server(node)
        faults += reader.faults
        if made is not None and not reader.faults:
            servers[name] = made
    return McpFile(servers, tuple(faults))


def usable(said: McpFile) -> dict[str, str]:
    """Every server by name, with what keeps it from being used, or nothing."""
    found = {fault.key.partition(".")[0]: fault.message for fault in said.faults if fault.key}
    return {**{name: "" if one.enabled else "is turned off" for name, one in said.servers.items()}, **found}


def set_enabled(path: Path, name: str, on: bool) -> None:
    """Write `enabled` of a server into the file, which otherwise says what it said. Raises KeyError, ValueError,
    OSError.
    """
    tree = json.loads(path.read_bytes())
    tree["mcpServers"][name]["enabled"] = on
    write_private(path, json.dumps(tree, indent=2, ensure_ascii=False).encode() + b"\n")


class _Twice(ValueError):
    """A key that stands twice in one object."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, value in pairs:
        if name in made:
            raise _Twice(name)
        made[name] = value
    return made


def _broken(path: Path, line: int | None, message: str, fix: str) -> McpFile:
    return McpFile({}, (Fault(str(path), line, "", message, fix),))


def line_of(text: str, *keys: str) -> int:
    """The line on which a key stands, each looked for behind the one before."""
    place = 0
    for key in keys:
        found = re.compile(re.escape(json.dumps(key, ensure_ascii=False)) + r"\s*:").search(text, place)
        if found is None:
            break
        place = found.end()
    return text.count("\n", 0, place) + 1


class _Reader:
    """Reads one server and keeps what is wrong with it."""

    def __init__(self, path: Path, text: str, name: str, environ: Mapping[str, str]) -> None:
        self.faults: list[Fault] = []
        self._path = path
        self._text = text
        self._name = name
        self._environ = environ
        self._resolved: list[str] = []
        self._hidden: list[str] = []

    def server(self, node: Any) -> ServerConfig | None:
        if NAME.fullmatch(self._name) is None:
            self._fault("", "is no name for a server", "use up to 32 letters, digits, '-' and single '_'")
        if not isinstance(node, dict):
            self._fault("", "is not an object", 'write {"command": "..."} or {"url": "..."}')
            return None
        for key in sorted(node.keys() - KEYS):
            self._fault(key, "is not known here", _fix_of(key))
        enabled, trusted = self._flag(node, "enabled", True), self._flag(node, "trusted", False)
        resolve = self._resolve if enabled else _as_it_stands
        made = ServerConfig(
            name=self._name,
            command=self._text_of(node, "command", resolve),
            args=tuple(self._texts(node, "args", resolve)),
            env=self._pairs(node, "env", resolve),
            cwd=self._text_of(node, "cwd", resolve),
            url=self._text_of(node, "url", resolve),
            headers=self._pairs(node, "headers", resolve),
            enabled=enabled,
            trusted=trusted,
            resolved=tuple(self._resolved),
            hidden=tuple(self._hidden),
        )
        self._check(node, made)
        return made

    def _check(self, node: Mapping[str, Any], made: ServerConfig) -> None:
        if bool(node.get("command")) == bool(node.get("url")):
            self._fault("", "needs either a command or a url", "name the program to start, or the service's address")
        kind = node.get("type", "http" if made.url else "stdio")
        if kind == "sse":
            self._fault("type", "the transport sse is not spoken here", "use the server's streamable HTTP address")
        elif kind not in HTTP_TYPES | {"stdio"} or (kind == "stdio") == bool(made.url):
            self._fault("type", "does not fit", 'leave it out, or write "stdio" for a command and "http" for a url')
        if made.url and made.enabled:
            self._check_url(made)

    def _check_url(self, made: ServerConfig) -> None:
        try:
            parts = urlsplit(made.url)
            host = parts.hostname or ""
        except ValueError:
            parts, host = urlsplit(""), ""
        if parts.scheme not in ("http", "https") or not host:
            self._fault("url", "is no address of a web service", "write https://host/path")
        elif parts.scheme == "http" and made.headers and not _is_loopback(host):
            self._fault("url", "would send the headers over the network in clear", "use https")

    def _text_of(self, node: Mapping[str, Any], key: str, resolve: Callable[[str, str], str]) -> str:
        value = node.get(key, "")
        if not isinstance(value, str):
            self._fault(key, "must be a text", f'write "{key}": "..."')
            return ""
        return resolve(key, value)

    def _texts(self, node: Mapping[str, Any], key: str, resolve: Callable[[str, str], str]) -> Iterator[str]:
        value = node.get(key, [])
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            self._fault(key, "must be a list of texts", f'write "{key}": ["...", "..."]')
            return
        yield from (resolve(key, each) for each in value)

    def _pairs(self, node: Mapping[str, Any], key: str, resolve: Callable[[str, str], str]) -> Mapping[str, str]:
        value = node.get(key, {})
        if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
            self._fault(key, "must be an object of texts", f'write "{key}": {{"NAME": "..."}}')
            return _empty()
        return MappingProxyType({name: resolve(name, each) for name, each in value.items()})

    def _flag(self, node: Mapping[str, Any], key: str, default: bool) -> bool:
        value = node.get(key, default)
        if not isinstance(value, bool):
            self._fault(key, "must be true or false", "write it without quotes")
            return default
        return value

    def _resolve(self, key: str, text: str) -> str:
        """The text with every `${...}` replaced. A reference that leads nowhere is a fault."""

        def put(match: re.Match[str]) -> str:
            value = self._value(key, match[1])
            self._resolved.append(value)
            return value

        return REFERENCE.sub(put, text)

    def _value(self, key: str, reference: str) -> str:
        if reference.startswith(("file:", "keyring:")):
            return self._secret(key, reference)
        match = VARIABLE.fullmatch(reference.removeprefix("env:"))
        if match is None:
            self._fault(key, "holds a ${...} that is no reference", "write ${NAME}, ${NAME:-default} or ${file:PATH}")
            return ""
        value = self._environ.get(match[1]) or match[2]
        if value is None:
            self._fault(key, f"the variable {match[1]} is not set", f"set it, or write ${{{match[1]}:-default}}")
        if value and SECRET_NAME.search(match[1]):
            self._hidden.append(value)
        return value or ""

    def _secret(self, key: str, reference: str) -> str:
        try:
            value = Secret(reference, environ=self._environ, folder=self._path.parent).reveal()
        except SecretError as error:
            self._fault(key, f"{error.reference} {error.message}", error.fix)
            return ""
        self._hidden.append(value)
        return value

    def _fault(self, key: str, message: str, fix: str) -> None:
        keys = ("mcpServers", self._name, *([key] if key else []))
        line = line_of(self._text, *keys)
        self.faults.append(Fault(str(self._path), line, ".".join(keys[1:]), message, fix))


def _as_it_stands(key: str, text: str) -> str:
    return text


def _fix_of(key: str) -> str:
    if key == "disabled":
        return 'write "enabled": false'
    return did_you_mean(key, KEYS)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
