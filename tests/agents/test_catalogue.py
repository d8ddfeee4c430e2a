"""Skills of three sources: which one counts, whether it is ready, and what turning one on or off refuses."""

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from agents.catalogue import BROKEN, NOT_READY, OFF, READY, Catalogue, Listed, Refused, unmet
from config.paths import DataFolder
from config.settings import Agent, Fetch, Relay, Settings, Skills


def write(folder: Path, name: str, *, tools: str = "[]", more: str = "", body: str = "Do.") -> Path:
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    (place / "SKILL.md").write_text(
        f"---\nname: {name}\ndescription: Does {name}.\ntools: {tools}\n{more}---\n{body}\n"
    )
    return place


class House:
    """A data folder with skills in it, and MCP servers that a test names."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.mine = DataFolder(home).skills
        self.settings = Settings(home, agents={"assistant": Agent("assistant", skills=("summariser",))})
        self.servers: dict[str, str] = {}

    def open(self) -> Catalogue:
        return Catalogue(self.settings, lambda: self.servers)


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def found(catalogue: Catalogue, name: str) -> Listed:
    one = catalogue.find(name)
    assert one is not None, name
    return one


def states(catalogue: Catalogue) -> Mapping[str, str]:
    return {one.name: one.state for one in catalogue.listed}


def test_the_built_in_ones_are_ready(house: House) -> None:
    assert states(house.open()) == {"guide": READY, "summariser": READY}
    assert sorted(house.open()) == ["guide", "summariser"]


def test_yours_stands_in_for_a_plugins_and_that_for_a_built_in_one(house: House, tmp_path: Path) -> None:
    plugin = DataFolder(house.home).plugins / "office" / "skills"
    write(plugin, "summariser", body="The plugin's way.")
    write(plugin, "letters")
    catalogue = house.open()
    assert (found(catalogue, "summariser").source, catalogue["summariser"].instructions) == (
        "plugin office",
        "The plugin's way.",
    )
    write(tmp_path / "shared", "letters", body="The shared way.")
    house.settings = dataclasses.replace(house.settings, skills=Skills((tmp_path / "shared",)))
    write(house.mine, "summariser", body="My way.")
    catalogue = house.open()
    assert catalogue["summariser"].instructions == "My way."
    assert catalogue["letters"].instructions == "The shared way."
    assert found(catalogue, "letters").source == "yours"


def test_a_broken_one_of_yours_does_not_bring_the_other_back(house: House) -> None:
    write(house.mine, "summariser", more="interruptOn: maybe\n")
    catalogue = house.open()
    assert states(catalogue)["summariser"] == BROKEN
    assert "summariser" not in catalogue
    assert "interruptOn" in found(catalogue, "summariser").why[0]


@pytest.mark.parametrize(
    ("tools", "more", "servers", "why"),
    [
        ("[fly]", "", {}, "fly: there is no such tool"),
        ("[send_mail]", "", {}, "send_mail: no relay is configured"),
        ("[docs.search]", "", {}, "server docs: no such server in .mcp.json"),
        ("[docs.search]", "", {"docs": "is turned off"}, "server docs: is turned off"),
        (
            "['docs.*']",
            "",
            {"docs": "the variable DOCS_KEY is not set"},
            "server docs: the variable DOCS_KEY is not set",
        ),
        ("[]", "requires: [letters]\n", {}, "it requires letters, which is not ready"),
    ],
)
def test_what_is_missing_is_named(house: House, tools: str, more: str, servers: dict[str, str], why: str) -> None:
    write(house.mine, "clerk", tools=tools, more=more)
    house.servers = servers
    one = found(house.open(), "clerk")
    assert (one.state, one.why) == (NOT_READY, (why,))


def test_it_is_ready_once_everything_is_there(house: House) -> None:
    write(house.mine, "clerk", tools="[send_mail, fetch_page, docs.search, 'docs.*']", more="requires: letters\n")
    write(house.mine, "letters", tools="[draft_mail]")
    house.servers = {"docs": ""}
    assert states(house.open())["clerk"] == NOT_READY
    house.settings = dataclasses.replace(house.settings, relay=Relay("mail.example.net", "ada@example.net"))
    assert states(house.open())["clerk"] == READY
    assert house.open().using("docs") == ["clerk"]
    house.settings = dataclasses.replace(house.settings, fetch=Fetch(mode="off"))
    assert found(house.open(), "clerk").why == ("fetch_page: fetch.mode is off",)


def test_requirements_reach_through_and_a_circle_is_no_trap(house: House) -> None:
    write(house.mine, "a", more="requires: b\n")
    write(house.mine, "b", more="requires: [c, a]\n")
    write(house.mine, "c", tools="[fly]")
    assert states(house.open()) == {"guide": READY, "summariser": READY, "a": NOT_READY, "b": NOT_READY, "c": NOT_READY}
    write(house.mine, "c")
    assert {one.state for one in house.open().listed} == {READY}


def test_an_address_has_one_meaning(house: House) -> None:
    write(house.mine, "assistant")
    write(house.mine, "help")
    catalogue = house.open()
    assert found(catalogue, "assistant").why == ("the agent assistant has its address",)
    assert found(catalogue, "help").why == ("its address help@ has a meaning of its own",)


def test_one_is_turned_off_and_on_and_that_lasts(house: House) -> None:
    write(house.mine, "clerk")
    catalogue = house.open()
    before = catalogue.revision
    catalogue.turn("clerk", False)
    assert "clerk" not in catalogue
    assert catalogue.revision > before
    assert states(house.open())["clerk"] == OFF
    house.open().turn("clerk", True)
    assert states(house.open())["clerk"] == READY


def test_what_is_needed_is_not_turned_off(house: House) -> None:
    write(house.mine, "clerk", more="requires: [letters]\n")
    write(house.mine, "letters")
    catalogue = house.open()
    with pytest.raises(Refused, match="needed by the skill clerk"):
        catalogue.turn("letters", False)
    with pytest.raises(Refused, match="needed by the agent assistant") as caught:
        catalogue.turn("summariser", False)
    assert "agents.assistant.skills" in caught.value.fix
    catalogue.turn("clerk", False)
    catalogue.turn("letters", False)
    with pytest.raises(Refused, match="it requires letters, which is not ready"):
        catalogue.turn("clerk", True)
    catalogue.turn("letters", True)
    catalogue.turn("clerk", True)
    with pytest.raises(Refused, match="there is no skill nobody"):
        catalogue.turn("nobody", True)


def test_what_would_not_be_ready_is_not_turned_on(house: House) -> None:
    write(house.mine, "clerk", tools="[fly]")
    with pytest.raises(Refused, match="would not be ready: fly: there is no such tool"):
        house.open().turn("clerk", True)


@pytest.mark.parametrize("text", ["not json", "[]", '{"off": "clerk"}', '{"off": [1]}'])
def test_a_list_that_cannot_be_read_turns_off_rather_than_on(house: House, text: str) -> None:
    write(house.mine, "clerk")
    DataFolder(house.home).skills_off.write_text(text)
    catalogue = house.open()
    assert states(catalogue) == {"guide": READY, "summariser": READY, "clerk": OFF}
    with pytest.raises(Refused, match="cannot be read"):
        catalogue.turn("clerk", True)
    assert DataFolder(house.home).skills_off.read_text() == text


def test_every_tool_there_is_can_be_declared(tmp_path: Path) -> None:
    known = unmet(Settings(tmp_path))
    assert {"delegate", "read_file", "remember", "schedule", "postroom_help"} <= known.keys()
    assert {name for name, why in known.items() if why} == {"send_mail"}


def test_nothing_but_folders_with_a_skill_counts(house: House) -> None:
    (house.mine / ".clerk.new").mkdir(parents=True)
    (house.mine / "notes.txt").touch()
    (DataFolder(house.home).plugins / ".old").mkdir(parents=True)
    assert states(house.open()) == {"guide": READY, "summariser": READY}
    assert json.dumps([dataclasses.asdict(one) | {"profile": None} for one in house.open().listed])
