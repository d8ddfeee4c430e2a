"""Granting folders: from the command line by whoever owns the machine, by mail only where they allow it."""

from pathlib import Path

import pytest

from agents.folders import grants
from bridge.control.folders import grant, listed, revoke
from bridge.control.protocol import Args, ControlError
from config.settings import Files
from tests.post.desk import Desk, Person, desk

HELP = "help@postroom.internal"


def names(person: Person) -> list[str]:
    store = person.desk.app.store
    return [folder.name for folder in store.read(lambda tx: grants.of_account(tx, person.identity.account))]


async def said(person: Person, text: str, nth: int) -> str:
    await person.write(HELP, "Folders", text)
    return (await person.mail("Re: Folders", nth=nth)).text


async def test_from_the_command_line(house: Desk, ada: Person, tmp_path: Path) -> None:
    (tmp_path / "Tax Papers").mkdir()
    wish = {"account": "ada", "path": str(tmp_path / "Tax Papers"), "writes": True, "own": False}
    made = await grant(house.app, Args(wish))
    assert (made["name"], made["writes"], made["agent"]) == ("tax-papers", True, "")
    told = await listed(house.app, Args({"account": "ada"}))
    assert told["folders"] == [made]
    with pytest.raises(ControlError, match="overlaps"):
        await grant(house.app, Args(wish))
    with pytest.raises(ControlError, match="Postroom's own data"):
        await grant(house.app, Args({**wish, "path": str(house.app.settings.home)}))
    with pytest.raises(ControlError, match="no agent"):
        await grant(house.app, Args({**wish, "agent": "nobody"}))
    (tmp_path / "x").mkdir()
    with pytest.raises(ControlError, match="no name for a folder"):
        await grant(house.app, Args({**wish, "path": str(tmp_path / "x"), "name": "../x"}))
    await revoke(house.app, Args({"account": "ada", "name": "tax-papers"}))
    with pytest.raises(ControlError, match="no granted folder"):
        await revoke(house.app, Args({"account": "ada", "name": "tax-papers"}))
    audited = house.app.store.read(lambda tx: house.app.runtime.trail(tx, ada.identity.account))
    assert {"folder.granted", "folder.revoked"} <= {entry.what for entry in audited}


async def test_by_mail_grants_are_listed_and_taken_back_but_not_given(house: Desk, ada: Person, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    assert "No folder is granted" in await said(ada, "folders", 1)
    told = await said(ada, f"grant folder {tmp_path / 'notes'}", 2)
    assert "Nothing was granted: no folder can be granted by mail here." in told
    assert names(ada) == []
    wish = {"account": "ada", "path": str(tmp_path / "notes"), "writes": False, "own": False}
    await grant(house.app, Args(wish))
    assert f"- notes: {tmp_path / 'notes'}, every agent may read" in await said(ada, "folders", 3)
    bob = await house.person("bob")
    assert "There is no granted folder notes" in await said(bob, "revoke folder notes", 1)
    assert "was taken back" in await said(ada, "revoke folder Notes", 4)
    assert names(ada) == []


async def test_by_mail_below_the_folders_that_the_owner_of_the_machine_named(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    for name in ("ada", "bob", "Ada's notes"):
        (shared / name).mkdir(parents=True)
    (tmp_path / "private").mkdir()
    (shared / "way-out").symlink_to(tmp_path / "private")
    async with desk(tmp_path / "home", files=Files((shared,))) as house:
        ada = await house.person("ada")
        assert "Granted" in await said(ada, f"grant folder {shared / 'ada'}", 1)
        told = await said(ada, f"grant folder {shared / 'bob'}\nname: work\nwrite: yes\nagent: assistant", 2)
        assert f"- work: {shared / 'bob'}, assistant may read and write (each file asks)" in told
        assert "Granted" in await said(ada, f"grant folder {shared}/Ada's notes\nname: mine", 3)
        for nth, path in enumerate(("private", "shared/way-out", "shared/../private", "none"), 4):
            assert "not below a folder that can be granted by mail" in await said(
                ada, f"grant folder {tmp_path / path}", nth
            )
        assert "no agent" in await said(ada, f"grant folder {shared / 'ada'}\nagent: nobody", 8)
        assert "none of the lines" in await said(ada, f"grant folder {shared / 'ada'}\nplease", 9)
        assert sorted(names(ada)) == ["ada", "mine", "work"]
