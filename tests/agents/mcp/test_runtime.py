"""From a mail to a server's effect and back: gated, approved, run once; lost in a call, asked about; changed, off."""

import os
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from agents.letter import Kind
from agents.llm import ResultMessage
from agents.mcp import pins
from agents.mcp.file import McpFile, ServerConfig
from agents.mcp.servers import Servers
from agents.tool import Risk
from agents.toolbox import Toolbox
from config.settings import Limits
from tests.agents.kit import World
from tests.agents.mcp.kit import BOUND, LIMIT, QUICK, is_alive, lines, pids, stdio
from tests.agents.script import ScriptedModel, Turn, say, want

DONE = say("All done.")


class Fixed(Servers):
    """Servers of which the test says what the file says."""

    def __init__(self, world: World, *configs: ServerConfig) -> None:
        super().__init__(world.home / ".mcp.json", {}, world.db, world.clock, LIMIT, QUICK)
        self.told = configs

    def load(self) -> None:
        self.said = McpFile({config.name: config for config in self.told}, ())
        self.refresh()


class Setting:
    """A world with servers."""

    def __init__(self, home: Path, turns: Sequence[Turn], limits: Limits | None) -> None:
        self.model = ScriptedModel({"": turns})
        self.world = World(home, self.model, limits)
        self.world.bound = BOUND
        self.log = home / "effects"
        self.servers: Fixed | None = None
        usual = self.world.tools
        self.world.tools = Toolbox(
            [lambda: usual.all()[0].values(), lambda: self.servers.tools() if self.servers else ()]
        )

    async def open(self, *configs: ServerConfig) -> None:
        await self.world.open()
        self.servers = Fixed(self.world, *configs)
        self.servers.load()
        await self.servers.start()
        if configs:
            await self.pinned("add")

    async def pinned(self, name: str, true: Callable[[pins.Pin], bool] = lambda _: True) -> pins.Pin:
        """A tool once it has been seen (and something is so)."""

        def find() -> pins.Pin | None:
            assert self.servers is not None
            found = self.servers.pins().get("tiny", ())
            return next((pin for pin in found if pin.spec.name == name and true(pin)), None)

        return await self.world.until(find)

    async def approve(self, name: str, risk: Risk) -> None:
        pin = await self.pinned(name)
        digest = pin.current.digest()
        await self.world.db.write(lambda tx: pins.approve(tx, "tiny", name, digest, risk, self.world.clock.now()))
        assert self.servers is not None
        self.servers.refresh()

    async def close(self) -> None:
        if self.servers is not None:
            await self.servers.stop()
        await self.world.close()

    def results(self) -> list[ResultMessage]:
        """What the model was told last."""
        return [message for message in self.model.requests[-1].messages if isinstance(message, ResultMessage)]


@asynccontextmanager
async def setting(
    home: Path, turns: Sequence[Turn], *more: str, limits: Limits | None = None, trusted: bool = False
) -> AsyncIterator[Setting]:
    made = Setting(home, turns, limits)
    await made.open(replace(stdio(made.log, *more), trusted=trusted))
    try:
        yield made
    finally:
        await made.close()


async def test_a_new_tool_asks_and_an_approved_call_runs_once(tmp_path: Path) -> None:
    async with setting(tmp_path, [say("", want("tiny__wipe", path="/old")), DONE]) as made:
        world = made.world
        run = (await world.send()).run
        request = await world.request()
        [item] = request.view.items
        assert item.title == "Call tiny.wipe, a tool you have not approved yet"
        assert [(field.name, field.value) for field in item.fields] == [("path", "/old")]
        assert lines(made.log) == []
        assert (await world.decide(request, "approve")).outcome == "approved"
        assert await world.ended(run) == "done"
        assert lines(made.log) == ["wipe /old"]
        assert (await world.decide(request, "approve")).outcome == "already"
        assert [(one.text, one.ok) for one in made.results()] == [
            ('<untrusted source="wipe of the MCP server tiny">\nwiped /old\n</untrusted>', True)
        ]
        assert world.rows("SELECT taint FROM runs") == [{"taint": 1}]


async def test_a_rejected_call_never_reaches_the_server(tmp_path: Path) -> None:
    async with setting(tmp_path, [say("", want("tiny__wipe", path="/old")), DONE]) as made:
        run = (await made.world.send()).run
        await made.world.decide(await made.world.request(), "reject", text="no")
        assert await made.world.ended(run) == "done"
        assert lines(made.log) == []


async def test_a_tool_allowed_to_read_runs_without_asking(tmp_path: Path) -> None:
    async with setting(tmp_path, [say("", want("tiny__add", a=2, b=3)), DONE], trusted=True) as made:
        await made.approve("add", Risk.READ)
        run = (await made.world.send()).run
        assert await made.world.ended(run) == "done"
        assert [(one.text, one.ok) for one in made.results()] == [("5", True)]
        assert made.world.rows("SELECT taint FROM runs") == [{"taint": 0}]


async def test_a_hint_that_it_destroys_makes_it_ask_all_the_same(tmp_path: Path) -> None:
    async with setting(tmp_path, [say("", want("tiny__wipe", path="/x")), DONE]) as made:
        await made.approve("wipe", Risk.READ)
        await made.world.send()
        await made.world.request()
        assert lines(made.log) == []


async def test_a_marked_run_asks_before_another_call(tmp_path: Path) -> None:
    turns = [say("", want("tiny__add", a=2, b=3)), say("", want("tiny__put", value="leak")), DONE]
    async with setting(tmp_path, turns) as made:
        await made.approve("add", Risk.READ)
        await made.approve("put", Risk.READ)
        await made.world.send()
        request = await made.world.request()
        assert request.view.items[0].title == "Call tiny.put"
        assert request.view.sources == ("add of the MCP server tiny",)
        assert lines(made.log) == []


async def test_a_server_killed_in_a_call_leaves_an_unknown_outcome_that_is_asked_about(tmp_path: Path) -> None:
    async with setting(tmp_path, [say("", want("tiny__die", what="once")), DONE]) as made:
        world = made.world
        run = (await world.send()).run
        await world.decide(await world.request(), "approve")
        await world.wait_for(run, "waiting_unknown")
        request = await world.request()
        assert (request.kind, request.view.unknown_outcome) == ("unknown", True)
        [call] = world.calls(run)
        assert call["state"] == "unknown"
        assert call["note"] == "The MCP server tiny was lost during die: it ended with exit code 3."
        assert (await world.decide(request, "skip")).outcome == "skipped"
        assert await world.ended(run) == "done"
        assert lines(made.log) == ["die once"]


async def test_a_call_that_takes_too_long_is_asked_about_and_its_server_started_anew(tmp_path: Path) -> None:
    limits = Limits(tool_seconds=1)
    async with setting(tmp_path, [say("", want("tiny__hang", what="x")), DONE], limits=limits) as made:
        run = (await made.world.send()).run
        await made.world.decide(await made.world.request(), "approve")
        await made.world.wait_for(run, "waiting_unknown")
        assert made.world.calls(run)[0]["note"] == "tiny__hang gave no answer within 1 seconds."
    assert [pid for pid in pids(made.log) if is_alive(pid)] == []


async def test_a_call_that_only_reads_is_told_as_failed(tmp_path: Path) -> None:
    async with setting(tmp_path, [say("", want("tiny__die", what="x")), DONE]) as made:
        await made.approve("die", Risk.READ)
        run = (await made.world.send()).run
        assert await made.world.ended(run) == "done"
        [result] = made.results()
        assert (result.ok, "a repeat is harmless" in result.text) == (False, True)


async def test_an_answer_that_is_too_large_ends_the_server_and_the_call(tmp_path: Path) -> None:
    async with setting(tmp_path, [say("", want("tiny__huge", megabytes=32)), DONE]) as made:
        await made.approve("huge", Risk.READ)
        run = (await made.world.send()).run
        assert await made.world.ended(run) == "done"
        [result] = made.results()
        assert (result.ok, "a line of more than 4,194,304 bytes" in result.text) == (False, True)
    assert [pid for pid in pids(made.log) if is_alive(pid)] == []


async def test_the_reason_a_server_gives_marks_the_run_too(tmp_path: Path) -> None:
    async with setting(tmp_path, [say("", want("tiny__boom")), DONE]) as made:
        await made.approve("boom", Risk.READ)
        run = (await made.world.send()).run
        assert await made.world.ended(run) == "done"
        [result] = made.results()
        assert not result.ok
        assert result.text.startswith('<untrusted source="boom of the MCP server tiny">\nError executing tool boom')
        assert "abc" not in result.text
        assert made.world.rows("SELECT taint FROM runs") == [{"taint": 1}]


@pytest.mark.parametrize(
    ("verdict", "words", "gave"),
    [("answer", "yes", "deleted"), ("reject", "", "kept, for the answer was decline"), ("respond", "True.", "deleted")],
)
async def test_a_question_of_the_server_is_asked_by_mail_and_the_call_goes_on(
    tmp_path: Path, verdict: str, words: str, gave: str
) -> None:
    async with setting(tmp_path, [say("", want("tiny__asks")), DONE]) as made:
        await made.approve("asks", Risk.READ)
        run = (await made.world.send()).run
        request = await made.world.request()
        assert made.world.state(run) == "waiting_user"
        question = request.view.question or ""
        assert question.startswith("The MCP server tiny asks, before its tool goes on:\n\nReally delete everything?")
        assert request.view.choices == ("yes", "no")
        await made.world.decide(request, verdict, text=words)
        assert await made.world.ended(run) == "done"
        [result] = made.results()
        assert gave in result.text
        [call] = made.world.calls(run)
        assert (call["state"], call["attempt"]) == ("done", 2)


async def test_words_that_do_not_fit_are_asked_for_again(tmp_path: Path) -> None:
    async with setting(tmp_path, [say("", want("tiny__asks")), DONE]) as made:
        await made.approve("asks", Risk.READ)
        run = (await made.world.send()).run
        await made.world.decide(await made.world.request(), "answer", text="perhaps")
        again = await made.world.request()
        assert "(Your answer could not be used: ok: yes or no is wanted.)" in (again.view.question or "")
        await made.world.decide(again, "answer", text="no")
        assert await made.world.ended(run) == "done"


async def test_a_call_that_failed_after_its_answer_is_not_made_a_second_time(tmp_path: Path) -> None:
    """Only a server that knows the question no more is asked anew, not one that had begun to act on the answer."""
    async with setting(tmp_path, [say("", want("tiny__spoils")), DONE]) as made:
        await made.approve("spoils", Risk.READ)
        run = (await made.world.send()).run
        await made.world.decide(await made.world.request(), "answer", text="yes")
        assert await made.world.ended(run) == "done"
        assert lines(made.log) == ["spoils accept"]
        [result] = made.results()
        assert "the new state could not be written" in result.text
        assert not result.ok


async def test_an_approved_call_that_asks_is_approved_once_and_outlives_its_server(tmp_path: Path) -> None:
    """The server that asked is gone when the answer comes: it asks anew, hears the same, acts once."""
    async with setting(tmp_path, [say("", want("tiny__asks")), DONE]) as made:
        world = made.world
        run = (await world.send()).run
        await world.decide(await world.request(), "approve")
        question = await world.request()
        assert question.kind == "question"
        os.kill(pids(made.log)[-1], signal.SIGKILL)
        await world.decide(question, "answer", text="yes")
        assert await world.ended(run) == "done"
        assert "deleted" in made.results()[0].text
        assert len(world.rows("SELECT 1 FROM approvals WHERE spent_at IS NOT NULL")) == 1


async def test_a_stop_ends_a_call_that_waits_for_an_answer(tmp_path: Path) -> None:
    async with setting(tmp_path, [say("", want("tiny__asks")), DONE]) as made:
        await made.approve("asks", Risk.READ)
        run = (await made.world.send()).run
        await made.world.request()
        await made.world.word("stop")
        assert await made.world.ended(run) == "cancelled"
        assert [call["state"] for call in made.world.calls(run)] == ["cancelled"]


async def test_a_picture_goes_with_the_mail(tmp_path: Path) -> None:
    async with setting(tmp_path, [say("", want("tiny__picture")), DONE]) as made:
        await made.approve("picture", Risk.READ)
        assert await made.world.ended((await made.world.send()).run) == "done"
        [mail] = made.world.mails(Kind.RESULT)
        [file] = mail.files
        assert (file.name, file.media_type, file.data[:4]) == ("tiny-picture-1.png", "image/png", b"\x89PNG")


async def test_a_tool_that_changed_is_off_and_its_approved_call_is_not_made(tmp_path: Path) -> None:
    """The server is exchanged between the approval's request and the decision."""
    async with setting(tmp_path, [say("", want("tiny__add", a=1, b=1)), DONE]) as made:
        world = made.world
        run = (await world.send()).run
        request = await world.request()
        assert made.servers is not None
        made.servers.told = (stdio(made.log, "--tools", "changed"),)
        await made.servers.reload()
        await made.pinned("add", lambda pin: pin.state == "changed")
        await world.decide(request, "approve")
        assert await world.ended(run) == "done"
        assert [result.text for result in made.results()] == ["Not done: tiny__add is not available any more."]
        assert "tiny__add" not in [tool.name for tool in made.model.requests[-1].tools]


async def test_a_tool_that_changes_unseen_is_noticed_before_its_effect(tmp_path: Path) -> None:
    """The server reads otherwise from now on and tells nobody: the list is looked at in the call itself."""
    async with setting(tmp_path, [say("", want("tiny__put", value="x")), DONE], "--sly") as made:
        world = made.world
        run = (await world.send()).run
        request = await world.request()
        (tmp_path / "effects.sly").touch()
        await world.decide(request, "approve")
        assert await world.ended(run) == "done"
        [result] = made.results()
        assert (result.ok, "put reads otherwise than before" in result.text) == (False, True)
        assert lines(made.log) == []
        assert (await made.pinned("put")).state == "changed"


async def test_no_server_no_tools(tmp_path: Path) -> None:
    made = Setting(tmp_path, [DONE], None)
    await made.open()
    try:
        assert await made.world.ended((await made.world.send()).run) == "done"
        assert [tool.name for tool in made.model.requests[0].tools if tool.name.startswith("tiny")] == []
    finally:
        await made.close()


@pytest.mark.parametrize("enabled", [True, False])
async def test_a_server_that_is_down_keeps_its_tools_one_that_is_off_does_not(tmp_path: Path, enabled: bool) -> None:
    async with setting(tmp_path, [say("", want("tiny__add", a=1, b=2)), DONE]) as made:
        await made.approve("add", Risk.READ)
        assert made.servers is not None
        made.servers.told = (replace(made.servers.told[0], command="no-such-program", enabled=enabled),)
        await made.servers.reload()
        assert await made.world.ended((await made.world.send()).run) == "done"
        [result] = made.results()
        told = "there is no program no-such-program" if enabled else 'There is no tool "tiny__add"'
        assert (result.ok, told in result.text) == (False, True)
