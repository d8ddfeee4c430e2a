"""`postroom mcp` without a server, and beside one whose agents use an MCP server or do not."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from agents.llm import ToolSpec
from agents.mcp import pins
from bridge.cli.common import open_store
from bridge.demo.server import Server
from config.load import load
from config.paths import open_folder
from tests.cli.conftest import Cli

ROOT = Path(__file__).resolve().parents[2]
TINY = {"command": sys.executable, "args": ["-m", "tests.fakes.mcp_server"], "cwd": str(ROOT)}
ADD = ToolSpec("add", "Add two numbers\x1b[2J", {"type": "object"})


def write(home: Path, **servers: Any) -> None:
    open_folder(home)
    (home / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))


def see(home: Path, *specs: ToolSpec) -> None:
    async def put() -> None:
        async with open_store(load(home=home, environ={})) as store:
            await store.write(lambda tx: pins.see(tx, "tiny", specs, tx.now))

    asyncio.run(put())


def test_nothing_is_there(cli: Cli) -> None:
    told = cli("mcp", "list")
    assert (told.code, told.out.startswith("MCP servers: none in ")) == (0, True)
    assert "there is no MCP server tiny" in cli("mcp", "show", "tiny").err


def test_a_list_a_look_and_an_approval(cli: Cli, home: Path) -> None:
    write(home, tiny=TINY)
    see(home, ADD)
    assert "1 new" in cli("mcp", "list").out
    shown = cli("mcp", "show", "tiny").out
    assert "tiny__add" in shown
    assert "untrusted" in shown
    assert "\x1b" not in shown
    asked = cli("mcp", "approve", "tiny", "add", "--risk", "read", "--yes")
    assert "  | Add two numbers\\x1b[2J" in asked.out
    assert asked.out.splitlines()[-1].startswith("tiny.add is approved as it reads now: it runs without asking")
    [server] = json.loads(cli("mcp", "list", "--json").out)["servers"]
    assert [(tool["state"], tool["risk"]) for tool in server["tools"]] == [("approved", "read")]
    see(home, ToolSpec("add", "Add otherwise", {"type": "object"}))
    assert "1 changed and off" in cli("mcp", "list").out
    assert "Before it said:" in cli("mcp", "approve", "tiny", "add", "--yes").out
    assert "has no tool wipe" in cli("mcp", "approve", "tiny", "wipe", "--yes").err


def test_off_and_on(cli: Cli, home: Path) -> None:
    write(home, tiny=TINY)
    assert "off" in cli("mcp", "disable", "tiny").out
    assert "not running" in cli("mcp", "enable", "tiny").out
    assert "there is no MCP server other" in cli("mcp", "enable", "other").err


def test_faults_are_shown_with_their_place(cli: Cli, home: Path) -> None:
    write(home, tiny={"comand": "x"})
    told = cli("mcp", "list")
    assert told.code == 1
    assert f"{home / '.mcp.json'}:1: tiny.comand: is not known here" in told.out
    assert "fix: did you mean command?" in told.out
    assert "is left out" in cli("mcp", "show", "tiny").err
    checked = cli("config", "check")
    assert (checked.code, "tiny.comand: is not known here" in checked.err) == (2, True)


def test_trying_a_server_out(cli: Cli, home: Path) -> None:
    write(home, tiny=TINY, broken={**TINY, "args": [*TINY["args"], "--start", "exit"]})
    assert cli("mcp", "test", "tiny").out.startswith("tiny works: tiny 0.1")
    told = cli("mcp", "test", "broken")
    assert (told.code, told.err.splitlines()) == (
        1, ["broken does not work: it ended with exit code 7", "  | cannot find my settings"]
    )  # packed, to be seen at a glance  # fmt: skip


async def test_beside_a_running_server(server: Server, cli: Cli) -> None:
    """The server reads the file when it is told to, and keeps its own connection beside the one that is tried out."""
    home = server.folder.root
    await server.start()
    assert (await asyncio.to_thread(cli, "mcp", "list", home=home)).out.startswith("MCP servers: none")
    write(home, tiny=TINY)
    told = await asyncio.to_thread(cli, "mcp", "reload", home=home)
    assert (told.code, "tiny" in told.out) == (0, True)
    assert (await asyncio.to_thread(cli, "mcp", "test", "tiny", home=home)).out.startswith("tiny works: tiny 0.1")
    assert "off" in (await asyncio.to_thread(cli, "mcp", "disable", "tiny", home=home)).out
    assert await server.stop() == 0
