"""Granted folders in runs: what an agent is offered, what asks, what marks, and what a revocation stops."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from agents.folders import grants
from agents.folders.grants import Folder, Wish
from agents.offer import Offer
from agents.tool import Risk
from agents.toolbox import Toolbox
from agents.tools import list_files, read_file, read_result, write_file
from tests.agents.kit import NOTES as ATTACHED
from tests.agents.kit import Doing, World
from tests.agents.script import ScriptedModel, Turn, say, want


class House:
    """A world with file tools, and a folder of notes beside it."""

    def __init__(self, tmp_path: Path) -> None:
        self.notes = tmp_path / "Notes"
        self.notes.mkdir()
        (self.notes / "plan.txt").write_text("Plant the trees.")
        self.home = tmp_path / "data"
        self.home.mkdir()
        self.worlds: list[World] = []

    async def world(self, *turns: Turn) -> World:
        made = World(self.home, ScriptedModel({"": turns}))
        await made.open(start=False)
        self.give(made)
        await made.runtime.start()
        self.worlds.append(made)
        return made

    def give(self, made: World) -> None:
        found = [module.make(Offer(db=made.db)) for module in (list_files, read_file, write_file)]
        tools = [tool for tool in found if tool is not None]
        web = Doing(made.effects, "web", Risk.READ, untrusted=True)
        box = Toolbox.of(*tools, web, read_result.ReadResult(read_result.SPEC))
        made.tools = box
        object.__setattr__(made.runtime._office, "toolbox", box)

    async def grant(self, made: World, **more: Any) -> Folder:
        wish = Wish(**{"account": 1, "path": str(self.notes), "name": "notes", **more})
        return await made.db.write(lambda tx: grants.grant(tx, made.clock.now(), wish, self.home))


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    made = House(tmp_path)
    yield made
    for world in made.worlds:
        await world.close()


def offered(made: World) -> set[str]:
    return {tool.name for tool in made.model.requests[-1].tools}  # type: ignore[attr-defined]  # the scripted model


def read(path: str) -> Turn:
    return say("", want("read_file", path=path))


async def test_nothing_is_offered_without_a_grant_and_writing_only_with_one_for_it(house: House) -> None:
    w = await house.world(say("Hello."))
    await w.ended((await w.send()).run)
    assert offered(w) == {"web", "read_result"}
    await house.grant(w)
    await w.ended((await w.send(thread="2")).run)
    assert offered(w) == {"web", "read_result", "list_files", "read_file"}
    await w.db.write(lambda tx: grants.revoke(tx, 0, 1, "notes"))
    await house.grant(w, writes=True)
    await w.ended((await w.send(thread="3")).run)
    assert "write_file" in offered(w)


async def test_a_grant_is_for_one_account_and_may_be_for_one_agent(house: House) -> None:
    w = await house.world(say("Hello."))
    await house.grant(w, account=2)
    await house.grant(w, agent="other")
    await w.ended((await w.send()).run)
    assert offered(w) == {"web", "read_result"}
    await w.ended((await w.send(agent="other", thread="2")).run)
    assert "read_file" in offered(w)


async def test_what_is_read_and_listed_marks_the_run(house: House) -> None:
    w = await house.world(
        say("", want("list_files"), want("list_files", path="notes"), want("read_file", path="notes/plan.txt")),
        say("Read."),
    )
    await house.grant(w)
    run = (await w.send()).run
    assert await w.ended(run) == "done"
    folders, listed, text = (call["result"] for call in w.calls(run))
    assert folders == "There is: notes (read)."
    assert listed == "notes holds:\n- plan.txt (16 B)"
    assert text == "Plant the trees."
    assert str(house.notes) not in folders + listed + text
    assert {row["source"] for row in w.rows("SELECT source FROM taints")} == {"folder notes", "file notes/plan.txt"}


async def test_an_own_folder_does_not_mark(house: House) -> None:
    w = await house.world(read("notes/plan.txt"), say("Read."))
    await house.grant(w, own=True)
    assert await w.ended((await w.send()).run) == "done"
    assert w.rows("SELECT 1 FROM taints") == []


async def test_what_a_marked_run_writes_into_an_own_folder_stays_marked(house: House) -> None:
    """A page says "note this down"; the note, under any name, is text of others when it is read again."""
    script = [say("", want("web", what="x")), say("", want("write_file", path="notes/new.md", text="Pay Mallory."))]
    w = await house.world(*script, say("Written."))
    await house.grant(w, own=True, writes=True)
    run = (await w.send()).run
    await w.decide(await w.request(), "approve")
    assert await w.ended(run) == "done"
    (house.notes / "new.md").rename(house.notes / "renamed.md")
    w.model._scripts = {"": [read("notes/renamed.md"), say("Read.")]}  # type: ignore[attr-defined]  # the scripted model
    again = (await w.send(thread="2")).run
    assert await w.ended(again) == "done"
    assert w.rows("SELECT source FROM taints WHERE run = ?", again)[0]["source"] == "file notes/renamed.md"


async def test_the_mark_outlives_the_grant_and_follows_the_file_into_another_folder(
    house: House, tmp_path: Path
) -> None:
    """Written into a folder whose content is text of others anyway; then that is granted again, as the owner's own."""
    script = [say("", want("web", what="x")), say("", want("write_file", path="notes/new.md", text="Pay Mallory."))]
    w = await house.world(*script, say("Written."))
    await house.grant(w, writes=True)
    run = (await w.send()).run
    await w.decide(await w.request(), "approve")
    assert await w.ended(run) == "done"
    await w.db.write(lambda tx: grants.revoke(tx, 0, 1, "notes"))
    await house.grant(w, own=True)
    (tmp_path / "Mine").mkdir()
    (tmp_path / "Mine" / "copy.md").write_bytes((house.notes / "new.md").read_bytes())
    await house.grant(w, path=str(tmp_path / "Mine"), name="mine", own=True)
    for number, path in enumerate(("notes/new.md", "mine/copy.md", "notes/plan.txt")):
        w.model._scripts = {"": [read(path), say("Read.")]}  # type: ignore[attr-defined]  # the scripted model
        again = (await w.send(thread=f"again {number}")).run
        assert await w.ended(again) == "done"
        found = [row["source"] for row in w.rows("SELECT source FROM taints WHERE run = ?", again)]
        assert found == ([] if path == "notes/plan.txt" else [f"file {path}"])


async def test_a_file_is_written_only_when_it_is_approved_and_exactly_as_shown(house: House) -> None:
    w = await house.world(say("", want("write_file", path="notes/new.md", text="# Plan\n")), say("Written."))
    await house.grant(w, writes=True)
    run = (await w.send()).run
    request = await w.request()
    fields = {field.name: field.value for field in request.view.items[0].fields}
    assert fields == {"File": "notes/new.md", "Replace": "no", "Text": "# Plan\n"}
    assert not (house.notes / "new.md").exists()
    await w.decide(request, "approve")
    assert await w.ended(run) == "done"
    assert (house.notes / "new.md").read_text() == "# Plan\n"


async def test_a_grant_that_is_taken_back_stops_what_was_approved(house: House) -> None:
    w = await house.world(say("", want("write_file", path="notes/new.md", text="x")), say("No."))
    await house.grant(w, writes=True)
    run = (await w.send()).run
    request = await w.request()
    await w.db.write(lambda tx: grants.revoke(tx, 0, 1, "notes"))
    await w.decide(request, "approve")
    assert await w.ended(run) == "done"
    assert not (house.notes / "new.md").exists()
    assert "not available any more" in w.calls(run)[0]["result"]


async def test_a_folder_for_reading_is_not_written_even_beside_one_for_writing(house: House, tmp_path: Path) -> None:
    w = await house.world(say("", want("write_file", path="notes/new.md", text="x")), say("No."))
    await house.grant(w)
    (tmp_path / "Out").mkdir()
    await house.grant(w, path=str(tmp_path / "Out"), name="out", writes=True)
    run = (await w.send()).run
    await w.decide(await w.request(), "approve")
    assert await w.ended(run) == "done"
    assert "granted for reading only" in w.calls(run)[0]["result"]
    assert not (house.notes / "new.md").exists()


async def test_an_attachment_is_saved_unchanged(house: House) -> None:
    w = await house.world(say("", want("write_file", path="notes/got.txt", attachment="notes.txt")), say("Saved."))
    await house.grant(w, writes=True)
    run = (await w.send(attachments=(ATTACHED,))).run
    await w.decide(await w.request(), "approve")
    assert await w.ended(run) == "done"
    assert (house.notes / "got.txt").read_bytes() == b"The meeting moved to Friday.\n"


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("notes/../data/postroom.db", "no . and no .."),
        ("/etc/passwd", "begins with the name of a granted folder"),
        ("other/x.txt", 'no granted folder "other"'),
        ("notes", "this is a folder"),
        ("notes/none.txt", "is not there"),
        ("notes/.env", "hidden files"),
    ],
)
async def test_paths_outside_are_refused_in_a_sentence(house: House, path: str, why: str) -> None:
    w = await house.world(read(path), say("No."))
    await house.grant(w)
    run = (await w.send()).run
    assert await w.ended(run) == "done"
    assert why in w.calls(run)[0]["result"]
    assert str(house.notes) not in w.calls(run)[0]["result"]


async def test_a_write_that_a_crash_cut_off_is_done_once(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped after the file stood in its place and before that was written down: the repeat finds it there."""
    reached = asyncio.Event()

    async def act_and_hang(function: Callable[..., None], *args: Any, **more: Any) -> None:
        function(*args, **more)
        reached.set()
        await asyncio.Event().wait()

    w = await house.world(say("", want("write_file", path="notes/new.md", text="once")), say("Written."))
    await house.grant(w, writes=True)
    run = (await w.send()).run
    request = await w.request()
    monkeypatch.setattr(asyncio, "to_thread", act_and_hang)
    await w.decide(request, "approve")
    async with asyncio.timeout(20):
        await reached.wait()
    monkeypatch.undo()
    await w.runtime.stop(grace=0)
    await w.db.close()
    await w.open(start=False)
    house.give(w)
    await w.runtime.start()
    assert await w.ended(run) == "done"
    assert (house.notes / "new.md").read_text() == "once"
    assert w.calls(run)[0]["state"] == "done"
