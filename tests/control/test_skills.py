"""Skills in a running program: imported, turned on and off, addressed at once, tied to their servers."""

import json
import os

import pytest

from agents.bundle import pack
from bridge.app import App
from bridge.control.protocol import ControlError
from bridge.post.route import ToSkill
from bridge.submissions import Refused
from config.paths import DataFolder
from tests.control.conftest import Ask

SKILL = b"---\nname: clerk\ndescription: Files letters.\ntools: [%s]\n---\nFile them.\n"
PLUGIN = {
    ".claude-plugin/plugin.json": b'{"name": "office"}',
    "skills/clerk/SKILL.md": SKILL % b"docs.search",
    "commands/do.md": b"x",
    ".mcp.json": b'{"mcpServers": {"docs": {"command": "python3", "args": ["-c", "pass"]}}}',
}


def has_address(app: App, name: str) -> bool:
    found = app.directory().resolve(f"{name}@postroom.internal")
    assert isinstance(found, ToSkill | Refused)
    return isinstance(found, ToSkill)


async def test_an_imported_skill_has_an_address_and_is_delegated_to_at_once(app: App, ask: Ask) -> None:
    assert not has_address(app, "clerk")
    told = await ask("skills.import", pack({"clerk/SKILL.md": SKILL % b"read_mail"}), replace=False)
    assert [(each["name"], each["state"]) for each in told["skills"]] == [("clerk", "ready")]
    assert has_address(app, "clerk")
    delegate = app.runtime._office.toolbox.all()[0]["delegate"]
    assert "clerk" in delegate.spec.schema["properties"]["skill"]["enum"]
    await ask("skills.turn", name="clerk", on=False)
    assert not has_address(app, "clerk")
    assert "clerk" not in app.runtime._office.toolbox.all()[0]["delegate"].spec.schema["properties"]["skill"]["enum"]
    await ask("skills.turn", name="clerk", on=True)
    assert has_address(app, "clerk")
    assert (await ask("skills.remove", name="clerk"))["what"] == "skill"
    assert not has_address(app, "clerk")


async def test_a_plugins_skill_waits_for_its_server_and_holds_it(app: App, ask: Ask, folder: DataFolder) -> None:
    told = await ask("skills.import", pack(PLUGIN), replace=False)
    assert (told["plugin"], told["servers"]) == ("office", ["docs"])
    assert told["unused"] == ["commands/: slash commands are not used: write to the skill's address instead"]
    [skill] = told["skills"]
    assert (skill["state"], skill["why"]) == ("not ready", ["server docs: is turned off"])
    with pytest.raises(ControlError, match="would not be ready"):
        await ask("skills.turn", name="clerk", on=True)
    await ask("mcp.enable", server="docs", on=True)
    assert has_address(app, "clerk")
    with pytest.raises(ControlError, match="docs is needed by the skill clerk"):
        await ask("mcp.enable", server="docs", on=False)
    await ask("skills.turn", name="clerk", on=False)
    await ask("mcp.enable", server="docs", on=False)
    assert (await ask("skills.remove", name="office"))["what"] == "plugin"
    assert json.loads(folder.mcp_file.read_text()) == {"mcpServers": {}}


async def test_what_is_refused_changes_nothing(app: App, ask: Ask, folder: DataFolder) -> None:
    for data in (b"no zip", pack({"a.txt": b"x"}), pack({"../clerk/SKILL.md": SKILL % b""})):
        with pytest.raises(ControlError, match="nothing was taken in"):
            await ask("skills.import", data, replace=False)
    with pytest.raises(ControlError, match="needed by the agent assistant"):
        await ask("skills.turn", name="summariser", on=False)
    with pytest.raises(ControlError, match="needed by the agent assistant"):
        await ask("skills.remove", name="summariser")
    with pytest.raises(ControlError, match="no skill and no plugin"):
        await ask("skills.remove", name="guide")
    listed = (await ask("skills"))["skills"]
    assert [(each["name"], each["state"]) for each in listed] == [("guide", "ready"), ("summariser", "ready")]
    assert "skills" not in os.listdir(folder.root)
