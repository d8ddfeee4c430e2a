"""`.mcp.json`: what it may say, and that every fault names file, line and fix and no value."""

import json
from pathlib import Path
from typing import Any

import pytest

from agents.mcp.file import McpFile, ServerConfig, read, set_enabled

ENVIRON = {"TOKEN": "canary-token-1", "EMPTY": "", "FOLDER": "/data"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".mcp.json"


def said(path: Path, **servers: Any) -> McpFile:
    path.write_text(json.dumps({"mcpServers": servers}, indent=1))
    return read(path, ENVIRON)


def only(found: McpFile) -> ServerConfig:
    assert found.faults == ()
    [config] = found.servers.values()
    return config


def test_no_file_is_no_server(path: Path) -> None:
    assert read(path, ENVIRON) == McpFile({}, ())


def test_a_program(path: Path) -> None:
    env = {"KEY": "${TOKEN}", "PLAIN": "x"}
    config = only(said(path, files={"command": "npx", "args": ["-y", "${FOLDER}/x"], "env": env, "cwd": "${FOLDER}"}))
    assert (config.command, config.args, dict(config.env)) == (
        "npx", ("-y", "/data/x"), {"KEY": "canary-token-1", "PLAIN": "x"}
    )  # packed, to be seen at a glance  # fmt: skip
    assert (config.cwd, config.enabled, config.trusted, config.transport, config.where) == (
        "/data", True, False, "stdio", "npx"
    )  # packed, to be seen at a glance  # fmt: skip
    assert "canary" not in repr(config)
    assert "canary-token-1" in config.secrets()


def test_a_service(path: Path) -> None:
    entry = {"type": "http", "url": "https://me:pw@x.example/mcp", "headers": {"A": "Bearer ${TOKEN}"}, "trusted": True}
    config = only(said(path, tickets=entry))
    assert (config.url, dict(config.headers)) == ("https://me:pw@x.example/mcp", {"A": "Bearer canary-token-1"})
    assert (config.transport, config.where, config.trusted) == ("http", "x.example", True)
    assert "canary" not in repr(config)


def test_defaults_and_files_as_references(path: Path) -> None:
    secret = path.parent / "token"
    secret.write_text("canary-file-2\n")
    secret.chmod(0o600)
    env = {"A": "${NONE:-fallback}", "B": "${EMPTY:-x}", "C": "${file:token}", "D": "${env:TOKEN}"}
    config = only(said(path, s={"command": "c", "env": env}))
    assert dict(config.env) == {"A": "fallback", "B": "x", "C": "canary-file-2", "D": "canary-token-1"}
    assert config.hidden == ("canary-file-2", "canary-token-1")


def test_one_that_is_off_needs_no_variables(path: Path) -> None:
    config = only(said(path, s={"command": "c", "args": ["${NONE}"], "enabled": False}))
    assert not config.enabled


@pytest.mark.parametrize(
    ("entry", "key", "told", "fix"),
    [
        ({"comand": "x"}, "s.comand", "is not known here", "did you mean command?"),
        ({"command": "x", "disabled": True}, "s.disabled", "is not known here", 'write "enabled": false'),
        ({}, "s", "needs either a command or a url", "name the program"),
        ({"command": "x", "url": "https://x.example"}, "s", "needs either", "name the program"),
        ({"url": "https://x.example", "type": "sse"}, "s.type", "sse is not spoken", "streamable HTTP"),
        ({"url": "https://x.example", "type": "stdio"}, "s.type", "does not fit", "leave it out"),
        ({"url": "ftp://x.example"}, "s.url", "is no address", "https://"),
        ({"url": "http://x.example", "headers": {"A": "b"}}, "s.url", "in clear", "use https"),
        ({"command": 1}, "s.command", "must be a text", '"command"'),
        ({"command": "x", "args": "y"}, "s.args", "list of texts", '"args"'),
        ({"command": "x", "env": {"A": 1}}, "s.env", "object of texts", '"env"'),
        ({"command": "x", "enabled": "yes"}, "s.enabled", "true or false", "without quotes"),
        ({"command": "x", "env": {"KEY": "${NONE}"}}, "s.KEY", "the variable NONE is not set", "${NONE:-default}"),
        ({"command": "x", "env": {"KEY": "${a b}"}}, "s.KEY", "is no reference", "write ${NAME}"),
        ({"command": "x", "env": {"KEY": "${file:gone}"}}, "s.KEY", "cannot be read", "0600"),
        ([], "s", "is not an object", "command"),
    ],
)
def test_what_is_wrong_is_said_and_the_server_left_out(path: Path, entry: Any, key: str, told: str, fix: str) -> None:
    found = said(path, good={"command": "ok"}, s=entry)
    assert list(found.servers) == ["good"]
    fault = found.faults[0]
    assert (fault.file, fault.key) == (str(path), key)
    assert told in fault.message
    assert fix in fault.fix
    line = path.read_text().splitlines()[(fault.line or 0) - 1]
    assert f'"{key.rpartition(".")[2]}"' in line


@pytest.mark.parametrize("name", ["", "a b", "a__b", "a.b", "x" * 33, "-a", "ä"])
def test_names_that_no_provider_takes(path: Path, name: str) -> None:
    found = said(path, **{name: {"command": "x"}})
    assert (found.servers, found.faults[0].message) == ({}, "is no name for a server")


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        (b'{"mcpServers": {\n"a": {,}}}', 2, "is not JSON"),
        (b'{"mcpServers": {\n"a": {"command": "x"},\n"a": {"command": "y"}}}', 2, "'a' stands twice"),
        (b"[]", 1, 'has no object "mcpServers"'),
        (b'{"mcpServers": []}', 1, 'has no object "mcpServers"'),
        (b"\xff", None, "is not UTF-8"),
        (b'{"a":' * 5000, None, "nested too deeply"),
    ],
)
def test_files_that_cannot_be_used(path: Path, text: bytes, line: int | None, told: str) -> None:
    path.write_bytes(text)
    [fault] = read(path, ENVIRON).faults
    assert (fault.line if line else line, told in fault.message) == (line, True)
    assert fault.fix


def test_faults_repeat_no_value(path: Path) -> None:
    found = said(path, s={"url": "http://canary.example/canary", "headers": {"A": "canary"}, "typ": "canary"})
    assert len(found.faults) == 2
    assert "canary" not in " ".join(map(str, found.faults))


def test_turning_one_off_and_on_keeps_the_rest(path: Path) -> None:
    said(path, a={"command": "x", "env": {"K": "${TOKEN}"}}, b={"command": "y"})
    before = json.loads(path.read_text())
    set_enabled(path, "a", False)
    assert not read(path, ENVIRON).servers["a"].enabled
    assert path.stat().st_mode & 0o777 == 0o600
    set_enabled(path, "a", True)
    before["mcpServers"]["a"]["enabled"] = True
    assert json.loads(path.read_text()) == before
    with pytest.raises(KeyError):
        set_enabled(path, "c", True)
