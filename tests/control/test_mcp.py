"""MCP servers through the control socket: listed, approved as shown, turned on and off, tried out."""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents.llm import ToolSpec
from agents.mcp import pins
from agents.mcp.outcome import Answer
from bridge.app import App
from bridge.control.protocol import ControlError
from config.paths import DataFolder
from tests.control.conftest import Ask

ROOT = Path(__file__).resolve().parents[2]
ADD = ToolSpec("add", "Add two numbers", {"type": "object"}, {"readOnlyHint": True})
CHANGED = ToolSpec("add", "Add, and tell", {"type": "object"})
TINY = {"command": sys.executable, "args": ["-m", "tests.fakes.mcp_server"], "cwd": str(ROOT)}


@pytest.fixture
def file(app: App, folder: DataFolder) -> Path:
    """One server in the file, which the app has read."""
    folder.mcp_file.write_text(json.dumps({"mcpServers": {"tiny": TINY}}))
    app.mcp.load()
    return folder.mcp_file


async def seen(app: App, *specs: ToolSpec) -> None:
    await app.store.write(lambda tx: pins.see(tx, "tiny", specs, tx.now))
    app.mcp.refresh()


def said_in(file: Path) -> Any:
    return json.loads(file.read_text())["mcpServers"]["tiny"]


async def refused(asked: Any) -> ControlError:
    with pytest.raises(ControlError) as caught:
        await asked
    return caught.value


async def test_without_a_file_there_is_nothing(ask: Ask, folder: DataFolder) -> None:
    assert await ask("mcp") == {"file": str(folder.mcp_file), "servers": [], "faults": []}
    assert (await refused(ask("mcp.enable", server="tiny", on=True))).kind == "not-found"
    assert (await refused(ask("mcp.test", server="tiny"))).kind == "not-found"


async def test_what_is_listed(app: App, ask: Ask, file: Path) -> None:
    await seen(app, ADD)
    [server] = (await ask("mcp"))["servers"]
    assert (server["name"], server["state"], server["transport"], server["trusted"]) == (
        "tiny", "not running", "stdio", False
    )  # packed, to be seen at a glance  # fmt: skip
    assert server["used_by"] == ["assistant"]
    [tool] = server["tools"]
    assert (tool["name"], tool["offered_as"], tool["state"], tool["risk"]) == ("add", "tiny__add", "new", "send_out")


async def test_an_approval_is_of_what_was_shown(app: App, ask: Ask, file: Path) -> None:
    await seen(app, ADD)
    told = await ask("mcp.approve", server="tiny", tool="add", hash=ADD.digest(), risk="read")
    assert (told["state"], told["risk"]) == ("approved", "read")
    [tool] = app.mcp.tools()
    assert tool.risk == "read"
    await seen(app, CHANGED)
    assert app.mcp.tools() == ()
    [server] = (await ask("mcp"))["servers"]
    assert [(tool["state"], tool["description"], tool["before"]) for tool in server["tools"]] == [
        ("changed", "Add, and tell", "Add two numbers")
    ]
    fault = await refused(ask("mcp.approve", server="tiny", tool="add", hash=ADD.digest(), risk="read"))
    assert fault.message == "tiny.add has changed since it was shown"
    await ask("mcp.approve", server="tiny", tool="add", hash=CHANGED.digest(), risk="danger")
    assert [tool.risk for tool in app.mcp.tools()] == ["danger"]
    assert (await refused(ask("mcp.approve", server="tiny", tool="no", hash="", risk="read"))).kind == "refused"
    assert (await refused(ask("mcp.approve", server="tiny", tool="add", hash="", risk="none"))).kind == "bad-request"


async def test_turning_a_server_off_and_on(app: App, ask: Ask, file: Path) -> None:
    await seen(app, ADD)
    told = await ask("mcp.enable", server="tiny", on=False)
    assert [server["state"] for server in told["servers"]] == ["off"]
    assert said_in(file) == {**TINY, "enabled": False}
    assert app.mcp.tools() == ()
    assert "is not enabled" in (await refused(ask("mcp.test", server="tiny"))).message
    await ask("mcp.enable", server="tiny", on=True)
    assert len(app.mcp.tools()) == 1
    assert (await refused(ask("mcp.enable", server="other", on=True))).kind == "not-found"


async def test_faults_of_the_file_are_told(ask: Ask, folder: DataFolder) -> None:
    folder.mcp_file.write_text('{"mcpServers": {\n"tiny": {"comand": "x"}}}')
    [fault, _] = (await ask("mcp.reload"))["faults"]
    assert (fault["line"], fault["key"], fault["fix"]) == (2, "tiny.comand", "did you mean command?")
    assert "comand" in (await refused(ask("mcp.test", server="tiny"))).message


async def test_a_running_server_connects_is_used_or_not_and_is_left(app: App, ask: Ask, file: Path) -> None:
    """The real thing: connected by the app, listed with its tools, its program gone when it is turned off."""
    await app.mcp.start()
    try:
        owner = app.mcp.owner("tiny")
        assert owner is not None
        told = await owner.call("pid", {}, "k", False, lambda: None)
        assert isinstance(told, Answer)
        pid = told.result.content[0]
        [server] = (await ask("mcp"))["servers"]
        assert (server["state"], server["note"], server["used_by"]) == ("connected", "", ["assistant"])
        assert "add" in [tool["name"] for tool in server["tools"]]
        assistant = replace(app.settings.agents["assistant"], tools=("search_mail",))
        app.settings = replace(app.settings, agents={"assistant": assistant})
        [server] = (await ask("mcp"))["servers"]
        assert server["note"] == "connected, but no agent or skill uses it: name tiny.* in the tools of one"
        await ask("mcp.enable", server="tiny", on=False)
        assert app.mcp.owner("tiny") is None
        with pytest.raises(ProcessLookupError):
            os.kill(int(getattr(pid, "text", "0")), 0)
    finally:
        await app.mcp.stop()


async def test_trying_a_server_out(ask: Ask, file: Path) -> None:
    told = await ask("mcp.test", server="tiny")
    assert (told["works"], told["about"].startswith("tiny 0.1")) == (True, True)
    assert "add" in told["tools"]
